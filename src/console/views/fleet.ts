/** What is wrong now, the worst first; then every virtual cluster. Pure. */
import { BoundedMap } from '../../ops/bounded-map.ts';
import { findCode } from '../../ops/codes/codes.ts';
import { VERSION } from '../../ops/version.ts';
import { conditionsIn } from '../../view/health.ts';
import { countByKind, statusOf, worstFirst } from '../../view/status.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { ObjectStatus } from '../../view/status.ts';
import type { ClusterRow, FleetView, Problem, Rates } from '../api.ts';
import { objectKey } from '../source.ts';
import type { World, WorldCluster } from '../source.ts';

export const MOST_PROBLEMS = 100;
/** More would keep a browser busy each second, and nobody reads them: the worst and busiest come first. */
export const MOST_ROWS = 100;

export interface FleetInput {
  world: World;
  /** Undefined where nobody sees them. */
  rates: ((cluster?: string) => Rates) | undefined;
}

/** `text` is looked for in names, reasons and messages. */
export function fleetView({ world, rates }: FleetInput, text: string): FleetView {
  const statuses = world.objects.map(statusOf);
  const problems = problemsOf(world, statuses).filter((one) => isAbout(text, problemText(one)));
  const rows = rowsOf(world, statuses, rates).filter((row) => isAbout(text, rowText(row)));
  return {
    place: world.place,
    version: VERSION,
    problems: problems.slice(0, MOST_PROBLEMS),
    moreProblems: Math.max(0, problems.length - MOST_PROBLEMS),
    counts: countByKind(statuses),
    clusters: rows.slice(0, MOST_ROWS),
    moreClusters: Math.max(0, rows.length - MOST_ROWS),
    ...(rates && { total: rates() }),
  };
}

/** Every word is somewhere in it. */
export function isAbout(text: string, where: string): boolean {
  const lower = where.toLowerCase();
  return text
    .toLowerCase()
    .split(/\s+/)
    .every((word) => lower.includes(word));
}

const problemText = ({ object, reason, message, file = '' }: Problem) =>
  `${object ? `${object.kind} ${object.namespace}/${object.name}` : ''} ${reason} ${message} ${file}`;
const rowText = ({ namespace, name, state, reason, target, filters, bootstrap }: ClusterRow) =>
  [namespace, name, state, reason, target, ...filters, ...bootstrap].join(' ');

function problemsOf(world: World, statuses: readonly ObjectStatus[]): Problem[] {
  const unread = world.problems.map(({ file, line, message, code }): Problem => ({
    state: 'notReady',
    reason: code ?? 'RESOURCE_INVALID',
    message,
    ...cureOf(code ?? 'RESOURCE_INVALID'),
    file,
    line,
  }));
  const objects = new Map(world.objects.map((object) => [keyOfObject(object), object]));
  const ofObjects = worstFirst(statuses).flatMap((status): Problem[] => {
    const { kind, namespace, name, state, reason, message } = status;
    if (state !== 'notReady' && state !== 'warning') return [];
    const key = objectKey(kind, namespace, name);
    const since = conditionsIn(objects.get(key)!).find((one) => one.reason === reason)?.lastTransitionTime;
    const object = { kind, namespace, name };
    const place = world.where.get(key);
    return [{ state, object, reason, message, ...cureOf(reason), ...(since && { since }), ...place }];
  });
  const told = new Set(ofObjects.map(({ message }) => message));
  // What is wrong with an object is often said by its file's reader, too.
  const rest = unread.filter(({ message }) => ![...told].some((one) => one !== '' && message.endsWith(one)));
  return [...rest, ...ofObjects];
}

/** By reason: a thousand problems have few. */
const cures = new BoundedMap<string, { cure?: string }>(500);

function cureOf(reason: string): { cure?: string } {
  const known = cures.get(reason);
  if (known) return known;
  const cure = findCode(reason)?.cure;
  const found = cure === undefined ? {} : { cure };
  cures.set(reason, found);
  return found;
}

const keyOfObject = ({ kind, metadata }: AnyObject) => objectKey(kind, metadata.namespace, metadata.name);

const ORDER = ['notReady', 'warning', 'unknown', 'ready'];
const requestsOf = ({ rates }: ClusterRow) => rates?.requests ?? 0;

function rowsOf(world: World, statuses: readonly ObjectStatus[], rates: FleetInput['rates']): ClusterRow[] {
  const byKey = new Map(statuses.map((one) => [objectKey(one.kind, one.namespace, one.name), one]));
  const ends = Map.groupBy(world.certificates, ({ virtualCluster }) => virtualCluster);
  const row = (cluster: WorldCluster): ClusterRow => {
    const { kind, name, namespace, bootstrap, filters, target, brokers } = cluster;
    const status = byKey.get(objectKey(kind, namespace, name));
    const times = (ends.get(name) ?? []).map(({ expires }) => expires.getTime());
    return {
      kind,
      namespace,
      name,
      state: status?.state ?? 'unknown',
      reason: status?.reason ?? '',
      bootstrap: bootstrap.map(({ address }) => address),
      filters: [...filters],
      target: `${target.name} (${target.address})`,
      brokers: brokers.length,
      ...(rates && { rates: rates(name) }),
      ...(times.length > 0 && { certificateEnds: new Date(Math.min(...times)).toISOString() }),
    };
  };
  const rows = world.clusters.map(row);
  return rows.toSorted(
    (a, b) => ORDER.indexOf(a.state) - ORDER.indexOf(b.state) || requestsOf(b) - requestsOf(a),
  );
}
