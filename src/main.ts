#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
import { runProgram } from './cli/program.ts';

// `isthmus install | head` closes the pipe early; that is nobody's error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

process.exitCode = await runProgram(process.argv.slice(2));
// A command that failed half way has perhaps opened what would keep the process alive, with nobody left to close it.
if (process.exitCode !== 0) process.stdout.write('', () => process.stderr.write('', () => process.exit()));
