import { isUtf8 } from 'node:buffer';
import { createJsonScanner } from './json-scanner.ts';

/** Longer texts are read in pieces of this size. */
const A_PIECE = 64 * 1024;

/** Whether bytes are JSON (RFC 8259), step by step: what is wrong with them, or undefined. Nothing is quoted of them. */
export function* jsonSteps(bytes: Buffer, uniqueKeys: boolean): Generator<undefined, string | undefined> {
  if (!isUtf8(bytes)) return 'is not UTF-8';
  if (bytes.length <= A_PIECE && !uniqueKeys) return isJson(bytes) ? undefined : 'is not JSON';
  const scanner = createJsonScanner(bytes, uniqueKeys);
  for (let at = 0; at < bytes.length; at += A_PIECE) {
    const problem = scanner.scan(Math.min(at + A_PIECE, bytes.length));
    if (problem !== undefined) return problem;
    yield;
  }
  return scanner.end();
}

/** What is short is soonest told by the engine itself. */
function isJson(bytes: Buffer): boolean {
  try {
    JSON.parse(bytes.toString('utf8'));
    return true;
  } catch {
    return false;
  }
}
