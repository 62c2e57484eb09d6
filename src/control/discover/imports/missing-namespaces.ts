/**
 * Services that are not imported because the namespace for them does not exist here. There is no object of theirs to say so on, so the
 * DNS server's own Service does, by a condition and by events. Runs in the leader.
 */
import type { Cluster } from '../../../kube/cluster.ts';
import { SUCCESS } from '../../../kube/controller/controller.ts';
import type { Outcome } from '../../../kube/controller/controller.ts';
import { nameOfKey } from '../../../kube/object.ts';
import type { KubeObject, ObjectName } from '../../../kube/object.ts';
import type { Condition, PlannedCondition } from '../../../kube/write/conditions.ts';
import type { EventRecorder } from '../../../kube/write/events.ts';
import { writeStatus } from '../../../kube/write/status.ts';
import type { Metrics } from '../../../ops/metrics.ts';
import { inSlices } from '../../../ops/time-slice.ts';
import { nextStatus } from '../../kernel/status.ts';
import type { ClusterSet } from '../members/cluster-set.ts';
import { SERVICE } from '../objects.ts';
import { placeOf } from '../placement.ts';

/** A namespace that is missing, how many services would be imported into it, and the first of their names. */
export interface MissingNamespace {
  namespace: string;
  count: number;
  services: string[];
}

/** Those of all exported services whose import has no namespace here. */
export function* missingNamespaces(
  set: Pick<ClusterSet, 'keys' | 'hasNamespace' | 'importNamespace'>,
): Generator<undefined, MissingNamespace[]> {
  const missing = new Map<string, { names: Set<string>; services: string[] }>();
  for (const key of set.keys()) {
    yield;
    const { namespace: own = '', name } = nameOfKey(key);
    const { namespace } = placeOf({ namespace: own, name }, set.importNamespace);
    if (set.hasNamespace(namespace)) continue;
    const found = missing.get(namespace) ?? { names: new Set(), services: [] };
    missing.set(namespace, found);
    if (found.names.has(name)) continue;
    found.names.add(name);
    found.services = [...found.services, name].toSorted().slice(0, MAX_SERVICES);
  }
  return [...missing]
    .map(([namespace, { names, services }]) => ({ namespace, count: names.size, services }))
    .toSorted((a, b) => (a.namespace < b.namespace ? -1 : 1));
}

const TYPE = 'ImportNamespacesExist';
/** The most namespaces that are told of, and the most services of each. */
const MAX_NAMESPACES = 20;
const MAX_SERVICES = 5;

const quoted = (namespace: string) => `namespace "${namespace}"`;

function noteOf({ namespace, count, services }: MissingNamespace): string {
  const more = count > services.length ? ` and ${count - services.length} more` : '';
  const names = services.join(', ') + more;
  return `${quoted(namespace)} does not exist, so these services are not imported into it: ${names}`;
}

/** The condition, and the notes that are not in the one of before. */
export function namespaceNews(
  missing: readonly MissingNamespace[],
  before: Pick<Condition, 'status' | 'message'> | undefined,
): { condition: PlannedCondition; notes: string[] } {
  if (missing.length === 0) {
    const message = 'all services have a namespace to be imported into';
    return { condition: { type: TYPE, status: 'True', reason: 'NamespacesFound', message }, notes: [] };
  }
  const told = missing.slice(0, MAX_NAMESPACES);
  const rest = missing.length > told.length ? [`and ${missing.length - told.length} more namespaces`] : [];
  const message = [...told.map(noteOf), ...rest].join('; ');
  const known = before?.status === 'False' ? before.message : '';
  const news = told.filter(({ namespace }) => !known.includes(quoted(namespace)));
  return {
    condition: { type: TYPE, status: 'False', reason: 'NamespaceMissing', message },
    notes: news.map(noteOf),
  };
}

export interface MissingNamespacesOptions {
  local: Cluster;
  set: ClusterSet;
  /** The DNS server's own Service; nothing is written if left out. */
  service: ObjectName | undefined;
  events: EventRecorder;
  metrics: Metrics;
}

type OwnService = KubeObject & { status?: { conditions?: Condition[] } };

/** What a controller does, whatever has changed. */
export function reportMissingNamespaces({ local, set, service, events, metrics }: MissingNamespacesOptions) {
  const waiting = metrics
    .gauge('isthmus_dns_imports_without_namespace', 'Services that wait for a namespace to be imported into.')
    .of();
  /** What was last written. */
  let written: string | undefined;

  return async (_key: string, signal: AbortSignal): Promise<Outcome> => {
    const missing = await inSlices(missingNamespaces(set));
    waiting.value = missing.reduce((sum, { count }) => sum + count, 0);
    const shown = JSON.stringify(missing);
    if (service === undefined || shown === written) return SUCCESS;
    const live = await local.client.get<OwnService>(SERVICE, service, { signal });
    const before = live?.status?.conditions?.find(({ type }) => type === TYPE);
    if (live && (missing.length > 0 || before)) {
      const { condition, notes } = namespaceNews(missing, before);
      for (const note of notes)
        events.record(live, { type: 'Warning', reason: 'NamespaceMissing', action: 'ImportService', note });
      const planned = { status: { conditions: [condition] }, keepsRest: true, ownConditions: [TYPE] };
      const name = { kind: live.kind, name: live.metadata.name, namespace: live.metadata.namespace ?? '' };
      await writeStatus(
        local.client,
        live,
        (status) => nextStatus(status, { ...name, ...planned }, new Date()),
        signal,
      );
    }
    written = shown;
    return SUCCESS;
  };
}
