/**
 * Reads a Corefile as CoreDNS does: keys, server blocks, plugins, nested blocks, snippets. What a plugin makes of its arguments is not
 * looked at, nor can be what imported files and environment variables hold: only CoreDNS sees those.
 */
import { lineEndsIn, tokenize } from './tokens.ts';
import type { Token } from './tokens.ts';

export interface ServerBlock {
  /** `xcc.test:53`, `.:53`. */
  keys: string[];
  plugins: Plugin[];
}

export interface Plugin {
  name: string;
  /** All words behind the name, those of its own block too. */
  words: string[];
}

export interface Corefile {
  blocks: ServerBlock[];
  /** Files that are imported, wherever in the Corefile that is. */
  imports: string[];
}

export type ParsedCorefile = Corefile | { problem: string };

/** CoreDNS has these limits, too; what is larger is none of ours. */
const MAX_EXPANSIONS = 10_000;
const MAX_WORDS = 200_000;
/** A name with a variable in it is whatever CoreDNS finds in its environment. */
const PLUGIN_NAME = /^[a-z][a-z0-9_-]*$|\{[$%]/i;

/** Labels of up to 63 bytes, each of which may be escaped. */
const ZONE = /^(?=[^]{0,254}$)(?:\.|(?:(?:[^.\\]|\\(?:\d{3}|[^])){1,63}(?:\.|$))+)$/;

/** Why a text is no Corefile. */
class Misread extends Error {}

interface Reader {
  words: Token[];
  /** The word that is looked at. */
  at: number;
  snippets: Map<string, Token[]>;
  imports: string[];
  expansions: number;
}

/** Reads a Corefile; a problem names the line. */
export function parseCorefile(text: string): ParsedCorefile {
  const reader = { words: tokenize(text), at: 0, snippets: new Map(), imports: [], expansions: 0 };
  try {
    const blocks = readBlocks(reader);
    checkKeys(blocks);
    return { blocks, imports: reader.imports };
  } catch (error) {
    if (error instanceof Misread) return { problem: error.message };
    throw error;
  }
}

/** CoreDNS refuses two blocks for one zone and port; 53 is the port of those that name none. */
export function normalKey(key: string): string {
  const { transport, zone, port } = partsOf(key);
  const name = `${zone.toLowerCase().replace(/\.$/, '')}.:${Number(port)}`;
  return transport === 'dns' ? name : `${transport}://${name}`;
}

function partsOf(key: string): { transport: string; zone: string; port: string } {
  const [, transport = 'dns', zone = '', port = '53'] =
    /^(?:(dns|tls|quic|grpc|https3?|unix):\/\/)?(.*?)(?::(\d+))?$/s.exec(key) ?? [];
  return { transport, zone, port };
}

function readBlocks(reader: Reader): ServerBlock[] {
  const blocks: ServerBlock[] = [];
  while (reader.at < reader.words.length) {
    const keys = readKeys(reader);
    const snippet = keys.length === 1 ? /^\((.*)\)$/s.exec(keys[0]!)?.[1] : undefined;
    const isEnd = reader.at >= reader.words.length; // keys alone are a block, too, at the end of a file
    if (snippet !== undefined && !isEnd) readSnippet(reader, snippet);
    else {
      const plugins = isEnd ? [] : readPlugins(reader);
      if (keys.length > 0) blocks.push({ keys, plugins });
    }
  }
  return blocks;
}

/** Keys go on to a brace or to the end of a line, unless a comma says that more follow. */
function readKeys(reader: Reader): string[] {
  const keys: string[] = [];
  let isOpen = false;
  for (;;) {
    const text = reader.words[reader.at]?.text ?? '';
    if (text === 'import' && startsLine(reader)) {
      expandImport(reader);
      continue;
    }
    if (text === '{') {
      if (isOpen) throw misread(reader, 'another name must follow a comma');
      return keys;
    }
    if (text !== '') {
      isOpen = text.endsWith(',');
      keys.push(isOpen ? text.slice(0, -1) : text);
    }
    if (reader.at + 1 >= reader.words.length && isOpen) throw misread(reader, 'it ends after a comma');
    reader.at += 1;
    if (reader.at >= reader.words.length || (!isOpen && startsLine(reader))) return keys;
  }
}

/** Braces may be left out around the only block of a file. */
function readPlugins(reader: Reader): Plugin[] {
  const isBraced = reader.words[reader.at]!.text === '{';
  const { line } = reader.words[reader.at]!;
  if (isBraced) reader.at += 1;
  const plugins: Plugin[] = [];
  while (reader.at < reader.words.length) {
    const { text } = reader.words[reader.at]!;
    if (text === '}') {
      reader.at += 1;
      return plugins;
    }
    if (text === 'import') expandImport(reader);
    else plugins.push(readPlugin(reader));
  }
  if (isBraced) throw new Misread(`line ${line}: the block that begins here is never closed`);
  return plugins;
}

/** A plugin goes on to the end of its line, or of the block that opens behind it. */
function readPlugin(reader: Reader): Plugin {
  const { text: name, line } = reader.words[reader.at]!;
  if (!PLUGIN_NAME.test(name)) throw misread(reader, `${JSON.stringify(name)} is no plugin`);
  const words: string[] = [];
  let depth = 0;
  for (reader.at += 1; reader.at < reader.words.length;) {
    const { text } = reader.words[reader.at]!;
    if (text === '{') depth += 1;
    else if (depth === 0 && startsLine(reader)) break;
    else if (text === '}' && depth === 0) throw misread(reader, 'a } without its {');
    else if (text === '}') depth -= 1;
    else if (text === 'import' && startsLine(reader)) {
      expandImport(reader);
      continue;
    }
    words.push(text);
    reader.at += 1;
  }
  if (depth > 0) throw new Misread(`line ${line}: the block of ${name} is never closed`);
  return { name, words };
}

function readSnippet(reader: Reader, name: string): void {
  if (reader.snippets.has(name)) throw misread(reader, `the snippet ${name} is there twice`);
  if (reader.words[reader.at]!.text !== '{') throw misread(reader, 'a snippet needs braces');
  const start = reader.at + 1;
  let depth = 1;
  while (depth > 0) {
    reader.at += 1;
    const text = reader.words[reader.at]?.text;
    if (text === undefined) throw new Misread(`the snippet ${name} is never closed`);
    if (text === '{') depth += 1;
    if (text === '}') depth -= 1;
  }
  const words = reader.words.slice(start, reader.at);
  reader.at += 1;
  const importsItself = words.some(
    ({ text, line }, i) => text === 'import' && words[i - 1]?.line !== line && words[i + 1]?.text === name,
  );
  if (importsItself) throw new Misread(`the snippet ${name} imports itself`);
  reader.snippets.set(name, words);
}

/** Puts a snippet in the place of its import; takes out the import of files, of which nothing is known. */
function expandImport(reader: Reader): void {
  const { words, at } = reader;
  const [what, more] = [words[at + 1], words[at + 2]];
  if (!what || what.text === '' || !isSameLine(words[at]!, what)) throw misread(reader, 'import of nothing');
  if (more && isSameLine(what, more)) throw misread(reader, 'import takes one name');
  const snippet = reader.snippets.get(what.text);
  if (!snippet) reader.imports.push(checkedPattern(reader, what.text));
  reader.expansions += 1;
  if (reader.expansions > MAX_EXPANSIONS || words.length + (snippet?.length ?? 0) > MAX_WORDS)
    throw misread(reader, 'too much is imported');
  reader.words = [...words.slice(0, at), ...(snippet ?? []), ...words.slice(at + 2)];
}

function checkedPattern(reader: Reader, pattern: string): string {
  const wildcards = (char: string) => pattern.split(char).length - 1;
  if (wildcards('*') > 1 || wildcards('?') > 1 || (wildcards('[') > 0 && wildcards(']') > 0))
    throw misread(reader, `import ${pattern} has more than one wildcard`);
  // What is left when escaped characters are gone must have no open bracket, and no backslash with nothing behind it.
  if (/\[|\\$/.test(pattern.replaceAll(/\\[^]/g, '')))
    throw misread(reader, `import ${pattern} is no pattern`);
  return pattern;
}

/** Blocks with addresses or views of their own may share a zone, so that only those without are compared. */
function checkKeys(blocks: readonly ServerBlock[]): void {
  for (const key of blocks.flatMap(({ keys }) => keys))
    if (key.endsWith(':') || !isZone(partsOf(key).zone))
      throw new Misread(`${JSON.stringify(key)} is no zone`);
  const isPlain = ({ plugins }: ServerBlock) =>
    !plugins.some(({ name }) => name === 'bind' || name === 'view');
  const served = blocks.filter(isPlain).flatMap(({ keys }) => keys.map(normalKey));
  const seen = new Set<string>();
  for (const key of served) {
    if (seen.has(key)) throw new Misread(`two server blocks for ${key}`);
    seen.add(key);
  }
}

/** Lengths count in bytes, and a variable may be anything. */
function isZone(zone: string): boolean {
  return ZONE.test(Buffer.from(zone).toString('latin1')) || /\{[$%]/.test(zone);
}

function startsLine({ words, at }: Reader): boolean {
  const [before, word] = [words[at - 1], words[at]];
  if (!before) return true;
  return word !== undefined && before.line + lineEndsIn(before.text) < word.line;
}

function isSameLine(before: Token, word: Token): boolean {
  return before.line + lineEndsIn(before.text) === word.line;
}

function misread({ words, at }: Reader, what: string): Misread {
  return new Misread(`line ${(words[at] ?? words.at(-1))?.line ?? 1}: ${what}`);
}
