import { MAX_LABEL, MAX_NAME } from './constants.ts';

/**
 * A domain name in wire format (length-prefixed labels, ending in the empty root label), lower-cased, one character a
 * byte. As a string it is compact, compares with ===, and serves as a map key.
 */
export type Name = string;

export const ROOT: Name = '\0';
/** A last dot that is not escaped: before it stands an even number of backslashes. */
const ENDS_IN_DOT = /(?<!\\)(?:\\\\)*\.$/;

/** Parses a name in presentation format (`a.b.c`, with or without the last dot, `\.` and `\ddd` escapes); undefined if invalid. */
export function parseName(text: string): Name | undefined {
  if (text === '.') return ROOT;
  let name = '';
  let label = '';
  const end = ENDS_IN_DOT.test(text) ? text.length - 1 : text.length;
  for (let i = 0; i < end; i++) {
    let char = text[i]!;
    if (char === '.') {
      if (label === '' || label.length > MAX_LABEL) return undefined;
      name += String.fromCharCode(label.length) + label;
      label = '';
      continue;
    }
    if (char === '\\') {
      const escape = readEscape(text, i, end);
      if (!escape) return undefined;
      char = escape.char;
      i += escape.length;
    }
    if (char.charCodeAt(0) > 0xff) return undefined;
    label += char;
  }
  if (label === '' || label.length > MAX_LABEL) return undefined;
  name += `${String.fromCharCode(label.length)}${label}\0`;
  return name.length <= MAX_NAME ? flatten(lowerCase(name)) : undefined;
}

function readEscape(text: string, at: number, end: number): { char: string; length: number } | undefined {
  const digits = /^\d{3}/.exec(text.slice(at + 1, end));
  if (digits) {
    const code = Number(digits[0]);
    return code <= 0xff ? { char: String.fromCharCode(code), length: 3 } : undefined;
  }
  return at + 1 < end ? { char: text[at + 1]!, length: 1 } : undefined;
}

/** A flat copy: V8 concatenates strings by reference, and reading such a chain byte by byte is slow. */
export function flatten(text: string): string {
  return Buffer.from(text, 'latin1').toString('latin1');
}

/** Only ASCII letters have cases in the DNS (RFC 4343); a length byte is at most 63 and so never one. */
function lowerCase(name: string): string {
  return name.replace(/[A-Z]/g, (upper) => upper.toLowerCase());
}

/** Formats a name in presentation format, with the last dot. */
export function formatName(name: Name): string {
  if (name === ROOT) return '.';
  let text = '';
  for (const label of labelsOf(name)) text += `${label.replace(/[^!-~]|[.\\"();@$]/g, escapeChar)}.`;
  return text;
}

function escapeChar(char: string): string {
  const code = char.charCodeAt(0);
  return code > 0x20 && code < 0x7f ? `\\${char}` : `\\${String(code).padStart(3, '0')}`;
}

/** The labels of a name, leftmost first, without the root. */
export function labelsOf(name: Name): string[] {
  const labels: string[] = [];
  for (let at = 0; name.charCodeAt(at) !== 0;) {
    const length = name.charCodeAt(at);
    labels.push(name.slice(at + 1, at + 1 + length));
    at += 1 + length;
  }
  return labels;
}

/** The name without its leftmost label; undefined for the root. */
export function parentOf(name: Name): Name | undefined {
  return name === ROOT ? undefined : flatten(name.slice(1 + name.charCodeAt(0)));
}

/** Whether `name` is `ancestor` or a subdomain of it. Label boundaries matter: `xa.test` is not below `a.test`. */
export function isSubdomain(name: Name, ancestor: Name): boolean {
  if (!name.endsWith(ancestor)) return false;
  const start = name.length - ancestor.length;
  let at = 0;
  while (at < start) at += 1 + name.charCodeAt(at);
  return at === start;
}

/** Whether the leftmost label is `*`. */
export function isWildcard(name: Name): boolean {
  return name.charCodeAt(0) === 1 && name.charCodeAt(1) === 42;
}
