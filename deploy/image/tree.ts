/**
 * What goes into a container image, as a list that says where each thing comes from, and the sorted tree of entries
 * that follows from it. Owner and time of every entry are fixed, so that equal contents give equal images.
 */
import { execFileSync } from 'node:child_process';
import { lstatSync, readdirSync, readlinkSync, realpathSync } from 'node:fs';
import { basename, dirname, join, posix } from 'node:path';
import { readElf } from './elf.ts';
import { foreignLibraries } from './foreign-libraries.ts';

/** One line of an image's list of contents. Paths in the image are absolute. */
export type Content =
  /** A file, or a folder with everything in it but the paths that match `except`. */
  | { copy: string; to: string; except?: RegExp }
  /** A program, with the shared libraries that the loader would find for it on this machine, or below these folders instead. */
  | { program: string; to: string; roots?: readonly string[] }
  /** Only the libraries of the programs and libraries in a folder, but for those that are in the folder themselves. */
  | { librariesOf: string }
  | { text: string; to: string; mode?: number }
  | { directory: string; mode?: number }
  | { link: string; target: string };

/** One entry of the image's file system. */
export type Entry =
  | { path: string; type: 'file'; mode: number; source: string; size: number }
  | { path: string; type: 'text'; mode: number; text: string }
  | { path: string; type: 'directory'; mode: number }
  | { path: string; type: 'link'; mode: number; target: string };

const relative = (path: string) => path.replace(/^\/+/, '');

function file(source: string, path: string, executable = false): Entry {
  const { size, mode } = lstatSync(source);
  const permissions = executable || (mode & 0o111) !== 0 ? 0o755 : 0o644;
  return { path: relative(path), type: 'file', mode: permissions, source, size };
}

function copied(source: string, to: string, except?: RegExp): Entry[] {
  const status = lstatSync(source);
  if (status.isSymbolicLink())
    return [{ path: relative(to), type: 'link', mode: 0o777, target: readlinkSync(source) }];
  if (!status.isDirectory()) return [file(source, to)];
  return readdirSync(source)
    .filter((name) => !except?.test(join(source, name)))
    .flatMap((name) => copied(join(source, name), posix.join(to, name), except));
}

/** Has ldd anything to say about it? Of a static program it says that it failed. */
const isDynamic = (path: string): boolean => readElf(path)?.isDynamic ?? false;

/** The loader itself and every library it maps, at the paths where it looks for them. */
function libraries(program: string, present: readonly string[] = []): Entry[] {
  const listing = execFileSync('ldd', [program], { encoding: 'utf8' });
  const matches = (pattern: RegExp) => [...listing.matchAll(pattern)].map(([, match]) => match ?? '');
  const lacking = matches(/(\S+) => not found/g).filter((name) => !present.includes(name));
  if (lacking.length > 0) throw new Error(`${program} lacks ${lacking.join(', ')}`);
  return matches(/(\/\S+) \(0x/g)
    .filter((path) => !present.includes(basename(path)))
    .map((path) => file(realpathSync(path), path, true));
}

function librariesOf({ program, roots }: { program: string; roots?: readonly string[] }): Entry[] {
  if (roots) return foreignLibraries(program, roots).map(({ source, path }) => file(source, path, true));
  return isDynamic(program) ? libraries(program) : [];
}

function librariesOfFolder(folder: string): Entry[] {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((name) => join(folder, name));
  const present = files.map((path) => basename(path));
  return files.filter(isDynamic).flatMap((path) => libraries(path, present));
}

function entriesOf(content: Content): Entry[] {
  if ('copy' in content) return copied(realpathSync(content.copy), content.to, content.except);
  if ('program' in content) {
    const binary = file(realpathSync(content.program), content.to, true);
    return [binary, ...librariesOf(content)];
  }
  if ('librariesOf' in content) return librariesOfFolder(content.librariesOf);
  if ('text' in content)
    return [{ path: relative(content.to), type: 'text', mode: content.mode ?? 0o644, text: content.text }];
  if ('directory' in content)
    return [{ path: relative(content.directory), type: 'directory', mode: content.mode ?? 0o755 }];
  return [{ path: relative(content.link), type: 'link', mode: 0o777, target: content.target }];
}

function parents(path: string): string[] {
  const parent = dirname(path);
  return parent === '.' ? [] : [...parents(parent), parent];
}

/** All entries in the order in which they are unpacked: folders first, then by name. Later lines win over earlier ones. */
export function treeOf(contents: readonly Content[]): Entry[] {
  const entries = new Map<string, Entry>();
  for (const entry of contents.flatMap(entriesOf)) {
    for (const path of parents(entry.path))
      if (!entries.has(path)) entries.set(path, { path, type: 'directory', mode: 0o755 });
    entries.set(entry.path, entry);
  }
  return [...entries.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
}
