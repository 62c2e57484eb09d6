import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { isNode, LineCounter, parseAllDocuments } from 'yaml';
import type { Document } from 'yaml';
import type { Code } from '../ops/codes/codes.ts';
import { messageOf } from '../ops/errors.ts';

/** One YAML document of a folder, and where in it each field stands. */
export interface LocatedDocument {
  file: string;
  line: number;
  value: unknown;
  /** The line of the field at a path, or of the nearest parent that is written in the file. */
  lineOf(path: readonly PropertyKey[]): number;
}

/** Something wrong in a file; `line` counts from 1. */
export interface Problem {
  file: string;
  line: number;
  message: string;
  /** What `isthmus explain` knows it by; one that is left out is a resource that is not valid. */
  code?: Code;
}

export interface FolderContents {
  documents: LocatedDocument[];
  problems: Problem[];
  /** Files of which not all could be read: nobody can say what else is in them. */
  unreadable: Set<string>;
}

export const emptyContents = (): FolderContents => ({ documents: [], problems: [], unreadable: new Set() });

/** A file that is larger is no hand-written resource. */
const MAX_FILE_BYTES = 1 << 20;
const MAX_FILES = 1000;

/**
 * Reads every YAML document below a folder, or of one file. A file that cannot be read or parsed is a problem; the others
 * are read all the same.
 */
export function readFolder(folder: string): FolderContents {
  const contents = emptyContents();
  const files = statSync(folder).isDirectory() ? yamlFiles(folder) : [folder];
  if (files.length > MAX_FILES) {
    contents.problems.push({
      file: folder,
      line: 1,
      message: `more than ${MAX_FILES} YAML files; the rest is left out`,
    });
  }
  for (const file of files.slice(0, MAX_FILES)) {
    try {
      readFile(file, contents);
    } catch (error) {
      contents.problems.push({ file, line: 1, message: messageOf(error) });
      contents.unreadable.add(file);
    }
  }
  return contents;
}

/** Hidden files and folders hold state and editors' leftovers, never resources. */
function yamlFiles(folder: string): string[] {
  const entries = readdirSync(folder, { withFileTypes: true }).filter(({ name }) => !name.startsWith('.'));
  return entries
    .flatMap((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return yamlFiles(path);
      return /\.ya?ml$/.test(entry.name) ? [path] : [];
    })
    .toSorted();
}

function readFile(file: string, contents: FolderContents): void {
  const { size } = statSync(file);
  if (size > MAX_FILE_BYTES)
    throw new Error(`the file has ${size} bytes; at most ${MAX_FILE_BYTES} are read`);
  readText(file, readFileSync(file, 'utf8'), contents);
}

/** Kinds of faults whose messages quote what stands there: it may be of a Secret. */
const QUOTING = new Set(['BAD_COLLECTION_TYPE', 'BAD_DQ_ESCAPE', 'TAG_RESOLVE_FAILED', 'UNEXPECTED_TOKEN']);

/** Null with a problem where aliases lead nowhere: a password that begins with `*` is one, to YAML. */
function valueOf(
  document: Document,
  file: string,
  lines: LineCounter,
  { problems, unreadable }: FolderContents,
): unknown {
  try {
    return document.toJS();
  } catch {
    const message = 'there is an alias (*…) without an anchor, or there are too many; put a text in quotes';
    problems.push({ file, line: lineOfPath(document, lines, []), message });
    unreadable.add(file);
    return null;
  }
}

/** Reads the documents of a text; `file` names it in problems. */
export function readText(file: string, text: string, contents: FolderContents): void {
  const lines = new LineCounter();
  const parsed = parseAllDocuments(text, { lineCounter: lines, merge: true });
  for (const document of Array.isArray(parsed) ? parsed : []) {
    if (document.errors.length > 0) contents.unreadable.add(file);
    for (const { code, message, pos } of document.errors) {
      // The first line says what is wrong, and then once more where.
      const what = message.split('\n')[0]!.replace(/ at line \d+, column \d+:$/, '');
      contents.problems.push({
        file,
        line: lines.linePos(pos[0]).line,
        message: QUOTING.has(code) ? code.toLowerCase().replaceAll('_', ' ') : what,
      });
    }
    const value: unknown = document.errors.length > 0 ? null : valueOf(document, file, lines, contents);
    if (value === null) continue;
    for (const { path, item } of itemsOf(value)) {
      const lineOf = (inner: readonly PropertyKey[]) => lineOfPath(document, lines, [...path, ...inner]);
      contents.documents.push({ file, line: lineOf([]), value: item, lineOf });
    }
  }
}

/** What `kubectl get -o yaml` prints of several resources is one document, a List. */
function itemsOf(value: unknown): { path: PropertyKey[]; item: unknown }[] {
  const { kind, items } = value as { kind?: unknown; items?: unknown };
  if (kind !== 'List' || !Array.isArray(items)) return [{ path: [], item: value }];
  return items.map((item: unknown, index) => ({ path: ['items', index], item }));
}

function lineOfPath(document: Document, lines: LineCounter, path: readonly PropertyKey[]): number {
  for (let length = path.length; length >= 0; length--) {
    const node = length === 0 ? document.contents : document.getIn(path.slice(0, length), true);
    if (isNode(node) && node.range) return lines.linePos(node.range[0]).line;
  }
  return 1;
}
