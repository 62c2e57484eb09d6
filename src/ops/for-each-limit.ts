/**
 * Works on all items, some at a time, whatever becomes of each; fails at the end with the first failure, when nothing is under way.
 * Items that have not been begun are left after a failure for which `endsAll` says so.
 */
export async function forEachLimit<T>(
  items: readonly T[],
  limit: number,
  work: (item: T) => Promise<void>,
  endsAll: (failure: unknown) => boolean = () => false,
): Promise<void> {
  const waiting = [...items];
  const failures: unknown[] = [];
  const worker = async () => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift())
      await work(next).catch((failure: unknown) => {
        failures.push(failure);
        if (endsAll(failure)) waiting.length = 0;
      });
  };
  await Promise.all(Array.from({ length: limit }, worker));
  if (failures.length > 0) throw failures[0];
}
