/** Which changes of a status are worth an event: what breaks, what waits for somebody, and what heals. Pure. */
import type { Notice } from '../../kube/write/events.ts';
import type { ConditionType } from './faults.ts';

/** As much of a condition as matters here; one written by hand may lack the rest. */
export interface Said {
  type: string;
  status: string;
  reason?: string;
  message?: string;
}

/** Part of every change of a configuration, and over in seconds. */
const ROUTINE = new Set(['ConfigPending']);
/** Nobody's mistake. */
const WAITING = new Set(['AddressPending', 'ScaledToZero']);

/** Events for a status that has become another. The first status of an object is only told if something is wrong. */
export function noticesOf(kind: string, before: readonly Said[], after: readonly Said[]): Notice[] {
  return [
    ...assentNotices('Accepted', before, after),
    ...assentNotices('ResolvedRefs', before, after),
  ].concat(readyNotices(kind, before, after));
}

const find = (conditions: readonly Said[], type: ConditionType) =>
  conditions.find((condition) => condition.type === type);

const isSame = (a: Said | undefined, b: Said) => a?.status === b.status && a.reason === b.reason;

const notice = (type: Notice['type'], reason: string, note: string): Notice => ({
  type,
  reason,
  action: 'Reconcile',
  note,
});

const healed = (reason: string, { message = '' }: Said) =>
  notice('Normal', reason, `no longer so: ${message}`);

function assentNotices(
  type: 'Accepted' | 'ResolvedRefs',
  before: readonly Said[],
  after: readonly Said[],
): Notice[] {
  const was = find(before, type);
  const is = find(after, type);
  if (!is || isSame(was, is)) return [];
  if (is.status === 'False') return [notice('Warning', is.reason ?? type, is.message ?? '')];
  return was?.status === 'False' ? [healed(type, was)] : [];
}

function readyNotices(kind: string, before: readonly Said[], after: readonly Said[]): Notice[] {
  const was = find(before, 'Ready');
  const is = find(after, 'Ready');
  if (!is || isSame(was, is)) return [];
  const { reason = 'Ready', message = '' } = is;
  const notices: Notice[] = [];
  // A certificate that was about to expire is True too, and has been told of.
  const isRenewed = was?.reason === EXPIRING && reason !== 'CertificateExpired';
  if (was && (isTold(kind, was, before) || isRenewed)) notices.push(healed('Mended', was));
  if (reason === EXPIRING) notices.push(notice('Warning', reason, message));
  else if (isTold(kind, is, after) && !isStarting(was, is))
    notices.push(notice(WAITING.has(reason) ? 'Normal' : 'Warning', reason, message));
  return notices;
}

const EXPIRING = 'CertificateExpiring';

/** Whether it is for this condition of this object to tell that something is wrong. */
function isTold(kind: string, { status, reason = '' }: Said, conditions: readonly Said[]): boolean {
  if (status !== 'False' || ROUTINE.has(reason)) return false;
  // That pods are not ready is said once, of the proxy, and not of each of its virtual clusters.
  if (reason === 'PodsNotReady' && kind !== 'KafkaProxy') return false;
  const others = conditions.filter(({ type }) => type !== 'Ready');
  return !others.some((other) => other.status === 'False' && other.reason === reason);
}

/** Pods that have never been ready are only about to be. */
const isStarting = (was: Said | undefined, is: Said) =>
  is.reason === 'PodsNotReady' && was?.status !== 'True';
