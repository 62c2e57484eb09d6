/** Resolves when a signal is aborted; at once if it is already. */
export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}

/** Waits for some work, but no longer than until the signal is aborted. Says whether the work was done. */
export async function unlessAborted(work: Promise<unknown>, signal: AbortSignal): Promise<boolean> {
  await Promise.race([work, aborted(signal)]);
  return !signal.aborted;
}
