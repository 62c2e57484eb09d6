/**
 * JSON (RFC 8259) piece by piece, for texts that would keep an event loop too long in one. It reads bytes that are known to be UTF-8, and keeps
 * nothing of them but what is open.
 */

/** What may stand at a place. */
const VALUE = 0;
const VALUE_OR_END = 1;
const KEY = 2;
const KEY_OR_END = 3;
const COLON = 4;
/** A value has ended: a comma, or what closes the list or object around it. */
const NEXT = 5;
const STRING = 6;
const ESCAPE = 7;
const HEX = 8;
const LITERAL = 9;
/** Within numbers, by what has been read of them. */
const MINUS = 10;
const ZERO = 11;
const INTEGER = 12;
const POINT = 13;
const FRACTION = 14;
const E = 15;
const E_SIGN = 16;
const EXPONENT = 17;

const NOT_JSON = 'is not JSON';
const TWICE = 'has an object with a key twice';
/** More than that is open in no text that anybody would want to read. */
const MOST_DEPTH = 10_000;
const MOST_KEYS = 100_000;
const LONGEST_KEY = 65_536;
const TOO_MUCH = 'has more nesting or keys than are looked at';

const code = (character: string) => character.charCodeAt(0);
const [QUOTE, BACKSLASH, COMMA, COLON_SIGN] = ['"', '\\', ',', ':'].map(code);
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = ['[', ']', '{', '}'].map(code);
const LITERALS = new Map(['true', 'false', 'null'].map((word) => [code(word), Buffer.from(word)]));
const ESCAPED = new Set(Buffer.from('"\\/bfnrt'));

const isSpace = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const isDigit = (byte: number) => byte >= 0x30 && byte <= 0x39;
const isHex = (byte: number) => isDigit(byte) || ((byte | 0x20) >= 0x61 && (byte | 0x20) <= 0x66);
const isE = (byte: number) => (byte | 0x20) === 0x65;

/** The state after a byte within a number; undefined if it does not belong to the number. */
function inNumber(state: number, byte: number): number | undefined {
  if (isDigit(byte)) {
    if (state === MINUS) return byte === 0x30 ? ZERO : INTEGER;
    if (state === ZERO) return undefined;
    if (state === POINT) return FRACTION;
    return state === E || state === E_SIGN ? EXPONENT : state;
  }
  if (byte === 0x2e) return state === ZERO || state === INTEGER ? POINT : undefined;
  if (isE(byte)) return state === ZERO || state === INTEGER || state === FRACTION ? E : undefined;
  return (byte === 0x2b || byte === 0x2d) && state === E ? E_SIGN : undefined;
}

const isWhole = (state: number) =>
  state === ZERO || state === INTEGER || state === FRACTION || state === EXPONENT;

/** Scans up to an offset; returns what is wrong, or undefined. At the end of the bytes, `end` says whether they were whole. */
export interface JsonScanner {
  scan(until: number): string | undefined;
  end(): string | undefined;
}

export function createJsonScanner(bytes: Buffer, uniqueKeys: boolean): JsonScanner {
  let state = VALUE;
  let at = 0;
  /** Of the string or word that is being read. */
  let [start, left, isKey, isEscaped] = [0, 0, false, false];
  let word = bytes;
  /** What is open: the keys of an object, null for a list. */
  const open: (Set<string> | null)[] = [];
  let keys = 0;

  function beginString(asKey: boolean): void {
    state = STRING;
    start = at + 1;
    isKey = asKey;
    isEscaped = false;
  }

  function begin(byte: number): boolean {
    if (byte === QUOTE) beginString(false);
    else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      open.push(byte === OPEN_LIST ? null : new Set());
      state = byte === OPEN_LIST ? VALUE_OR_END : KEY_OR_END;
    } else if (byte === 0x2d) state = MINUS;
    else if (isDigit(byte)) state = byte === 0x30 ? ZERO : INTEGER;
    else if (LITERALS.has(byte)) [state, word, left] = [LITERAL, LITERALS.get(byte)!, 1];
    else return false;
    return true;
  }

  function close(byte: number): boolean {
    const top = open.pop();
    if (top === undefined || byte !== (top === null ? CLOSE_LIST : CLOSE_OBJECT)) return false;
    keys -= top?.size ?? 0;
    state = NEXT;
    return true;
  }

  function noteKey(): string | undefined {
    const known = open.at(-1)!;
    if (!uniqueKeys) return undefined;
    if (at - start > LONGEST_KEY || ++keys > MOST_KEYS) return TOO_MUCH;
    const text = bytes.toString('utf8', start, at);
    const key = isEscaped ? (JSON.parse(`"${text}"`) as string) : text; // it may be escaped in several ways
    if (known.has(key)) return TWICE;
    known.add(key);
    return undefined;
  }

  function inString(byte: number): string | undefined {
    if (state === STRING) {
      if (byte === BACKSLASH) [state, isEscaped] = [ESCAPE, true];
      else if (byte === QUOTE) {
        state = isKey ? COLON : NEXT;
        return isKey ? noteKey() : undefined;
      } else if (byte < 0x20) return NOT_JSON;
    } else if (state === ESCAPE) {
      if (byte === 0x75) [state, left] = [HEX, 4];
      else if (ESCAPED.has(byte)) state = STRING;
      else return NOT_JSON;
    } else if (!isHex(byte)) return NOT_JSON;
    else if (--left === 0) state = STRING;
    return undefined;
  }

  function between(byte: number): boolean {
    if (isSpace(byte)) return true;
    if (state === VALUE) return begin(byte);
    if (state === VALUE_OR_END) return byte === CLOSE_LIST ? close(byte) : begin(byte);
    if (state === KEY_OR_END && byte === CLOSE_OBJECT) return close(byte);
    if (state === KEY || state === KEY_OR_END) {
      beginString(true);
      return byte === QUOTE;
    }
    if (state === COLON) {
      state = VALUE;
      return byte === COLON_SIGN;
    }
    if (byte !== COMMA) return close(byte);
    state = open.at(-1) === null ? VALUE : KEY;
    return open.length > 0;
  }

  function take(byte: number): string | undefined {
    if (state >= STRING && state <= HEX) return inString(byte);
    if (state === LITERAL) {
      if (byte !== word[left++]) return NOT_JSON;
      if (left === word.length) state = NEXT;
      return undefined;
    }
    if (state >= MINUS) {
      const next = inNumber(state, byte);
      if (next === undefined && !isWhole(state)) return NOT_JSON;
      state = next ?? NEXT;
      if (next !== undefined) return undefined;
    }
    return between(byte) ? undefined : NOT_JSON;
  }

  return {
    scan(until) {
      for (; at < until; at++) {
        const byte = bytes[at]!;
        if (state === STRING && byte !== QUOTE && byte !== BACKSLASH && byte >= 0x20) continue; // most of a text
        const problem = take(byte);
        if (problem !== undefined) return problem;
        if (open.length > MOST_DEPTH) return TOO_MUCH;
      }
      return undefined;
    },
    end: () => (open.length === 0 && (state === NEXT || isWhole(state)) ? undefined : NOT_JSON),
  };
}
