/** The words of a Corefile, cut as CoreDNS cuts them. */

export interface Token {
  text: string;
  /** Where it begins; the first line is 1. */
  line: number;
}

/** What CoreDNS takes for white space, but for the two that it treats in ways of their own: line feed and carriage return. */
const BLANK = String.raw`\t\v\f \u0085\u00a0\u1680\u2000-\u200a\u2028\u2029\u202f\u205f\u3000`;
/**
 * In this order: line ends, white space, comments, quoted text, words. A quote counts only at the beginning of a word, and one that
 * is never closed takes in all the rest. A # in a word ends it, and what follows is a comment to the next white space only; a carriage
 * return does not end a word.
 */
const PIECE = new RegExp(
  String.raw`\n|[${BLANK}\r]+|#[^\n]*|"((?:[^"\\]|\\[^])*)("|\\?$)|([^\n#${BLANK}]+)(?:#[^\n${BLANK}]*)?`,
  'gu',
);

/** The words of a text. There is no text that has none. */
export function tokenize(text: string): Token[] {
  const words: Token[] = [];
  let line = 1;
  for (const [piece, quoted, end, word] of text.replace(/^\uFEFF/, '').matchAll(PIECE)) {
    if (quoted !== undefined) {
      // Nothing but quotes can be escaped.
      if (quoted !== '' || end === '"') words.push({ text: quoted.replaceAll('\\"', '"'), line });
    } else if (word !== undefined) {
      words.push({ text: word.replaceAll('\r', ''), line });
    }
    line += lineEndsIn(piece);
  }
  return words;
}

/** How many lines a text goes on for. */
export function lineEndsIn(text: string): number {
  return text.split('\n').length - 1;
}
