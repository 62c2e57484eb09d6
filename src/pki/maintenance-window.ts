import type { Fault } from './certificate-facts.ts';

/**
 * Times at which certificates may be renewed: expressions of Quartz, in UTC, as Strimzi's `maintenanceTimeWindows` has them.
 * Seconds, minutes, hours, day of the month, month, day of the week and, if wanted, year; `* * 0-1 ? * SUN` is from midnight to
 * 01:59:59 on Sundays. A moment is in the window if all fields fit it.
 */

type DayRule = (day: Day) => boolean;

interface Day {
  date: number;
  /** The last date of the month. */
  last: number;
  /** 1 is Sunday. */
  weekday: number;
}

/** One expression. Numbers are sorted. */
export interface MaintenanceWindow {
  seconds: readonly number[];
  minutes: readonly number[];
  hours: readonly number[];
  dates: readonly DayRule[];
  months: readonly number[];
  weekdays: readonly DayRule[];
  years: readonly number[] | undefined;
}

/** One that never opens: what stands for an expression that cannot be read, so that a mistake does not mean "at any time". */
export const CLOSED: MaintenanceWindow = {
  seconds: [],
  minutes: [],
  hours: [],
  dates: [],
  months: [],
  weekdays: [],
  years: [],
};

interface Range {
  what: string;
  min: number;
  max: number;
  /** What may stand for a number, the first for `min`. */
  words?: readonly string[];
}

const WEEKDAYS: Range = {
  what: 'day of the week',
  min: 1,
  max: 7,
  words: ['SUN', 'MON', 'TUE', 'WED', 'THU', 'FRI', 'SAT'],
};
const MONTHS: Range = {
  what: 'month',
  min: 1,
  max: 12,
  words: ['JAN', 'FEB', 'MAR', 'APR', 'MAY', 'JUN', 'JUL', 'AUG', 'SEP', 'OCT', 'NOV', 'DEC'],
};
const DATES: Range = { what: 'day of the month', min: 1, max: 31 };
const YEARS: Range = { what: 'year', min: 1970, max: 2199 };

const MOST_CHARACTERS = 300;
const DAY_MS = 24 * 60 * 60 * 1000;
/** A window on 29 February opens within these. */
const DAYS_AHEAD = 8 * 366;

/** Reads one expression; what is wrong with it names the field. */
export function parseMaintenanceWindow(expression: string): MaintenanceWindow | Fault {
  const fields = expression.trim().toUpperCase().split(/\s+/);
  if (expression.length > MOST_CHARACTERS || fields.length < 6 || fields.length > 7)
    return {
      fault:
        'must have six fields: seconds minutes hours day-of-month month day-of-week, and a year if wanted',
    };
  const [seconds, minutes, hours, date, month, weekday, year] = fields as [
    string,
    string,
    string,
    string,
    string,
    string,
    string?,
  ];
  if (!isAny(date) && !isAny(weekday))
    return { fault: 'must have ? as day of the month or as day of the week' };
  try {
    return {
      seconds: numbers(seconds, { what: 'second', min: 0, max: 59 }),
      minutes: numbers(minutes, { what: 'minute', min: 0, max: 59 }),
      hours: numbers(hours, { what: 'hour', min: 0, max: 23 }),
      dates: isAny(date) ? [] : date.split(',').map(dateRule),
      months: numbers(month, MONTHS),
      weekdays: isAny(weekday) ? [] : weekday.split(',').map(weekdayRule),
      years: year === undefined || year === '*' ? undefined : numbers(year, YEARS),
    };
  } catch (error) {
    return { fault: (error as Error).message };
  }
}

/** Whether maintenance may be done now: always, where there are no windows. */
export function isOpen(windows: readonly MaintenanceWindow[], now: Date): boolean {
  return (
    windows.length === 0 ||
    windows.some(
      (window) =>
        isOnDay(window, now) &&
        window.hours.includes(now.getUTCHours()) &&
        window.minutes.includes(now.getUTCMinutes()) &&
        window.seconds.includes(now.getUTCSeconds()),
    )
  );
}

/** When a window opens next, from now on; undefined if none ever does. */
export function nextOpening(windows: readonly MaintenanceWindow[], now: Date): Date | undefined {
  const openings = windows.flatMap((window) => openingOf(window, now) ?? []);
  return windows.length === 0 ? now : openings.toSorted((a, b) => a.getTime() - b.getTime())[0];
}

function openingOf(window: MaintenanceWindow, now: Date): Date | undefined {
  const earliest = Math.ceil(now.getTime() / 1000) * 1000;
  const today = Math.floor(earliest / DAY_MS) * DAY_MS;
  for (let day = 0; day < DAYS_AHEAD; day++) {
    const midnight = today + day * DAY_MS;
    if (!isOnDay(window, new Date(midnight))) continue;
    const ms = firstTime(window, earliest - midnight);
    if (ms !== undefined) return new Date(midnight + ms);
  }
  return undefined;
}

/** The first time of a day that fits and is not before another, in milliseconds since midnight. */
function firstTime({ hours, minutes, seconds }: MaintenanceWindow, earliest: number): number | undefined {
  for (const hour of hours)
    for (const minute of minutes) {
      const begin = (hour * 60 + minute) * 60_000;
      if (begin + 59_000 < earliest) continue;
      const second = seconds.find((second) => begin + second * 1000 >= earliest);
      if (second !== undefined) return begin + second * 1000;
    }
  return undefined;
}

function isOnDay({ dates, months, weekdays, years }: MaintenanceWindow, at: Date): boolean {
  const [year, month] = [at.getUTCFullYear(), at.getUTCMonth()];
  const day = {
    date: at.getUTCDate(),
    last: new Date(Date.UTC(year, month + 1, 0)).getUTCDate(),
    weekday: at.getUTCDay() + 1,
  };
  const fits = (rules: readonly DayRule[]) => rules.length === 0 || rules.some((rule) => rule(day));
  return months.includes(month + 1) && (years?.includes(year) ?? true) && fits(dates) && fits(weekdays);
}

const isAny = (field: string) => field === '?' || field === '*';

/** A number, `a-b` (which may pass the end: `FRI-MON`), `*`; each with `/step`; several with commas. */
function numbers(field: string, range: Range): number[] {
  return [...new Set(field.split(',').flatMap((item) => itemNumbers(item, range)))].toSorted((a, b) => a - b);
}

function itemNumbers(item: string, range: Range): number[] {
  const [span = '', step, more] = item.split('/');
  const [from = '', to, rest] = span === '*' ? [`${range.min}`, `${range.max}`] : span.split('-');
  const by = step === undefined ? 1 : Number(/^\d{1,4}$/.exec(step)?.[0] ?? 0);
  if (more !== undefined || rest !== undefined || by < 1) throw mistake(range);
  const first = number(from, range);
  const end = to === undefined ? (step === undefined ? first : range.max) : number(to, range);
  const size = range.max - range.min + 1;
  const length = end >= first ? end - first : end - first + size;
  const offsets = Array.from({ length: Math.floor(length / by) + 1 }, (_, index) => index * by);
  return offsets.map((offset) => ((first - range.min + offset) % size) + range.min);
}

function number(text: string, range: Range): number {
  const word = range.words?.indexOf(text) ?? -1;
  const value = word >= 0 ? word + range.min : Number(/^\d{1,4}$/.exec(text)?.[0] ?? Number.NaN);
  if (!(value >= range.min && value <= range.max)) throw mistake(range);
  return value;
}

const mistake = ({ what, min, max }: Range) => new Error(`has a ${what} that is not within ${min}-${max}`);

/** Numbers, `L` (the last), `L-3`, `15W` (the working day next to it, in the same month), `LW`. */
function dateRule(item: string): DayRule {
  const fromLast = /^L(?:-(\d{1,2}))?(W?)$/.exec(item);
  if (fromLast) {
    const before = Number(fromLast[1] ?? 0);
    if (before > 30) throw mistake(DATES);
    return fromLast[2]
      ? (day) => isWorkdayNextTo(day.last - before, day)
      : (day) => day.date === day.last - before;
  }
  const workday = /^(\d{1,2})W$/.exec(item);
  if (workday) {
    const date = number(workday[1]!, DATES);
    return (day) => date <= day.last && isWorkdayNextTo(date, day);
  }
  const dates = itemNumbers(item, DATES);
  return ({ date }) => dates.includes(date);
}

function isWorkdayNextTo(target: number, { date, last, weekday }: Day): boolean {
  const targetWeekday = (((weekday - 1 + target - date) % 7) + 7) % 7;
  if (targetWeekday === 6) return date === (target === 1 ? 3 : target - 1);
  if (targetWeekday === 0) return date === (target === last ? target - 2 : target + 1);
  return date === target;
}

/** Numbers or names, `L` (Saturday), `6L` (the last Friday of the month), `6#3` (the third). */
function weekdayRule(item: string): DayRule {
  if (item === 'L') return ({ weekday }) => weekday === 7;
  const special = /^([A-Z]{3}|\d)(?:L|#([1-5]))$/.exec(item);
  if (!special) {
    const weekdays = itemNumbers(item, WEEKDAYS);
    return ({ weekday }) => weekdays.includes(weekday);
  }
  const wanted = number(special[1]!, WEEKDAYS);
  const nth = special[2] === undefined ? undefined : Number(special[2]);
  return ({ date, last, weekday }) =>
    weekday === wanted && (nth === undefined ? date > last - 7 : Math.ceil(date / 7) === nth);
}
