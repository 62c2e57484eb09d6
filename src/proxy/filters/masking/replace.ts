/** How much longer a value may become by what stands in the place of its fields: three times its length and a little, but no more than that. */
const MOST_GROWTH = 3;
const FREE_GROWTH = 65_536;
const LARGEST_GROWTH = 16 * 1024 * 1024;
const YIELD_EVERY = 512;

/** Where fields begin and end, one after the other. */
export type Spans = readonly number[];

/** How long a value may become, whatever stands in the place of its fields and however many rules it goes through. */
export const longestOf = ({ length }: Buffer): number =>
  length + Math.min(length * MOST_GROWTH + FREE_GROWTH, LARGEST_GROWTH);

/** The value with something else in these places, step by step; undefined if it would become longer than that. */
export function* replaceSteps(
  value: Buffer,
  spans: Spans,
  /** What stands in the place of each, by its number. */
  by: (place: number) => Buffer,
  longest: number,
): Generator<undefined, Buffer | undefined> {
  let length = value.length;
  for (let i = 0; i < spans.length; i += 2) length += by(i / 2).length - (spans[i + 1]! - spans[i]!);
  if (length > longest) return undefined;
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
