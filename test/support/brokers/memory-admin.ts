/** As much of a Kafka as the operator asks, in memory: the answers of its admin client. */
import assert from 'node:assert/strict';
import type { Admin } from '../../../src/kafka/admin/admin.ts';
import type { ConfigChanges, ConfigResource } from '../../../src/kafka/admin/configs.ts';
import type { WantedReplicas } from '../../../src/kafka/admin/replicas.ts';
import type { MemoryKafka } from './memory-kafka.ts';

export interface KafkaState {
  partitions: { topic: string; partition: number; replicas: number[]; isr: number[]; minIsr: number }[];
  /** By partition: where it is being moved. */
  moves: Map<number, number[]>;
  registered: Set<number>;
  /** By resource: what was set while it runs. */
  dynamic: Map<string, Record<string, string>>;
  /** By broker: the properties that its process was started with. */
  started: Map<number, string>;
  /** Of metadata.version. */
  level: number;
  /** The controller that leads the others. */
  leader: number | undefined;
}

export interface Around {
  memory: MemoryKafka;
  endpoints: 'brokers' | 'controllers';
  isUp: (node: number) => boolean;
  /** Whether a node runs as a broker. */
  serves: (node: number) => boolean;
  voters: () => number[];
  /** The highest level of metadata.version that all nodes can read. */
  readable: () => number;
}

/** Settings that a node says something about although it was not started with them. */
const KNOWN: Record<string, { readOnly: boolean; fallback: string }> = {
  'log.retention.ms': { readOnly: false, fallback: '604800000' },
  'auto.create.topics.enable': { readOnly: true, fallback: 'true' },
};

const nameOf = ({ type, name }: ConfigResource) => `${type} ${name}`;

/** What a broker says of itself: sources are 2 for its own override, 4 for its file, 5 for a default. */
function describe({ started, dynamic }: KafkaState, id: number): object[] {
  const lines = (started.get(id) ?? '').split('\n').filter((line) => /^[^#=]+=/.test(line));
  const file = Object.fromEntries(lines.map((line) => [line.slice(0, line.indexOf('=')), line.slice(line.indexOf('=') + 1)])); // prettier-ignore
  const own = dynamic.get(`broker ${id}`) ?? {};
  const names = new Set([...Object.keys(file), ...Object.keys(own), ...Object.keys(KNOWN)]);
  return [...names].map((name) => {
    const synonyms = [
      { name, value: own[name], source: 2 },
      { name, value: file[name], source: 4 },
      { name, value: KNOWN[name]?.fallback, source: 5 },
    ].filter(({ value }) => value !== undefined);
    const [first] = synonyms;
    const readOnly = KNOWN[name]?.readOnly ?? true;
    return { name, value: first?.value, readOnly, configSource: first?.source, isSensitive: false, synonyms, configType: 2 }; // prettier-ignore
  });
}

/** Whoever leads goes on until it is down; one that comes back has to wait for its turn. */
export function elect(state: KafkaState, alive: readonly number[]): void {
  if (state.leader === undefined || !alive.includes(state.leader)) state.leader = alive[0];
}

export function memoryAdmin(state: KafkaState, around: Around): Admin {
  const { memory, isUp, serves, voters, readable } = around;
  /** A change of Kafka is one more moment at which the operator may end. */
  const change = (what: string) =>
    memory.beforeWrite('write', { apiVersion: 'kafka', kind: 'Change', metadata: { name: what } });
  const changes = {
    async alterConfigs(all: readonly ConfigChanges[]) {
      for (const { resource, changes: its } of all) {
        change(`alter ${nameOf(resource)}`);
        const values = { ...state.dynamic.get(nameOf(resource)) };
        for (const one of its)
          if (one.change === 'delete') delete values[one.name];
          else values[one.name] = one.value;
        state.dynamic.set(nameOf(resource), values);
      }
      return all.map(({ resource }) => ({ resource }));
    },
    async reassign(wanted: readonly WantedReplicas[]) {
      change('reassign');
      for (const { partition, replicas } of wanted) state.moves.set(partition, [...(replicas ?? [])]);
      return [];
    },
    async unregisterBroker(id: number) {
      change(`unregister ${id}`);
      assert.ok(!serves(id), `broker ${id} is forgotten while it runs`);
      state.registered.delete(id);
      return {};
    },
    async updateFeatures([update]: readonly { level: number }[]) {
      assert.ok(update!.level <= readable(), `level ${update!.level} is more than all nodes can read`);
      change('update features');
      state.level = update!.level;
      return {};
    },
  };
  const questions = {
    async quorum() {
      const alive = voters().filter(isUp);
      if (alive.length * 2 <= voters().length) return { error: { message: 'there is no leader' } };
      elect(state, alive);
      const seen = voters().map((id) => ({ id, lastCaughtUpAt: memory.now - (isUp(id) ? 0 : 60_000) }));
      return { value: { leaderId: state.leader, voters: seen, observers: [] } };
    },
    cluster: async () => ({
      value: { nodes: [...state.registered].map((id) => ({ id, rack: undefined, fenced: !serves(id) })) },
    }),
    features: async () => ({ value: { finalized: { 'metadata.version': state.level } } }),
    async *topics() {
      const partitions = state.partitions.map(({ partition, replicas, isr }) => {
        const moving = state.moves.get(partition) ?? [];
        return { index: partition, leader: isr[0], replicas: [...new Set([...moving, ...replicas])], isr };
      });
      if (partitions.length > 0) yield { value: [{ name: 't', partitions }] };
    },
    reassignments: async () => ({
      value: state.partitions.flatMap(({ topic, partition, replicas }) => {
        const target = state.moves.get(partition);
        if (!target) return [];
        const adding = target.filter((id) => !replicas.includes(id));
        const removing = replicas.filter((id) => !target.includes(id));
        return [{ topic, partition, replicas: [...target, ...removing], adding, removing }];
      }),
    }),
    configs: async (resources: readonly ConfigResource[]) =>
      resources.map((resource) => {
        const set = state.dynamic.get(nameOf(resource)) ?? {};
        const values = resource.type === 'topic' ? { 'min.insync.replicas': '2', ...set } : set;
        const configs = Object.entries(values).map(([name, value]) => [
          name,
          { value, source: resource.type },
        ]);
        return { resource, configs: Object.fromEntries(configs) as object };
      }),
    send: async (_: string, { resources }: { resources: { resourceName: string }[] }) => ({
      value: { results: [{ errorCode: 0, configs: describe(state, Number(resources[0]!.resourceName)) }] },
    }),
    close: () => {},
  };
  return { ...changes, ...questions } as unknown as Admin;
}
