/** What is in a Kubernetes cluster, as far as whoever asks may read it. Followed, not polled; no Secret is ever read. */
import { SHOWN_EVENTS, SHOWN_KINDS } from '../control/install/shown-kinds.ts';
import type { ShownKind } from '../control/install/shown-kinds.ts';
import { openOptionalCache } from '../kube/cache/optional-cache.ts';
import type { OptionalCache } from '../kube/cache/optional-cache.ts';
import type { Cluster } from '../kube/cluster.ts';
import type { AnyObject } from '../kube/object.ts';
import type { Log } from '../ops/log.ts';
import { shownDocument } from '../store/shown.ts';
import { clustersIn } from './cluster-facts.ts';
import { objectKey } from './source.ts';
import type { ConsoleSource, FileProblem, World, WorldEvent } from './source.ts';

/** Where objects of a kind are: rights are granted there. No namespace: in the whole cluster. */
export interface Place {
  group: string;
  resource: string;
  namespace: string | undefined;
}

/** Says of which places somebody may read all objects. */
export type MayRead = (places: readonly Place[]) => Promise<(place: Place) => boolean>;

export interface ClusterSource extends ConsoleSource {
  /** Resolves when all that may be read has been read. */
  readonly ready: Promise<void>;
  /** The same for somebody who may not read all of it. */
  seenBy(mayRead: MayRead): ConsoleSource;
  stop(): Promise<void>;
}

interface Followed {
  kind: ShownKind;
  cache: OptionalCache;
}

interface Found {
  object: AnyObject;
  place: Place;
}

/** `namespaces`: none is all of them. */
export function clusterSource(
  cluster: Cluster,
  { namespaces, log, command }: { namespaces: readonly string[]; log: Log; command: string },
): ClusterSource {
  const follow = (kind: ShownKind): Followed[] =>
    (kind.labels ?? [undefined]).flatMap((labelSelector) =>
      scopesOf(kind, namespaces).map((namespace) => ({
        kind,
        cache: openOptionalCache({
          client: () => cluster.client,
          kind,
          open: (type) => cluster.cache({ type, namespace, labelSelector, trim }),
          isDispensable: true,
          onOpen: () => {},
          log,
        }),
      })),
    );
  const kinds = SHOWN_KINDS.flatMap(follow);
  const events = follow(SHOWN_EVENTS);
  const all = [...kinds, ...events].map(({ cache }) => cache);
  const place = ['cluster', cluster.name, ...(namespaces.length > 0 ? ['in', namespaces.join(', ')] : [])];

  async function world(mayRead: MayRead | undefined): Promise<World> {
    const [objects, its] = await Promise.all([
      readable(foundIn(kinds), mayRead),
      readable(foundIn(events), mayRead),
    ]);
    const shown = await shownObjects(objects);
    return {
      place: place.join(' '),
      objects: shown,
      where: new Map(),
      problems: [...problemsOf(cluster, kinds), ...nothingReadable(mayRead, objects)],
      events: eventsByObject(its),
      clusters: clustersIn(shown),
      certificates: [],
      names: { records: namesIn(shown), zones: [], endpoint: undefined },
      command: (kind, of, name) =>
        `${command} get ${kind.toLowerCase()} ${name}${of === '' ? '' : ` -n ${of}`} -o yaml`,
    };
  }

  const seen = (mayRead: MayRead | undefined): ConsoleSource => ({
    // Proxies in pods answer only to their operator, and certificates are in Secrets.
    sees: [],
    world: () => world(mayRead),
    snapshots: async () => [],
    tap: () => () => {},
    explain: async (name, type) => ({
      question: `${name} ${type}`,
      answers: [],
      problem: `ask with \`isthmus dns query ${name} ${type}\`: the DNS server in the cluster has the records`,
    }),
  });

  return {
    ...seen(undefined),
    ready: Promise.all(all.map(({ discovered }) => discovered)).then(() => {}),
    seenBy: seen,
    async stop() {
      for (const cache of all) cache.stop();
      await cluster.stop();
    },
  };
}

/** What is there, each object once, though it may have several of the labels. */
function foundIn(followed: readonly Followed[]): Found[] {
  const found = followed.flatMap(({ kind, cache }) =>
    (cache.current?.list() ?? []).map((object) => ({
      object,
      place: { group: kind.group, resource: kind.plural, namespace: object.metadata.namespace },
    })),
  );
  return [...new Map(found.map((one) => [keyOf(one.object), one])).values()];
}

async function readable(found: readonly Found[], mayRead: MayRead | undefined): Promise<AnyObject[]> {
  if (!mayRead) return found.map(({ object }) => object);
  const isReadable = await mayRead(found.map(({ place }) => place));
  return found.flatMap(({ object, place }) => (isReadable(place) ? [object] : []));
}

/** Not that there is something, only that whoever sees nothing may lack rights. */
function nothingReadable(mayRead: MayRead | undefined, objects: readonly AnyObject[]): FileProblem[] {
  if (!mayRead || objects.length > 0) return [];
  const message =
    'nothing is here that you may read: the ClusterRole isthmus-viewer (part of view) in a namespace lets you see what is in it';
  return [{ file: '', line: 0, message, code: 'CLUSTER_REFUSED' }];
}

/** Kinds without namespaces are the same everywhere. */
function scopesOf({ scope }: ShownKind, namespaces: readonly string[]): readonly (string | undefined)[] {
  return scope === 'Cluster' || namespaces.length === 0 ? [undefined] : namespaces;
}

const keyOf = ({ kind, metadata }: AnyObject) => objectKey(kind, metadata.namespace, metadata.name);

/** Who manages which field is most of an object, and of no interest here. */
function trim(object: AnyObject): AnyObject {
  const metadata = { ...object.metadata };
  delete metadata.managedFields;
  return { ...object, metadata };
}

function shownObjects(objects: readonly AnyObject[]): Promise<AnyObject[]> {
  const modules = objects.flatMap(({ kind, spec }) => {
    const { filterModules } = (spec ?? {}) as { filterModules?: { name: string; secretFields?: string[] }[] };
    return kind === 'KafkaProxy' ? (filterModules ?? []) : [];
  });
  return Promise.all(objects.map((object) => shownDocument(object, modules)));
}

/** What cannot be seen from here must not look as if it were not there. */
function problemsOf(cluster: Cluster, caches: readonly Followed[]): FileProblem[] {
  const { reachability } = cluster;
  const nowhere = { file: '', line: 0 };
  if (reachability.state === 'unreachable')
    return [
      {
        ...nowhere,
        message: `what is shown may be old: ${reachability.problem}`,
        code: 'CLUSTER_UNREACHABLE',
      },
    ];
  const forbidden = new Set(
    caches.flatMap(({ kind, cache }) => (cache.opened?.isForbidden ? [kind.kind] : [])),
  );
  return [...forbidden].map((kind) => ({
    ...nowhere,
    message: `you may not read resources of kind ${kind} here, so none are shown`,
    code: 'CLUSTER_REFUSED',
  }));
}

const MOST_EVENTS = 20;

interface KubeEvent extends AnyObject {
  type?: string;
  reason?: string;
  note?: string;
  eventTime?: string;
  deprecatedLastTimestamp?: string;
  series?: { lastObservedTime?: string };
  regarding?: { kind?: string; namespace?: string; name?: string };
}

function eventsByObject(events: readonly AnyObject[]): Map<string, WorldEvent[]> {
  const byObject = Map.groupBy(events as readonly KubeEvent[], ({ regarding }) =>
    objectKey(regarding?.kind ?? '', regarding?.namespace, regarding?.name ?? ''),
  );
  return new Map(
    [...byObject].map(([key, its]) => [
      key,
      its
        .map(({ type = '', reason = '', note = '', eventTime, deprecatedLastTimestamp, series }) => ({
          type,
          reason,
          note,
          at: series?.lastObservedTime ?? eventTime ?? deprecatedLastTimestamp ?? '',
        }))
        .toSorted((a, b) => (a.at < b.at ? 1 : -1))
        .slice(0, MOST_EVENTS),
    ]),
  );
}

function namesIn(objects: readonly AnyObject[]): World['names']['records'] {
  return objects.flatMap((object) => {
    if (object.kind !== 'DNSEndpoint') return [];
    const { endpoints = [] } = (object['spec'] ?? {}) as {
      endpoints?: { dnsName: string; recordType: string; targets?: string[] }[];
    };
    const source = `DNSEndpoint ${object.metadata.namespace}/${object.metadata.name}`;
    return endpoints.flatMap(({ dnsName, recordType, targets = [] }) =>
      targets.map((data) => ({ name: dnsName, type: recordType, data, source })),
    );
  });
}
