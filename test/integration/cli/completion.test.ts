/** Completion in zsh and fish as people have it: the script is loaded as the documentation says, a line is typed, and Tab is pressed. */
import assert from 'node:assert/strict';
import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { before, suite, test } from 'node:test';
import { run } from '../../../src/store/embedded/process.ts';
import { ensureShells } from '../../support/install/shells.ts';
import type { Shells } from '../../support/install/shells.ts';
import { workspace } from '../../support/workspace.ts';

const MAIN = resolve(import.meta.dirname, '../../../src/main.ts');
const folder = workspace('completion');
const programs = join(folder, 'bin');
/** Where lines are typed: a file is there to be offered. */
const desk = join(folder, 'desk');

const LINES = ['isthmus desc', 'isthmus get vkc -o ', 'isthmus analyze -f '];
const WANTED = [['describe'], ['json', 'name', 'table', 'wide', 'yaml'], ['a-folder']];

let shells: Shells;

before(async () => {
  for (const each of [programs, desk, join(desk, 'a-folder')]) mkdirSync(each, { recursive: true });
  const program = join(programs, 'isthmus');
  writeFileSync(program, `#!/bin/sh\nexec '${process.execPath}' '${MAIN}' "$@"\n`);
  chmodSync(program, 0o755);
  shells = await ensureShells();
});

async function answersOf(shell: string, args: string[]): Promise<string> {
  const env = { ...shells.env, PATH: `${programs}:${shells.env['PATH']}`, HOME: folder, TERM: 'dumb' };
  const { code, stdout, stderr } = await run(shell, args, { cwd: desk, env, timeoutMs: 120_000 });
  assert.deepEqual([code, stderr], [0, ''], stdout);
  return stdout;
}

test('fish: commands, values of options, and files where one is asked for', async () => {
  const script = [
    `set -p fish_function_path ${shells.fishFunctions}`,
    'isthmus completion fish | source',
    ...LINES.map((line) => `complete -C '${line}'; echo`),
  ];
  const said = await answersOf(shells.fish, ['--no-config', '-c', script.join('\n')]);
  const answers = said.split('\n\n').map((text) => text.split('\n').filter(Boolean).toSorted());
  assert.deepEqual(answers.slice(0, LINES.length), [...WANTED.slice(0, -1), ['a-folder/']]);
});

suite('zsh', () => {
  /** Typed into a terminal: `compadd` works nowhere else. What is offered is printed, and what the line has become. */
  const typed = () => `
    module_path=(${shells.zshModules}) fpath=(${shells.zshFunctions.join(' ')})
    autoload -Uz compinit && compinit -D -u
    source <(isthmus completion zsh)
    compadd() { [[ $1 != -- ]] || offered=("\${@[2,-1]}"); builtin compadd "$@" }
    tab() { offered=(); zle complete-word; print -r -- "[$offered][$BUFFER]"; BUFFER= }
    zle -N tab && bindkey '^I' tab
    print loa''ded`;
  const terminal = () => `
    module_path=(${shells.zshModules})
    zmodload zsh/zpty && zpty inner ${shells.zsh} -f -i
    zpty -w inner ". ${join(folder, 'typed.zsh')}"
    zpty -r inner out '*loaded*'
    for line in "$@"; do
      zpty -w -n inner "$line"$'\\t'
      zpty -r inner out '*\\[*\\]\\[*\\]*'
      print -r -- "$out"
    done`;

  test('the same', async () => {
    writeFileSync(join(folder, 'typed.zsh'), typed());
    const said = await answersOf(shells.zsh, ['-f', '-c', terminal(), 'zsh', ...LINES]);
    const answers = [...said.matchAll(/\[([\w ]*)\]\[(isthmus [^\]]*)\]/g)].map(
      ([, offered = '', line = '']) => ({
        offered: offered.split(' ').filter(Boolean).toSorted(),
        line: line.trim(),
      }),
    );
    assert.deepEqual(answers, [
      { offered: WANTED[0], line: 'isthmus describe' },
      { offered: WANTED[1], line: LINES[1]!.trim() },
      { offered: [], line: 'isthmus analyze -f a-folder/' },
    ]);
  });
});
