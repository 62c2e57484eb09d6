/** Longer names are not misspellings of ours. */
const LONGEST = 64;

/** The candidate that differs least from a name, if it differs little: for "did you mean". */
export function nearest(name: string, candidates: readonly string[]): string | undefined {
  if (name.length > LONGEST) return undefined;
  const limit = Math.max(1, Math.floor(name.length / 3));
  return candidates
    .map((candidate) => ({ candidate, distance: distance(name.toLowerCase(), candidate.toLowerCase()) }))
    .filter(({ distance }) => distance <= limit)
    .toSorted((a, b) => a.distance - b.distance)[0]?.candidate;
}

/** How many letters have to be inserted, removed, replaced, or swapped with the next one. */
function distance(a: string, b: string): number {
  const rows: number[][] = [Array.from({ length: b.length + 1 }, (_, index) => index)];
  const at = (i: number, j: number) => rows[i]?.[j] ?? Infinity;
  for (let i = 1; i <= a.length; i++) {
    rows.push([i]);
    for (let j = 1; j <= b.length; j++) {
      const swapped = a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1] ? at(i - 2, j - 2) + 1 : Infinity;
      const replaced = at(i - 1, j - 1) + (a[i - 1] === b[j - 1] ? 0 : 1);
      rows[i]!.push(Math.min(at(i - 1, j) + 1, at(i, j - 1) + 1, replaced, swapped));
    }
  }
  return at(a.length, b.length);
}
