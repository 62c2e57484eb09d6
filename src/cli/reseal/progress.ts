/** What has been done, and how long the rest will take. Pure: the caller has the clock. */

export interface Progress {
  /** Offsets that were there to copy when it began, and how many are left. */
  total: number;
  left: number;
  bytes: number;
  elapsedMs: number;
  /** How many were left when this run began: others were copied before. */
  leftAtStart: number;
}

const MEBIBYTE = 1024 * 1024;

/** One line. */
export function progressLine({ total, left, bytes, elapsedMs, leftAtStart }: Progress): string {
  const share = total === 0 ? 100 : Math.floor(((total - left) * 100) / total);
  const done = leftAtStart - left;
  const rate = (bytes / MEBIBYTE / Math.max(elapsedMs, 1)) * 1000;
  const line = `${share}%, ${left} of ${total} records left, ${rate.toFixed(1)} MiB/s`;
  return left === 0 || done === 0 ? line : `${line}, about ${durationText((elapsedMs / done) * left)} to go`;
}

function durationText(ms: number): string {
  const seconds = Math.ceil(ms / 1000);
  if (seconds < 90) return `${seconds} s`;
  const minutes = Math.ceil(seconds / 60);
  return minutes < 90 ? `${minutes} min` : `${(minutes / 60).toFixed(1)} h`;
}
