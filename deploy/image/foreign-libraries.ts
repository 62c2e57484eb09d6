/**
 * The shared libraries of a program that this machine cannot run, so that it has no loader to ask: they are looked for, by the
 * names that ELF files have for them, in folders with the file system of such a machine.
 */
import { lstatSync, readlinkSync } from 'node:fs';
import { basename, join, posix } from 'node:path';
import { readElf } from './elf.ts';
import type { Elf } from './elf.ts';
import { PLATFORMS } from './platform.ts';

interface Library {
  source: string;
  /** Where the loader looks for it. */
  path: string;
}

/** The loader itself and every library it would map. */
export function foreignLibraries(program: string, roots: readonly string[]): Library[] {
  const elf = readElf(program);
  if (elf?.interpreter === undefined) return [];
  const folder = libraryFolder(elf);
  const found = new Map<string, Library>();
  const add = (path: string, by: string) => {
    if (found.has(basename(path))) return;
    const source = findIn(roots, path);
    const library = source === undefined ? undefined : readElf(source);
    if (source === undefined || library?.machine !== elf.machine) throw new Error(`${by} lacks ${path}`);
    found.set(basename(path), { source, path });
    for (const name of library.needed) add(`${folder}/${name}`, source);
  };
  // Programs name their loader by its path, and libraries by their names alone.
  add(elf.interpreter, program);
  for (const name of elf.needed) add(`${folder}/${name}`, program);
  return [...found.values()];
}

/** Where loaders of Debian look, and so the one in the image. */
function libraryFolder({ machine }: Elf): string {
  const platform = Object.values(PLATFORMS).find((one) => one.machine === machine);
  return `/lib/${platform?.libraries ?? ''}`;
}

/**
 * Packages have files at the path that they had before /lib became /usr/lib, or at the one since. Links are followed here, because
 * absolute ones would lead out into this machine.
 */
function findIn(roots: readonly string[], path: string): string | undefined {
  const places = roots.flatMap((root) => [join(root, path), join(root, 'usr', path)]);
  const found = places.find((place) => lstatSync(place, { throwIfNoEntry: false }));
  if (found === undefined || !lstatSync(found).isSymbolicLink()) return found;
  return findIn(roots, posix.resolve(posix.dirname(path), readlinkSync(found)));
}
