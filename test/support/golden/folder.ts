/** Golden folders on disk, in the form that test/golden/README.md describes. */
import assert from 'node:assert/strict';
import { existsSync, globSync, mkdirSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import type { Names } from './base.ts';
import { readInput } from './input.ts';
import type { InputDocument } from './input.ts';
import { compact, expand, settleBases } from './outcome.ts';
import type { Bases, Outcome } from './outcome.ts';
import type { Json, JsonMap } from './patch.ts';
import { toYaml } from './yaml.ts';

export interface GoldenFolder {
  scenarios: readonly string[];
  /** What the cluster of a scenario holds. */
  input(scenario: string): InputDocument[];
  expected(scenario: string): Outcome;
  /** Throws, with what is different in `out.yaml`, if an outcome is not the expected one. */
  check(scenario: string, outcome: Outcome): void;
  /** Files that these outcomes change, as they should be; undefined for one that should not be. */
  changes(outcomes: ReadonlyMap<string, Outcome>): Map<string, string | undefined>;
  write(outcomes: ReadonlyMap<string, Outcome>): void;
  /** Files that belong to no scenario, and those that a scenario lacks. */
  strays(): string[];
}

const inFile = (scenario: string) => `${scenario}/in.yaml`;
const outFile = (scenario: string) => `${scenario}/out.yaml`;
const baseFile = (name: string) => `base/${name}.yaml`;

/** Each document has a line of its own, also one that equals its base. */
const outText = (bases: Bases, outcome: Outcome) => toYaml(compact(bases, outcome), 2);
const baseText = (base: Json) => toYaml(base, 1);

export function openGolden(root: string): GoldenFolder {
  const read = (file: string) => (existsSync(join(root, file)) ? readFileSync(join(root, file), 'utf8') : '');
  const bases = readBases(root, read);
  const scenarios = readdirSync(root, { withFileTypes: true })
    .filter((entry) => entry.isDirectory() && entry.name !== 'base')
    .map(({ name }) => name)
    .toSorted();
  const expected = (scenario: string) => expand(bases, (parse(read(outFile(scenario))) ?? {}) as JsonMap);
  const changes = (outcomes: ReadonlyMap<string, Outcome>) =>
    new Map([...filesFor(bases, outcomes)].filter(([file, text]) => read(file) !== (text ?? '')));
  return {
    scenarios,
    input: (scenario) => readInput(scenario, (name) => read(inFile(name))),
    expected,
    check(scenario, outcome) {
      if (isDeepStrictEqual(outcome, expected(scenario))) return;
      // The complete form decides, the short one is easier to read.
      assert.equal(outText(bases, outcome), read(outFile(scenario)));
      assert.deepEqual(outcome, expected(scenario));
    },
    changes,
    write: (outcomes) => writeFiles(root, changes(outcomes)),
    strays() {
      const known = [...bases.documents.keys(), 'names'].map(baseFile);
      const wanted = new Set([...known, ...scenarios.flatMap((name) => [inFile(name), outFile(name)])]);
      const there = filesBelow(root);
      const lacking = [...wanted].filter((file) => !there.has(file));
      return [...lacking, ...[...there].filter((file) => !wanted.has(file))];
    },
  };
}

function readBases(root: string, read: (file: string) => string): Bases {
  const names = (parse(read(baseFile('names'))) ?? {}) as Names;
  const found = globSync(baseFile('*/*'), { cwd: root }).toSorted();
  const documents = found.map((file) => {
    const name = relative('base', file).replace(/\.yaml$/, '');
    return [name, parse(read(file)) as Json] as const;
  });
  return { names, documents: new Map(documents) };
}

/** All files of a folder with these outcomes, apart from the inputs; undefined for a base that nothing needs any more. */
function filesFor(bases: Bases, outcomes: ReadonlyMap<string, Outcome>): Map<string, string | undefined> {
  const settled = settleBases(bases, [...outcomes.values()]);
  return new Map([
    ...[...bases.documents.keys()].map((name) => [baseFile(name), undefined] as const),
    ...[...settled.documents].map(([name, base]) => [baseFile(name), baseText(base)] as const),
    ...[...outcomes].map(([scenario, outcome]) => [outFile(scenario), outText(settled, outcome)] as const),
  ]);
}

function writeFiles(root: string, files: ReadonlyMap<string, string | undefined>): void {
  for (const [file, text] of files) {
    const path = join(root, file);
    mkdirSync(dirname(path), { recursive: true });
    if (text === undefined) rmSync(path);
    else writeFileSync(path, text);
  }
}

function filesBelow(root: string): Set<string> {
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  const files = entries.filter((entry) => entry.isFile());
  return new Set(files.map(({ parentPath, name }) => relative(root, join(parentPath, name))));
}
