/** Which changes of a status are worth an event: what breaks, what waits for somebody, and what recovers. Pure. */
import type { Notice } from '../../kube/write/events.ts';

/** As much of a condition as matters here; one written by hand may lack the rest. */
export interface ConditionSummary {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

/** What a road knows of the reasons in its conditions. */
export interface EventRules {
  /** Conditions beside Ready, of which False is a mistake of somebody. */
  types: readonly string[];
  /** Part of every change, and over in seconds: no event. */
  routine: ReadonlySet<string>;
  /** Nobody's mistake: a normal event, not a warning. */
  waiting: ReadonlySet<string>;
  /** Told of one kind only, and only when it was otherwise before. */
  onlyOf: Readonly<Record<string, string>>;
  /** True conditions that are worth telling, and the reason under which comes what they announce, if they do. */
  announced: Readonly<Record<string, string>>;
}

/** Events for a status that has become another. The first status of an object is only told if something is wrong. */
export function eventsOf(
  rules: EventRules,
  kind: string,
  before: readonly ConditionSummary[],
  after: readonly ConditionSummary[],
): Notice[] {
  return [
    ...rules.types.flatMap((type) => eventsOfType(type, before, after)),
    ...readyEvents(rules, kind, before, after),
  ];
}

const find = (conditions: readonly ConditionSummary[], type: string) =>
  conditions.find((condition) => condition.type === type);

const isSame = (a: ConditionSummary | undefined, b: ConditionSummary) =>
  a?.status === b.status && a.reason === b.reason;

const event = (type: Notice['type'], reason: string, note: string): Notice => ({
  type,
  reason,
  action: 'Reconcile',
  note,
});

const recovered = (reason: string, { message = '' }: ConditionSummary) =>
  event('Normal', reason, `Recovered from: ${message}`);

function eventsOfType(
  type: string,
  before: readonly ConditionSummary[],
  after: readonly ConditionSummary[],
): Notice[] {
  const was = find(before, type);
  const is = find(after, type);
  if (!is || isSame(was, is)) return [];
  if (is.status === 'False') return [event('Warning', is.reason ?? type, is.message ?? '')];
  return was?.status === 'False' ? [recovered(type, was)] : [];
}

function readyEvents(
  rules: EventRules,
  kind: string,
  before: readonly ConditionSummary[],
  after: readonly ConditionSummary[],
): Notice[] {
  const was = find(before, 'Ready');
  const is = find(after, 'Ready');
  if (!is || isSame(was, is)) return [];
  const { reason = 'Ready', message = '' } = is;
  const events: Notice[] = [];
  // What was announced has been told of, although the condition was True.
  const announced = rules.announced[was?.reason ?? ''];
  const isAverted = announced !== undefined && announced !== reason;
  if (was && (isTold(rules, kind, was, before) || isAverted)) events.push(recovered('Recovered', was));
  if (reason in rules.announced) events.push(event('Warning', reason, message));
  else if (isTold(rules, kind, is, after) && !isStarting(rules, was, is))
    events.push(event(rules.waiting.has(reason) ? 'Normal' : 'Warning', reason, message));
  return events;
}

/** Whether it is for this condition of this object to tell that something is wrong. */
function isTold(
  { routine, onlyOf }: EventRules,
  kind: string,
  { status, reason = '' }: ConditionSummary,
  conditions: readonly ConditionSummary[],
): boolean {
  if (status !== 'False' || routine.has(reason)) return false;
  if ((onlyOf[reason] ?? kind) !== kind) return false;
  const others = conditions.filter(({ type }) => type !== 'Ready');
  return !others.some((other) => other.status === 'False' && other.reason === reason);
}

/** What has never been ready is only about to be. */
const isStarting = (
  { onlyOf }: EventRules,
  was: ConditionSummary | undefined,
  { reason = '' }: ConditionSummary,
) => reason in onlyOf && was?.status !== 'True';
