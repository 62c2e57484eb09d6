/**
 * Two patterns of host names that have one in common: `$(nodeId)-a1.x` and `1-a$(nodeId).x` both stand for `1-a1.x`. Pure.
 */

/** Stands for the id of a node in a pattern. */
export const NODE_ID = '$(nodeId)';

/** As the proxy reads node ids. */
const MAX_DIGITS = 10;
const isDigit = (char: string | undefined) => char !== undefined && char >= '0' && char <= '9';

const partsOf = (pattern: string): readonly [string, string] => {
  const at = pattern.indexOf(NODE_ID);
  return [pattern.slice(0, at), pattern.slice(at + NODE_ID.length)];
};

/**
 * Where a pattern could meet others: the key under which it is put, and those under which they would be. Where one of two that meet begins
 * with a longer text than the other, the number of the other goes on where the shorter text ends, so there is a digit; and the same at
 * the end. So both have the shorter beginning and the shorter end, and each of these is whole in one of them: without that, all patterns
 * that are alike up to a number would have to be compared with each other.
 */
export interface Meeting {
  own: string;
  others: readonly string[];
}

export function meetingsOf(pattern: string): Meeting[] {
  const [before, after] = partsOf(pattern);
  const starts = [...digitsIn(before).map((at) => before.slice(0, at)), before];
  const ends = [...digitsIn(after).map((at) => after.slice(at + 1)), after];
  return starts.flatMap((start) =>
    ends.map((end) => {
      const isWhole = { start: start === before, end: end === after };
      const keyOf = (wholeStart: boolean, wholeEnd: boolean) => `${wholeStart} ${wholeEnd} ${start} ${end}`;
      const others = [true, false].flatMap((wholeStart) =>
        [true, false].flatMap((wholeEnd) => {
          const meets = (isWhole.start || wholeStart) && (isWhole.end || wholeEnd);
          return meets ? [keyOf(wholeStart, wholeEnd)] : [];
        }),
      );
      return { own: keyOf(isWhole.start, isWhole.end), others };
    }),
  );
}

const digitsIn = (text: string) => Array.from(text.matchAll(/[0-9]/g), ({ index }) => index);

/** Whether there is a name that both patterns stand for. */
export function intersect(a: string, b: string): boolean {
  const [one, other] = [partsOf(a), partsOf(b)];
  const fixed = one.join('').length - other.join('').length;
  for (let digits = 1; digits <= MAX_DIGITS; digits++) {
    const digitsOfOther = digits + fixed;
    if (digitsOfOther < 1 || digitsOfOther > MAX_DIGITS) continue;
    if (fits(charsOf(one, digits), charsOf(other, digitsOfOther))) return true;
  }
  return false;
}

/** Any digit, and any but zero: a number of several digits does not begin with that. */
const ANY = '#';
const NOT_ZERO = '+';

const charsOf = ([before, after]: readonly [string, string], digits: number): string =>
  before + (digits === 1 ? ANY : NOT_ZERO + ANY.repeat(digits - 1)) + after;

function fits(a: string, b: string): boolean {
  for (let at = 0; at < a.length; at++)
    if (!matches(a[at]!, b[at]!) && !matches(b[at]!, a[at]!)) return false;
  return true;
}

/** Whether a place in one pattern can have what is at the same place of another. */
function matches(place: string, char: string): boolean {
  if (place === ANY) return isDigit(char) || char === NOT_ZERO || char === ANY;
  if (place === NOT_ZERO) return (isDigit(char) && char !== '0') || char === NOT_ZERO;
  return place === char;
}
