/** Our program as its users have it, compiled to JavaScript into a place of its own. */
import { copyFileSync, symlinkSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { run } from '../../src/store/embedded/process.ts';
import { workspace } from '../../test/support/workspace.ts';

const ROOT = resolve(import.meta.dirname, '../..');

/** Compiles it, and returns the path of its main file. */
export async function buildProgram(): Promise<string> {
  const directory = workspace('program');
  const compiler = join(ROOT, 'node_modules/typescript/bin/tsc');
  const args = ['-p', join(ROOT, 'tsconfig.build.json'), '--outDir', join(directory, 'dist')];
  const { code, stdout } = await run(process.execPath, [compiler, ...args], { timeoutMs: 300_000 });
  if (code !== 0) throw new Error(`the program cannot be built:\n${stdout}`);
  symlinkSync(join(ROOT, 'node_modules'), join(directory, 'node_modules'));
  copyFileSync(join(ROOT, 'package.json'), join(directory, 'package.json'));
  return join(directory, 'dist/main.js');
}
