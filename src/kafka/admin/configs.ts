import type { DescribeConfigsResponseDescribeConfigsResourceResult } from '../schemas/types.ts';
import { faultOf } from './answer.ts';
import type { ItemResult } from './answer.ts';
import type { Destination, Send } from './routing.ts';

const RESOURCE_TYPES = { topic: 2, broker: 4, 'client-metrics': 16, group: 32 } as const;
const OPERATIONS = { set: 0, delete: 1, append: 2, subtract: 3 } as const;
/** By Kafka's number. */
const SOURCES = [
  'unknown',
  'topic',
  'broker',
  'all-brokers',
  'file',
  'default',
  'broker-logger',
  'client-metrics',
  'group',
] as const;

/** What has configuration. A broker's name is its id; without a name it is the default of all brokers. */
export interface ConfigResource {
  type: keyof typeof RESOURCE_TYPES;
  name: string;
}

/** Where a value comes from: set for that topic or broker, for all brokers, in the server's file, or nowhere. */
export type ConfigSource = (typeof SOURCES)[number];

export interface ConfigEntry {
  /** Null where Kafka does not show it: it is sensitive, or not set. */
  value: string | null;
  source: ConfigSource;
  readOnly: boolean;
  sensitive: boolean;
}

/** The configuration of one resource by key; empty with an error. */
export interface ConfigResult extends ItemResult {
  resource: ConfigResource;
  configs: Record<string, ConfigEntry>;
}

/** One key of a resource; `append` and `subtract` are for lists, and take one or more elements, separated by commas. */
export type ConfigChange =
  | { name: string; change: 'set' | 'append' | 'subtract'; value: string }
  | { name: string; change: 'delete' };

export interface ConfigChanges {
  resource: ConfigResource;
  changes: readonly ConfigChange[];
}

const entryOf = (entry: DescribeConfigsResponseDescribeConfigsResourceResult): ConfigEntry => ({
  value: entry.value,
  source: SOURCES[entry.configSource] ?? 'unknown',
  readOnly: entry.readOnly,
  sensitive: entry.isSensitive,
});

/** A broker answers for itself alone. */
const groupsOf = <T extends { resource: ConfigResource }>(items: readonly T[]) =>
  Map.groupBy(items, ({ resource }) => (resource.type === 'broker' ? resource.name : ''));

const keyOf = (resource: { resourceType: number; resourceName: string }) =>
  `${resource.resourceType}/${resource.resourceName}`;

const wireOf = ({ type, name }: ConfigResource) => ({
  resourceType: RESOURCE_TYPES[type],
  resourceName: name,
});

const byResource = <T extends { resourceType: number; resourceName: string }>(items: readonly T[] = []) =>
  new Map(items.map((item) => [keyOf(item), item]));

/** Calls about the configuration of brokers, topics, groups and client metrics. */
export function configCalls(send: Send, { endpoints }: { endpoints: 'brokers' | 'controllers' }) {
  const nodeOf = (broker: string): Destination | undefined =>
    broker === '' ? undefined : { node: Number(broker) };

  return {
    /** The configuration of each resource: all of it, or the keys named. In the order of the resources, a broker's apart. */
    async configs(resources: readonly ConfigResource[], keys?: readonly string[]): Promise<ConfigResult[]> {
      const results: ConfigResult[] = [];
      const configurationKeys = keys ? [...keys] : null;
      for (const [broker, group] of groupsOf(resources.map((resource) => ({ resource })))) {
        const wanted = group.map(({ resource }) => ({
          ...wireOf(resource),
          configurationKeys,
        }));
        const { value, error } = await send('DescribeConfigs', { resources: wanted }, nodeOf(broker));
        const answered = byResource(value?.results);
        for (const { resource } of group) {
          const found = answered.get(keyOf(wireOf(resource)));
          const entries = found?.configs.map((entry) => [entry.name, entryOf(entry)] as const) ?? [];
          const fault = error ?? (found && faultOf(found.errorCode, found.errorMessage));
          results.push({ resource, configs: Object.fromEntries(entries), error: fault });
        }
      }
      return results;
    },

    /** Changes some keys and leaves all others. Each resource is changed wholly or not at all. */
    async alterConfigs(
      wanted: readonly ConfigChanges[],
      { validateOnly = false } = {},
    ): Promise<(ItemResult & { resource: ConfigResource })[]> {
      const results: (ItemResult & { resource: ConfigResource })[] = [];
      for (const [broker, group] of groupsOf(wanted)) {
        const resources = group.map(({ resource, changes }) => ({
          ...wireOf(resource),
          configs: changes.map((each) => ({
            name: each.name,
            configOperation: OPERATIONS[each.change],
            value: each.change === 'delete' ? null : each.value,
          })),
        }));
        const body = { resources, validateOnly };
        // The active controller changes those of every broker, also of one that is down.
        const to = endpoints === 'controllers' ? undefined : nodeOf(broker);
        const { value, error } = await send('IncrementalAlterConfigs', body, to);
        const answered = byResource(value?.responses);
        for (const { resource } of group) {
          const found = answered.get(keyOf(wireOf(resource)));
          results.push({
            resource,
            error: error ?? (found && faultOf(found.errorCode, found.errorMessage)),
          });
        }
      }
      return results;
    },
  };
}
