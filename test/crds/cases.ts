/**
 * The cases of this folder: resources that are accepted or refused, by an API server that has the CRDs and by the
 * schemas here alike. A refused one begins with comments that say what is expected:
 *
 *     # expect: …                        the message of one of our rules, from both
 *     # expect from an API server: …     where Kubernetes words it
 *     # expect from a file: …            where the schemas here word it
 */
import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';

export interface Case {
  name: string;
  path: string;
  yaml: string;
  /** Undefined for a valid resource. */
  expected?: { server: string; file: string };
}

/** Every case, by name. */
export function readCases(): Case[] {
  return readdirSync(import.meta.dirname)
    .filter((name) => name.endsWith('.yaml'))
    .toSorted()
    .map((name) => {
      const path = join(import.meta.dirname, name);
      const yaml = readFileSync(path, 'utf8');
      return { name, path, yaml, ...(name.startsWith('invalid-') && { expected: expectationOf(name, yaml) }) };
    });
}

function expectationOf(name: string, yaml: string): { server: string; file: string } {
  const find = (label: string) => new RegExp(`^# ${label}: (.+)$`, 'm').exec(yaml)?.[1];
  const both = find('expect');
  const server = find('expect from an API server') ?? both;
  const file = find('expect from a file') ?? both;
  if (server === undefined || file === undefined) throw new Error(`${name} does not say what it expects`);
  return { server, file };
}
