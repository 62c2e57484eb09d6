/** Pages of the documentation as somebody follows them: every command is pasted, and what it says compared with the page. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { run } from '../../src/store/embedded/process.ts';
import type { Finished } from '../../src/store/embedded/process.ts';

const ROOT = resolve(import.meta.dirname, '../..');

export interface Step {
  commands: string;
  /** Lines that it says, `…` being anything. */
  says: string[];
}

/** The commands of a page, or of what is below one of its headings, each with what the page says comes of it. */
export function stepsOf(page: string, heading?: string): Step[] {
  const text = readFileSync(join(ROOT, page), 'utf8');
  const part = heading === undefined ? text : text.split(/^## /m).find((one) => one.startsWith(heading))!;
  return [...part.matchAll(/^```sh\n(.*?)^```\n(?:\n```text\n(.*?)^```$)?/gms)].map(
    ([, commands = '', says = '']) => ({ commands, says: says.split('\n').filter((line) => line !== '') }),
  );
}

/** What a line of the page stands for. */
export const patternOf = (line: string): RegExp =>
  new RegExp(
    line
      .split('…')
      .map((part) => part.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&'))
      .join('.*'),
  );

export interface Terminal {
  /** With the programs that pages name on its PATH. */
  environment: NodeJS.ProcessEnv;
  paste(commands: string): Promise<Finished>;
}

/** A terminal in a folder. `programs`: what `isthmus` is not, by name. */
export function openTerminal(
  folder: string,
  programs: Record<string, string>,
  env: Record<string, string> = {},
): Terminal {
  const bin = join(folder, 'bin');
  mkdirSync(bin, { recursive: true });
  const isthmus = `exec '${process.execPath}' '${join(ROOT, 'src/main.ts')}' "$@"`;
  for (const [name, line] of Object.entries({ isthmus, ...programs }))
    writeFileSync(join(bin, name), `#!/bin/sh\n${line}\n`, { mode: 0o755 });
  const environment = { ...process.env, ...env, PATH: `${bin}:${process.env['PATH']}` };
  return {
    environment,
    paste: (commands) => run('bash', ['-o', 'pipefail', '-c', commands], { cwd: folder, env: environment }),
  };
}
