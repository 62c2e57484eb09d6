#!/usr/bin/env -S node --disable-warning=ExperimentalWarning
import { runProgram } from './cli/program.ts';

// `isthmus install | head` closes the pipe early; that is nobody's error.
process.stdout.on('error', (error: NodeJS.ErrnoException) => {
  if (error.code !== 'EPIPE') throw error;
  process.exit(0);
});

// kubectl asks `kubectl_complete-isthmus` for the completions of its plugin.
const isCompletion = process.argv[1]?.endsWith('kubectl_complete-isthmus') ?? false;
const args = process.argv.slice(2);
process.exitCode = await runProgram(isCompletion ? ['__complete', '--', ...args] : args);
// A command that failed half way has perhaps opened what would keep the process alive, with nobody left to close it.
if (process.exitCode !== 0) process.stdout.write('', () => process.stderr.write('', () => process.exit()));
