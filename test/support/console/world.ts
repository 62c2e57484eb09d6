/** A world for the console, as large as one likes: data alone, in the form in which sources give it. */
import type { AnyObject } from '../../../src/kube/object.ts';
import type { State } from '../../../src/console/api.ts';
import { ALL_SIGHTS } from '../../../src/console/source.ts';
import type { ConsoleSource, World, WorldCluster } from '../../../src/console/source.ts';

export interface WorldOptions {
  clusters?: number;
  brokers?: number;
  filters?: number;
  addresses?: number;
  /** Of a broker. */
  stateOf?: (id: number) => State;
  /** Which of them cannot reach their Kafka. */
  isBroken?: (index: number) => boolean;
}

const list = <T>(length: number, make: (index: number) => T) =>
  Array.from({ length }, (_, index) => make(index));

export function worldOf(options: WorldOptions = {}): World {
  const { clusters = 2, brokers = 3, filters = 1, addresses = 1 } = options;
  const { stateOf = () => 'ready', isBroken = () => false } = options;
  const all = list(clusters, (index): WorldCluster => ({
    kind: 'VirtualKafkaCluster',
    name: `vc-${index}`,
    namespace: 'default',
    proxy: 'proxy',
    bootstrap: list(addresses, (at) => ({
      ingress: `in-${at}`,
      address: `127.0.0.1:${20_000 + index * 8 + at}`,
      tls: false,
    })),
    filters: list(filters, (at) => `filter-${at}`),
    target: { kind: 'KafkaClusterRef', name: 'kafka', address: 'kafka:9092' },
    brokers: list(brokers, (id) => ({ id, state: stateOf(id) })),
  }));
  return {
    place: 'folder test',
    objects: [
      object('KafkaProxy', 'proxy'),
      ...all.map(({ name }, index) => clusterObject(name, isBroken(index))),
    ],
    where: new Map(),
    problems: [],
    events: new Map(),
    clusters: all,
    certificates: [],
    names: { records: [], zones: [], endpoint: undefined },
    command: (kind, namespace, name) => `kubectl get ${kind} -n ${namespace} ${name}`,
  };
}

const object = (kind: string, name: string, more: object = {}): AnyObject => ({
  apiVersion: 'kroxylicious.io/v1alpha1',
  kind,
  metadata: { name, namespace: 'default' },
  ...more,
});

function clusterObject(name: string, isBroken: boolean): AnyObject {
  const spec = {
    proxyRef: { name: 'proxy' },
    ingresses: [{ name: 'in-0' }],
    targetCluster: { clusterRef: { name: 'kafka' } },
  };
  const ready = isBroken
    ? { status: 'False', reason: 'TargetUnreachable', message: 'the target cannot be reached' }
    : { status: 'True', reason: 'Ready', message: '' };
  const conditions = [{ type: 'Ready', ...ready, lastTransitionTime: '2026-01-01T00:00:00Z' }];
  return object('VirtualKafkaCluster', name, { spec, status: { conditions } });
}

/** A source that says what it is told to. */
export function sourceOf(world: () => World): ConsoleSource & { onlookers: number } {
  const source = {
    onlookers: 0,
    sees: ALL_SIGHTS,
    world: async () => world(),
    snapshots: async () => [],
    tap(onTapped: Parameters<ConsoleSource['tap']>[0]) {
      source.onlookers += 1;
      queueMicrotask(() => onTapped({ entries: [], missed: 3 }));
      return () => void (source.onlookers -= 1);
    },
    explain: async (name: string, type: string) => ({ question: `${name} ${type}`, answers: [] }),
  };
  return source;
}
