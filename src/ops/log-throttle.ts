/** Keeps a flood of equal events out of the log: says how many were left out, or undefined to leave this one out. */
export type LogThrottle = (key: string) => number | undefined;

export function createLogThrottle(
  most = 10,
  perMs = 10_000,
  now: () => number = () => performance.now(),
): LogThrottle {
  const windows = new Map<string, { since: number; count: number; left: number }>();
  return (key) => {
    let window = windows.get(key);
    const left = window?.left ?? 0;
    if (!window || now() - window.since > perMs)
      windows.set(key, (window = { since: now(), count: 0, left: 0 }));
    else if (window.count >= most) return void window.left++;
    window.count += 1;
    return window.count === 1 ? left : 0;
  };
}
