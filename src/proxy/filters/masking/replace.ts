/** How much longer a value may become by what stands in the place of its fields. */
const MOST_GROWTH = 4;
const FREE_GROWTH = 65_536;
const YIELD_EVERY = 512;

/** Where fields begin and end, one after the other. */
export type Spans = readonly number[];

/** The value with something else in these places, step by step; undefined if it would become too long. */
export function* replaceSteps(
  value: Buffer,
  spans: Spans,
  /** What stands in the place of each, by its number. */
  by: (place: number) => Buffer,
): Generator<undefined, Buffer | undefined> {
  let length = value.length;
  for (let i = 0; i < spans.length; i += 2) length += by(i / 2).length - (spans[i + 1]! - spans[i]!);
  if (length > value.length * MOST_GROWTH + FREE_GROWTH) return undefined;
  const replaced = Buffer.allocUnsafe(length);
  let [from, to] = [0, 0];
  for (let i = 0; i < spans.length; i += 2) {
    to += value.copy(replaced, to, from, spans[i]);
    to += by(i / 2).copy(replaced, to);
    from = spans[i + 1]!;
    if (i % YIELD_EVERY === 0) yield;
  }
  value.copy(replaced, to, from);
  return replaced;
}
