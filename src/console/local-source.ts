/** What `isthmus up` serves from a folder, as the console shows it: with conditions as the operator would write them. */
import { evaluateClientCertificate } from '../control/proxy/evaluate/certificates.ts';
import { eventsOf } from '../control/kernel/events.ts';
import { conditionsOf, degraded, PROXY_EVENTS } from '../control/proxy/faults.ts';
import type { Fault } from '../control/proxy/faults.ts';
import { mergeConditions } from '../kube/write/conditions.ts';
import type { Condition, PlannedCondition } from '../kube/write/conditions.ts';
import type { AnyObject } from '../kube/object.ts';
import { shownDocument } from '../store/shown.ts';
import type { Served, Up } from '../store/up.ts';
import type { NameAnswer } from './api.ts';
import { ALL_SIGHTS, objectKey } from './source.ts';
import type { ConsoleSource, World, WorldCluster, WorldEvent } from './source.ts';

/** Of each object; the oldest are forgotten. */
const MOST_EVENTS = 20;

type ProxyStatus = NonNullable<ReturnType<Up['proxy']['status']>>;
type ClusterStatus = ProxyStatus['virtualClusters'][number];

export function localSource(up: Up, folder: string, now: () => number = Date.now): ConsoleSource {
  const conditions = new Map<string, Condition[]>();
  const events = new Map<string, WorldEvent[]>();
  let shown: { of: Served; objects: Promise<AnyObject[]> } | undefined;

  /** Loaded once for each reading of the folder: to find what is secret takes the filters' own code. */
  function objectsOf(served: Served): Promise<AnyObject[]> {
    if (shown?.of !== served) shown = { of: served, objects: shownObjects(served) };
    return shown.objects;
  }

  function withConditions(object: AnyObject, planned: readonly PlannedCondition[]): AnyObject {
    const key = objectKey(object.kind, object.metadata.namespace, object.metadata.name);
    const before = conditions.get(key) ?? [];
    const merged = mergeConditions(before, planned, new Date(now()));
    const at = new Date(now()).toISOString();
    const news = eventsOf(PROXY_EVENTS, object.kind, before, merged).map(({ type, reason, note }) => ({
      type,
      reason,
      note,
      at,
    }));
    if (news.length > 0) events.set(key, [...news, ...(events.get(key) ?? [])].slice(0, MOST_EVENTS));
    conditions.set(key, merged);
    return { ...object, status: { conditions: merged } };
  }

  return {
    sees: ALL_SIGHTS,
    async world(): Promise<World> {
      const served = up.served();
      const status = up.proxy.status();
      const certificates = up.proxy.certificates();
      const faults = faultsByCluster(served, status, now());
      const objects = (await objectsOf(served)).map((object) => {
        if (object.kind === 'VirtualKafkaCluster') {
          const own = faults.get(placeOf(object.metadata)) ?? [];
          const isServed = served.plan.clusters.some(({ name }) => name === object.metadata.name);
          return withConditions(object, [
            ...conditionsOf(own, ['Accepted', 'ResolvedRefs', 'Ready'], undefined),
            ...degraded(isServed, own, undefined),
          ]);
        }
        return object.kind === 'KafkaProxy' ? withConditions(object, [proxyCondition(status)]) : object;
      });
      const endpoint = up.names.endpoint();
      return {
        place: `folder ${folder}`,
        objects,
        where: new Map(
          served.resources.written.map(({ object: { kind, metadata }, document: { file, line } }) => [
            objectKey(kind, metadata.namespace, metadata.name),
            { file, line },
          ]),
        ),
        problems: problemsOf(served),
        events,
        clusters: clustersOf(served, status),
        certificates,
        names: {
          records: up.names
            .sources()
            .flatMap(({ source, records }) =>
              records.map(({ name, type, data }) => ({ name, type, data, source })),
            ),
          zones: up.names.zones(),
          endpoint: endpoint && `${endpoint.address}:${endpoint.port}`,
        },
        command: () => `isthmus analyze -f ${folder}`,
      };
    },
    snapshots: () => up.proxy.snapshots(),
    tap: (onTapped) => up.proxy.tap(onTapped),
    explain: async (name, type) => answerOf(name, type, up.names.explain(name, type)),
  };
}

function shownObjects({ resources }: Served): Promise<AnyObject[]> {
  const modules = resources.snapshot.proxies.flatMap(({ spec }) => spec.filterModules);
  return Promise.all(resources.written.map(({ object }) => shownDocument(object, modules)));
}

function problemsOf({ resources, unreadable }: Served): World['problems'] {
  const ofFiles = resources.problems.map(({ file, line, message, code }) => ({
    file,
    line,
    message,
    code,
  }));
  if (unreadable === undefined) return ofFiles;
  const message = `the newest files are not in use: ${unreadable}`;
  return [{ file: '', line: 1, message, code: 'CONFIG_INVALID' }, ...ofFiles];
}

const placeOf = ({ namespace = '', name }: { namespace?: string; name: string }) => `${namespace}/${name}`;

/** What resources say, what the proxy has met, and what its certificates are about to do. */
function faultsByCluster(
  { plan, resources }: Served,
  status: ProxyStatus | undefined,
  now: number,
): Map<string, Fault[]> {
  const faults = new Map<string, Fault[]>();
  const add = (key: string, more: readonly Fault[]) => {
    const known = faults.get(key) ?? [];
    const isNew = ({ message }: Fault) => !known.some((one) => one.message === message);
    faults.set(key, [...known, ...more.filter(isNew)]);
  };
  const running = new Map(status?.virtualClusters.map((one) => [one.name, one]));
  for (const { cluster, faults: whole, filters, ingresses } of plan.evaluated) {
    const lifetimes = ingresses.flatMap(({ resolved }) =>
      (resolved?.tls?.keys ?? []).flatMap((key) => evaluateClientCertificate(key, now).faults),
    );
    const own = running.get(cluster.metadata.name);
    add(placeOf(cluster.metadata), [
      ...whole,
      ...[...filters, ...ingresses].flatMap((part) => part.faults),
      ...lifetimes.map((fault) => ({ ...fault, path: [] })),
      ...(own ? runtimeFaults(own) : []),
    ]);
  }
  for (const { object, document } of resources.kept)
    if (object.kind === 'VirtualKafkaCluster') add(placeOf(object.metadata), [keptFault(document.file)]);
  for (const { kind, name, namespace, ...fault } of plan.faults)
    if (kind === 'VirtualKafkaCluster' && namespace !== undefined) add(placeOf({ namespace, name }), [fault]);
  return faults;
}

const keptFault = (file: string): Fault => ({
  reason: 'Invalid',
  path: [],
  message: `what ${file} says of it now cannot be read, or is not valid`,
  held: true,
});

const runtimeFaults = ({
  targetReachable,
  loaded,
  problems,
  filterProblems = [],
}: ClusterStatus): Fault[] => [
  ...problems.map((message): Fault => {
    const isTarget = targetReachable === false && message.startsWith('the target cannot be reached');
    return {
      reason: isTarget ? 'TargetUnreachable' : loaded ? 'PodProblem' : 'ConfigRefused',
      path: [],
      message,
    };
  }),
  ...filterProblems.map((one): Fault => ({ ...one, path: [] })),
];

function proxyCondition(status: ProxyStatus | undefined): PlannedCondition {
  const [problem] = status?.workerProblems ?? [];
  return problem === undefined
    ? { type: 'Ready', status: 'True', reason: 'Ready', message: '' }
    : { type: 'Ready', status: 'False', reason: 'PodProblem', message: problem };
}

function clustersOf({ plan }: Served, status: ProxyStatus | undefined): WorldCluster[] {
  const running = new Map(status?.virtualClusters.map((one) => [one.name, one]));
  return plan.evaluated.map(({ cluster: { metadata, spec }, target }) => {
    const { name, namespace } = metadata;
    const { gateways = [], nodeIds = [] } = running.get(name) ?? {};
    const { kind, name: targetName } = spec.targetCluster.clusterRef;
    return {
      kind: 'VirtualKafkaCluster',
      name,
      namespace,
      proxy: spec.proxyRef.name,
      bootstrap: gateways.map(({ name: ingress, bootstrap, tls }) => ({ ingress, address: bootstrap, tls })),
      filters: running.get(name)?.filters.map((filter) => filter.name) ?? [],
      target: { kind, name: targetName, address: target?.bootstrapServers ?? '' },
      brokers: nodeIds.map((id) => ({ id, state: 'ready' })),
    };
  });
}

function answerOf(name: string, type: string, found: ReturnType<Up['names']['explain']>): NameAnswer {
  const question = `${name} ${type}`;
  if (!found)
    return { question, answers: [], problem: 'this is no question for a name, or no zone is served here' };
  const { rcode, zone, answer } = found;
  return {
    question,
    rcode,
    ...(zone !== undefined && { zone }),
    answers: answer.flatMap(({ name: owner, type: of, ttl, data, sources }) =>
      data.map((text) => ({ name: owner, type: of, ttl, data: text, sources })),
    ),
  };
}
