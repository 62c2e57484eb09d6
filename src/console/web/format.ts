/** Numbers and times for people. */

const UNITS = ['B', 'kB', 'MB', 'GB', 'TB'];

export function bytes(value: number): string {
  const power = value < 1 ? 0 : Math.min(UNITS.length - 1, Math.floor(Math.log10(value) / 3));
  return `${short(value / 1000 ** power)} ${UNITS[power]}`;
}

/** Three digits that mean something. */
export function short(value: number): string {
  if (value === 0) return '0';
  if (value >= 100) return Math.round(value).toLocaleString('en');
  return String(Number(value.toPrecision(value >= 10 ? 3 : 2)));
}

export const rate = (value: number) => `${short(value)}/s`;

export const milliseconds = (value: number | undefined) => (value === undefined ? '–' : `${short(value)} ms`);

const SPANS: readonly [string, number][] = [
  ['d', 86_400],
  ['h', 3600],
  ['min', 60],
];

/** How long ago, or until when. */
export function span(from: string | undefined, now = Date.now()): string {
  if (from === undefined) return '–';
  const seconds = Math.round(Math.abs(now - Date.parse(from)) / 1000);
  const [unit, length] = SPANS.find(([, size]) => seconds >= 2 * size) ?? ['s', 1];
  // A number and its unit are one word.
  return `${Math.floor(seconds / length)}\u00A0${unit}`;
}

export const clock = (at: number) => {
  const time = new Date(at);
  return `${time.toLocaleTimeString('en-GB')}.${String(time.getMilliseconds()).padStart(3, '0')}`;
};
