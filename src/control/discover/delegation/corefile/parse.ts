/**
 * Parses a Corefile as CoreDNS does: keys, server blocks, plugins, nested blocks, snippets. Arguments of plugins are not checked, and
 * imported files and environment variables are unknown here.
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
  /** All tokens after the name, including those of its block. */
  args: string[];
}

export interface Corefile {
  blocks: ServerBlock[];
  /** The patterns of imported files. */
  imports: string[];
}

export type ParsedCorefile = Corefile | { problem: string };

/** The limits of CoreDNS. */
const MAX_EXPANSIONS = 10_000;
const MAX_TOKENS = 200_000;
/** A name with a variable may be any: CoreDNS reads it from its environment. */
const PLUGIN_NAME = /^[a-z][a-z0-9_-]*$|\{[$%]/i;

/** Labels of up to 63 bytes, each of which may be escaped. */
const ZONE = /^(?=[^]{0,254}$)(?:\.|(?:(?:[^.\\]|\\(?:\d{3}|[^])){1,63}(?:\.|$))+)$/;

/** Why a text is not a Corefile. */
class SyntaxProblem extends Error {}

interface Reader {
  tokens: Token[];
  /** The index of the current token. */
  at: number;
  snippets: Map<string, Token[]>;
  imports: string[];
  expansions: number;
}

/** Parses a Corefile; a problem names the line. */
export function parseCorefile(text: string): ParsedCorefile {
  const reader = { tokens: tokenize(text), at: 0, snippets: new Map(), imports: [], expansions: 0 };
  try {
    const blocks = readBlocks(reader);
    checkKeys(blocks);
    return { blocks, imports: reader.imports };
  } catch (error) {
    if (error instanceof SyntaxProblem) return { problem: error.message };
    throw error;
  }
}

/** A key in canonical form, with the default port 53: CoreDNS refuses two blocks for one zone and port. */
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
  while (reader.at < reader.tokens.length) {
    const keys = readKeys(reader);
    const snippet = keys.length === 1 ? /^\((.*)\)$/s.exec(keys[0]!)?.[1] : undefined;
    const isEnd = reader.at >= reader.tokens.length; // keys alone are a block, too, at the end of a file
    if (snippet !== undefined && !isEnd) readSnippet(reader, snippet);
    else {
      const plugins = isEnd ? [] : readPlugins(reader);
      if (keys.length > 0) blocks.push({ keys, plugins });
    }
  }
  return blocks;
}

/** Keys extend to a brace or to the end of the line, or further after a comma. */
function readKeys(reader: Reader): string[] {
  const keys: string[] = [];
  let isOpen = false;
  for (;;) {
    const text = reader.tokens[reader.at]?.text ?? '';
    if (text === 'import' && startsLine(reader)) {
      expandImport(reader);
      continue;
    }
    if (text === '{') {
      if (isOpen) throw problemAt(reader, 'another name must follow a comma');
      return keys;
    }
    if (text !== '') {
      isOpen = text.endsWith(',');
      keys.push(isOpen ? text.slice(0, -1) : text);
    }
    if (reader.at + 1 >= reader.tokens.length && isOpen) throw problemAt(reader, 'it ends after a comma');
    reader.at += 1;
    if (reader.at >= reader.tokens.length || (!isOpen && startsLine(reader))) return keys;
  }
}

/** The only block of a file may have no braces. */
function readPlugins(reader: Reader): Plugin[] {
  const isBraced = reader.tokens[reader.at]!.text === '{';
  const { line } = reader.tokens[reader.at]!;
  if (isBraced) reader.at += 1;
  const plugins: Plugin[] = [];
  while (reader.at < reader.tokens.length) {
    const { text } = reader.tokens[reader.at]!;
    if (text === '}') {
      reader.at += 1;
      return plugins;
    }
    if (text === 'import') expandImport(reader);
    else plugins.push(readPlugin(reader));
  }
  if (isBraced) throw new SyntaxProblem(`line ${line}: the block that begins here is never closed`);
  return plugins;
}

/** A plugin extends to the end of its line, or of the block that opens on it. */
function readPlugin(reader: Reader): Plugin {
  const { text: name, line } = reader.tokens[reader.at]!;
  if (!PLUGIN_NAME.test(name)) throw problemAt(reader, `${JSON.stringify(name)} is not a plugin`);
  const args: string[] = [];
  let depth = 0;
  for (reader.at += 1; reader.at < reader.tokens.length;) {
    const { text } = reader.tokens[reader.at]!;
    if (text === '{') depth += 1;
    else if (depth === 0 && startsLine(reader)) break;
    else if (text === '}' && depth === 0) throw problemAt(reader, 'a } without its {');
    else if (text === '}') depth -= 1;
    else if (text === 'import' && startsLine(reader)) {
      expandImport(reader);
      continue;
    }
    args.push(text);
    reader.at += 1;
  }
  if (depth > 0) throw new SyntaxProblem(`line ${line}: the block of ${name} is never closed`);
  return { name, args };
}

function readSnippet(reader: Reader, name: string): void {
  if (reader.snippets.has(name)) throw problemAt(reader, `the snippet ${name} is defined twice`);
  if (reader.tokens[reader.at]!.text !== '{') throw problemAt(reader, 'a snippet needs braces');
  const start = reader.at + 1;
  let depth = 1;
  while (depth > 0) {
    reader.at += 1;
    const text = reader.tokens[reader.at]?.text;
    if (text === undefined) throw new SyntaxProblem(`the snippet ${name} is never closed`);
    if (text === '{') depth += 1;
    if (text === '}') depth -= 1;
  }
  const tokens = reader.tokens.slice(start, reader.at);
  reader.at += 1;
  const importsItself = tokens.some(
    ({ text, line }, i) => text === 'import' && tokens[i - 1]?.line !== line && tokens[i + 1]?.text === name,
  );
  if (importsItself) throw new SyntaxProblem(`the snippet ${name} imports itself`);
  reader.snippets.set(name, tokens);
}

/** Replaces the import of a snippet by its tokens; notes and removes the import of files. */
function expandImport(reader: Reader): void {
  const { tokens, at } = reader;
  const [what, more] = [tokens[at + 1], tokens[at + 2]];
  if (!what || what.text === '' || !isSameLine(tokens[at]!, what))
    throw problemAt(reader, 'import without a name');
  if (more && isSameLine(what, more)) throw problemAt(reader, 'import takes one name');
  const snippet = reader.snippets.get(what.text);
  if (!snippet) reader.imports.push(checkedPattern(reader, what.text));
  reader.expansions += 1;
  if (reader.expansions > MAX_EXPANSIONS || tokens.length + (snippet?.length ?? 0) > MAX_TOKENS)
    throw problemAt(reader, 'too much is imported');
  reader.tokens = [...tokens.slice(0, at), ...(snippet ?? []), ...tokens.slice(at + 2)];
}

function checkedPattern(reader: Reader, pattern: string): string {
  const wildcards = (char: string) => pattern.split(char).length - 1;
  if (wildcards('*') > 1 || wildcards('?') > 1 || (wildcards('[') > 0 && wildcards(']') > 0))
    throw problemAt(reader, `import ${pattern} has more than one wildcard`);
  // Without escaped characters there must be no open bracket and no backslash at the end.
  if (/\[|\\$/.test(pattern.replaceAll(/\\[^]/g, '')))
    throw problemAt(reader, `import ${pattern} is not a pattern`);
  return pattern;
}

/** Blocks with `bind` or `view` may share a zone, so only the others are compared. */
function checkKeys(blocks: readonly ServerBlock[]): void {
  for (const key of blocks.flatMap(({ keys }) => keys))
    if (key.endsWith(':') || !isZone(partsOf(key).zone))
      throw new SyntaxProblem(`${JSON.stringify(key)} is not a zone`);
  const isPlain = ({ plugins }: ServerBlock) =>
    !plugins.some(({ name }) => name === 'bind' || name === 'view');
  const served = blocks.filter(isPlain).flatMap(({ keys }) => keys.map(normalKey));
  const seen = new Set<string>();
  for (const key of served) {
    if (seen.has(key)) throw new SyntaxProblem(`two server blocks for ${key}`);
    seen.add(key);
  }
}

/** Lengths are in bytes, and a variable may be anything. */
function isZone(zone: string): boolean {
  return ZONE.test(Buffer.from(zone).toString('latin1')) || /\{[$%]/.test(zone);
}

function startsLine({ tokens, at }: Reader): boolean {
  const [before, token] = [tokens[at - 1], tokens[at]];
  if (!before) return true;
  return token !== undefined && before.line + lineEndsIn(before.text) < token.line;
}

function isSameLine(before: Token, token: Token): boolean {
  return before.line + lineEndsIn(before.text) === token.line;
}

function problemAt({ tokens, at }: Reader, what: string): SyntaxProblem {
  return new SyntaxProblem(`line ${(tokens[at] ?? tokens.at(-1))?.line ?? 1}: ${what}`);
}
