/** Items in their order, so many at a time that they weigh at most `most` together; one that is heavier is alone. */
export function chunksByWeight<T>(items: readonly T[], weightOf: (item: T) => number, most: number): T[][] {
  const chunks: T[][] = [];
  let left = 0;
  for (const item of items) {
    const weight = weightOf(item);
    if (chunks.length === 0 || weight > left) {
      chunks.push([]);
      left = most;
    }
    chunks.at(-1)?.push(item);
    left -= weight;
  }
  return chunks;
}

/** Some items at a time, in their order. */
export function chunksOf<T>(items: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(items.length / size) }, (_, n) =>
    items.slice(n * size, (n + 1) * size),
  );
}
