/** The words of a text of rules, one after the other. */
export interface Tokens {
  is(token: string): boolean;
  /** Moves past it, if it is this. */
  take(token: string): boolean;
  expect(token: string): void;
  /** The next word, keyword or not. */
  word(): string;
  /** The next text in quotes. */
  text(): string;
  /** `{`, things with commas between, `}`. */
  list<T>(one: () => T): T[];
  atEnd(): boolean;
  /** Throws with the line. */
  fail(reason: string): never;
}

interface Token {
  kind: 'word' | 'text' | 'sign' | 'end';
  value: string;
  line: number;
}

const MOST_CHARACTERS = 1_000_000;
/** Blanks and comments; texts; words; anything else. A comment without an end goes up to that of the text, so that it is looked for once. */
const TOKEN = /(\s+|\/\/[^\n]*|\/\*[^]*?(?:\*\/|$))|"((?:\\["\\]|[^"\\\n])*)"|([A-Za-z0-9_]+)|([^])/gy;
const SIGNS = new Set([';', '.', ',', '*', '=', '{', '}', '/']);

export function createTokens(source: string): Tokens {
  const tokens = split(source);
  let at = 0;
  const fail = (reason: string): never => {
    throw new Error(`line ${tokens[at]!.line}: ${reason}`);
  };
  const is = (token: string) => tokens[at]!.kind !== 'text' && tokens[at]!.value === token;
  const take = (token: string) => {
    const found = is(token);
    if (found) at++;
    return found;
  };
  const shown = () => (tokens[at]!.kind === 'end' ? 'the end' : `"${tokens[at]!.value}"`);
  const next = (kind: Token['kind'], what: string) => {
    if (tokens[at]!.kind !== kind) fail(`${what} has to stand here, not ${shown()}`);
    return tokens[at++]!.value;
  };
  const expect = (token: string) => {
    if (!take(token)) fail(`"${token}" has to stand here, not ${shown()}`);
  };
  return {
    is,
    take,
    fail,
    expect,
    word: () => next('word', 'a word'),
    text: () => next('text', 'a text in quotes'),
    list(one) {
      expect('{');
      const all = [one()];
      while (take(',')) all.push(one());
      expect('}');
      return all;
    },
    atEnd: () => tokens[at]!.kind === 'end',
  };
}

function split(source: string): Token[] {
  if (source.length > MOST_CHARACTERS) throw new Error(`rules of more than ${MOST_CHARACTERS} characters`);
  const tokens: Token[] = [];
  let line = 1;
  for (const [whole, blank, text, word, sign] of source.matchAll(TOKEN)) {
    if (text !== undefined) tokens.push({ kind: 'text', value: text.replaceAll(/\\(["\\])/g, '$1'), line });
    else if (word !== undefined) tokens.push({ kind: 'word', value: word, line });
    else if (sign !== undefined) {
      if (!SIGNS.has(sign)) throw new Error(`line ${line}: "${sign}" cannot stand here`);
      tokens.push({ kind: 'sign', value: sign, line });
    }
    if (isUnended(blank)) throw new Error(`line ${line}: a comment without an end begins here`);
    if (blank !== undefined) line += whole.split('\n').length - 1;
  }
  tokens.push({ kind: 'end', value: '', line });
  return tokens;
}

const isUnended = (blank = '') => blank.startsWith('/*') && (blank.length < 4 || !blank.endsWith('*/'));
