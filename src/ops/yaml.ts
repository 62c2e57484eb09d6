/** Reads YAML that may hold secrets: what is wrong is named by its kind and place, and never quoted. */
import { parse, YAMLParseError } from 'yaml';

/** The first document of a text. Throws an error whose message may be shown. */
export function parseSecretYaml(text: string): unknown {
  let fault: string;
  try {
    // Warnings would quote the text to standard error.
    return parse(text, { logLevel: 'error' });
  } catch (cause) {
    fault = faultIn(cause);
  }
  // Without its cause, which quotes the text.
  throw new Error(fault);
}

/** Kinds of faults of which the parser's first line says no more than what and where. */
const PLAIN = new Set([
  'BAD_INDENT',
  'DUPLICATE_KEY',
  'MISSING_CHAR',
  'MULTILINE_IMPLICIT_KEY',
  'TAB_AS_INDENT',
]);

/** Messages of the parser quote tags, aliases and what it stumbled over. */
function faultIn(cause: unknown): string {
  if (!(cause instanceof YAMLParseError)) return 'it has an alias without an anchor, or too many of them';
  const [{ line, col } = { line: 0, col: 0 }] = cause.linePos ?? [];
  if (PLAIN.has(cause.code)) return cause.message.split('\n')[0]!.replace(/:$/, '');
  const isSeveral = cause.code === 'MULTIPLE_DOCS';
  const what = isSeveral
    ? 'one YAML document is expected, not several'
    : cause.code.toLowerCase().replaceAll('_', ' ');
  return `${what} at line ${line}, column ${col}`;
}
