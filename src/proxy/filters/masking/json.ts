/** Replaces fields of JSON in its own bytes: all that is not masked stays as it was written, to the last digit of a number. */
import { jsonSteps } from '../../../kafka/records/json.ts';
import { longestOf, replaceSteps } from './replace.ts';
import type { Spans } from './replace.ts';

/** The steps to a field; `*` is any key of an object, or any place in a list. */
export type Path = readonly string[];

const DEEPEST = 200;
/** More fields than that are masked all at once, with what is between them. */
const MOST_FIELDS = 1_000_000;
/** What is done between two looks at the clock: bytes, and paths that a key was compared with. */
const A_PIECE = 16_384;
/** The longest step has 1000 characters, each of at most six bytes (`\u0061`). */
const LONGEST_KEY = 6000;

/**
 * The value with these fields masked, undefined if it has none of them, step by step. What is no JSON, or too much to be
 * looked through, is masked as a whole: nobody can say what is in it.
 */
export function* maskSteps(
  value: Buffer,
  paths: readonly Path[],
  instead: Buffer,
  longest = longestOf(value),
): Generator<undefined, Buffer | undefined> {
  if ((yield* jsonSteps(value, false)) !== undefined) return instead;
  const spans = yield* spanSteps(value, paths);
  if (spans?.length === 0) return undefined;
  return (spans && (yield* replaceSteps(value, spans, () => instead, longest))) ?? instead;
}

const code = (character: string) => character.charCodeAt(0);
const [QUOTE, BACKSLASH, COMMA, COLON] = [code('"'), code('\\'), code(','), code(':')];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [code('['), code(']'), code('{'), code('}')];
const isSpace = (byte: number) => byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09;
const endsWord = (byte: number) =>
  isSpace(byte) || byte === COMMA || byte === CLOSE_LIST || byte === CLOSE_OBJECT;

/** A list or an object that is open. */
interface Level {
  /** What is masked below it. */
  paths: readonly Path[];
  /** The number of the next item of a list; undefined in an object. */
  place: number | undefined;
  /** Where it begins, if it is masked itself. */
  from: number | undefined;
}

/** Goes through bytes that are known to be JSON. Undefined if there is too much of it. */
function* spanSteps(bytes: Buffer, paths: readonly Path[]): Generator<undefined, Spans | undefined> {
  const spans: number[] = [];
  const open: Level[] = [];
  /** Of the value that comes next: what is masked below it, and whether it is masked itself. */
  let [below, isMasked] = [paths, false];
  let isKey = false;
  let effort = 0;

  function enter(step: string | undefined): void {
    const around = open.at(-1)!.paths;
    effort += around.length;
    below = around.filter(([next]) => next === '*' || next === step).map((path) => path.slice(1));
    isMasked = below.some(({ length }) => length === 0);
    if (isMasked) below = [];
  }

  /** Begins the next item of what is open. */
  function nextItem(level: Level): void {
    isKey = level.place === undefined;
    if (level.place !== undefined) enter(String(level.place++));
  }

  function begin(at: number, isList: boolean): void {
    const level = { paths: below, place: isList ? 0 : undefined, from: isMasked ? at : undefined };
    open.push(level);
    nextItem(level);
  }

  for (let at = 0; at < bytes.length;) {
    if (effort > A_PIECE) {
      effort = 0;
      yield;
    }
    const byte = bytes[at]!;
    const start = at;
    if (byte === QUOTE) {
      for (at += 1; bytes[at] !== QUOTE; at += bytes[at] === BACKSLASH ? 2 : 1)
        if (++effort % A_PIECE === 0) yield;
      at += 1;
      if (isKey) enter(open.at(-1)!.paths.length > 0 ? keyIn(bytes, start, at) : undefined);
      else if (isMasked) spans.push(start, at);
      isKey = false;
    } else if (byte === OPEN_LIST || byte === OPEN_OBJECT) {
      begin(at++, byte === OPEN_LIST);
      if (open.length > DEEPEST) return undefined;
    } else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) {
      at += 1;
      const { from } = open.pop()!;
      if (from !== undefined) spans.push(from, at);
    } else if (byte === COMMA) {
      at += 1;
      nextItem(open.at(-1)!);
    } else if (byte === COLON || isSpace(byte)) at += 1;
    else {
      while (at < bytes.length && !endsWord(bytes[at]!)) if (++at % A_PIECE === 0) yield;
      if (isMasked) spans.push(start, at);
    }
    effort += at - start;
    if (spans.length > 2 * MOST_FIELDS) return undefined;
  }
  return spans;
}

/** The key between quotes; undefined if no step is as long. It may be escaped in several ways. */
function keyIn(bytes: Buffer, from: number, to: number): string | undefined {
  if (to - from > LONGEST_KEY) return undefined;
  return JSON.parse(bytes.toString('utf8', from, to)) as string;
}
