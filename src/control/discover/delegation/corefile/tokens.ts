/** Splits a Corefile into tokens as CoreDNS does. */

export interface Token {
  text: string;
  /** The line where it begins; the first line is 1. */
  line: number;
}

/** The white space of CoreDNS, without line feed and carriage return, which have rules of their own. */
const BLANK = String.raw`\t\v\f \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`;
/**
 * In this order: line ends, white space, comments, quoted text, words. A quote is one only at the beginning of a word, and an unclosed
 * one extends to the end of the text. A # in a word ends it, and starts a comment up to the next white space; a carriage return does not
 * end a word.
 */
const PIECE = new RegExp(
  String.raw`\n|[${BLANK}\r]+|#[^\n]*|"((?:[^"\\]|\\[^])*)("|\\?$)|([^\n#${BLANK}]+)(?:#[^\n${BLANK}]*)?`,
  'gu',
);

/** The tokens of a text; every text has some. */
export function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  let line = 1;
  for (const [piece, quoted, end, word] of text.replace(/^\uFEFF/, '').matchAll(PIECE)) {
    if (quoted !== undefined) {
      // Nothing but quotes can be escaped.
      if (quoted !== '' || end === '"') tokens.push({ text: quoted.replaceAll('\\"', '"'), line });
    } else if (word !== undefined) {
      tokens.push({ text: word.replaceAll('\r', ''), line });
    }
    line += lineEndsIn(piece);
  }
  return tokens;
}

/** The number of line ends in a text. */
export function lineEndsIn(text: string): number {
  return text.split('\n').length - 1;
}
