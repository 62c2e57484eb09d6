/**
 * Reads a Corefile far enough to know whether CoreDNS would: server blocks, plugins, nested blocks, quotes, comments, snippets.
 * What a plugin makes of its arguments is not looked at.
 */

export interface ServerBlock {
  /** `xcc.test:53`, `.:53`; a snippet is `(name)`. */
  keys: string[];
  /** The first word of each line in the block. */
  plugins: string[];
}

export type ParsedCorefile = { blocks: ServerBlock[] } | { problem: string };

interface Token {
  text: string;
  line: number;
  isQuoted: boolean;
}

/** Reads a Corefile; a problem names the line. */
export function parseCorefile(text: string): ParsedCorefile {
  const tokens = tokenize(text);
  if ('problem' in tokens) return tokens;
  const blocks: ServerBlock[] = [];
  let at = 0;
  while (at < tokens.length) {
    if (tokens[at]!.text === 'import') {
      // Files that only CoreDNS can see.
      const { line } = tokens[at]!;
      while (tokens[at]?.line === line) at += 1;
      continue;
    }
    const block = readBlock(tokens, at);
    if ('problem' in block) return block;
    blocks.push(block.value);
    at = block.next;
  }
  const served = blocks
    .filter(({ keys }) => !keys[0]?.startsWith('('))
    .flatMap(({ keys }) => keys.map(normalKey));
  const twice = served.find((key, i) => served.indexOf(key) !== i);
  return twice === undefined ? { blocks } : { problem: `two server blocks for ${twice}` };
}

/** CoreDNS refuses two blocks for one zone and port; 53 is the port of those that name none. */
export function normalKey(key: string): string {
  const [, zone = '', port = '53'] = /^(?:dns:\/\/)?(.*?)(?::(\d+))?$/.exec(key) ?? [];
  return `${zone.toLowerCase().replace(/\.$/, '')}.:${port}`;
}

function readBlock(
  tokens: readonly Token[],
  start: number,
): { value: ServerBlock; next: number } | { problem: string } {
  const { line } = tokens[start]!;
  let at = start;
  const keys: string[] = [];
  while (at < tokens.length && !isBrace(tokens[at]!))
    keys.push(...tokens[at++]!.text.split(',').filter(Boolean));
  if (tokens[at]?.text !== '{') return { problem: `line ${line}: a server block without {` };
  if (keys.length === 0) return { problem: `line ${line}: a block without a name` };
  const plugins: string[] = [];
  let depth = 1;
  let lastLine = tokens[at]!.line;
  for (at += 1; at < tokens.length; at++) {
    const token = tokens[at]!;
    if (isBrace(token)) depth += token.text === '{' ? 1 : -1;
    else if (depth === 1 && token.line !== lastLine) plugins.push(token.text);
    lastLine = token.line;
    if (depth === 0) return { value: { keys, plugins }, next: at + 1 };
  }
  return { problem: `line ${line}: the block of ${keys.join(' ')} is never closed` };
}

const isBrace = ({ text, isQuoted }: Token) => !isQuoted && (text === '{' || text === '}');

function tokenize(text: string): Token[] | { problem: string } {
  const tokens: Token[] = [];
  let line = 1;
  // White space, comments, quoted text, and words; a quote begins one only at the start of a word.
  const pattern = /\n|[^\S\n]+|#[^\n]*|"((?:[^"\\]|\\[\s\S])*)"|"|[^\s"]\S*/g;
  for (const [word, quoted] of text.matchAll(pattern)) {
    if (word === '"') return { problem: `line ${line}: a quote that is never closed` };
    if (quoted !== undefined) tokens.push({ text: quoted, line, isQuoted: true });
    else if (!/^[\s#]/.test(word)) tokens.push({ text: word, line, isQuoted: false });
    line += word.split('\n').length - 1;
  }
  return tokens;
}
