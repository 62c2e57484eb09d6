/** All that is to be said about one object, in our words. Pure. */
import { findCode } from '../../ops/codes/codes.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { Kind } from '../../resources/kind.ts';
import { ageText, STATE_WORDS, valueAt } from './columns.ts';
import { conditionsIn, healthOf } from '../../view/health.ts';
import type { Condition } from '../../view/health.ts';

/** As much of an event as is shown. */
export interface EventFacts {
  type: string;
  reason: string;
  note: string;
  at: string | undefined;
}

export function describeText(
  object: AnyObject,
  { kind, events, now }: { kind: Kind; events: readonly EventFacts[]; now: number },
): string {
  const { name, namespace, creationTimestamp } = object.metadata;
  const health = healthOf(object);
  const fields = [
    ['Name', name],
    ...(namespace === undefined ? [] : [['Namespace', namespace]]),
    ['Kind', `${object.kind} (${object.apiVersion})`],
    ['Age', ageText(creationTimestamp, now)],
    ['State', [STATE_WORDS[health.state], health.reason].filter(Boolean).join(', ')],
    ...kind.columns
      .filter(({ jsonPath }) => !/conditions|metadata/.test(jsonPath))
      .map((column) => [column.name, valueAt(object, column.jsonPath)]),
  ];
  const lines = fields.map(([label = '', value = '']) => `${`${label}:`.padEnd(14)} ${value}`);
  return [
    ...lines,
    ...section(
      'Conditions',
      conditionsIn(object).flatMap((one) => conditionLines(one, now)),
    ),
    ...section(
      'Events',
      events.map((event) => eventLine(event, now)),
    ),
    '',
  ].join('\n');
}

const section = (title: string, lines: readonly string[]) =>
  lines.length === 0 ? [] : ['', `${title}:`, ...lines.map((line) => `  ${line}`)];

/** What is wrong comes with what to do about it. */
function conditionLines(condition: Condition, now: number): string[] {
  const { type, status, reason = '', message = '', lastTransitionTime } = condition;
  const head = `${type}=${status} ${reason} (for ${ageText(lastTransitionTime, now)})`;
  const isWrong = message !== '' && !(status === 'True' && reason === type);
  const cure = isWrong ? findCode(reason)?.cure : undefined;
  return [
    head,
    ...(message === '' ? [] : [`  ${message}`]),
    ...(cure === undefined ? [] : [`  What to do: ${cure}`]),
  ];
}

const eventLine = ({ type, reason, note, at }: EventFacts, now: number) =>
  `${ageText(at, now).padEnd(5)} ${type.padEnd(8)} ${reason}: ${note}`;
