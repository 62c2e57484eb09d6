#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
import { runProgram } from './cli/program.ts';

// `isthmus install | head` closes the pipe early; that is nobody's error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

process.exitCode = await runProgram(process.argv.slice(2));
