/** Reads what decides whether brokers can be reached from outside. */
import type { Client } from '../../kube/http/client.ts';
import { keyOf } from '../../kube/object.ts';
import type { AnyObject } from '../../kube/object.ts';
import { kafkaNodePool } from '../../resources/strimzi/kafka-node-pool.ts';
import { listOf, settle } from '../kube/read.ts';
import type { Read } from '../kube/read.ts';

/** A machine that brokers can run on. */
export interface NodeSeen {
  name: string;
  isSchedulable: boolean;
  /** Types of the addresses that it has. */
  addressTypes: readonly string[];
}

/** A running external-dns. */
export interface PublisherSeen {
  /** Its Deployment, as `namespace/name`. */
  name: string;
  args: readonly string[];
}

/** What pods are connected by. */
export interface NetworkSeen {
  /** Names of DaemonSets: network plugins are among them. */
  daemonSets: readonly string[];
  /** The settings of Cilium, where that is one. */
  cilium: Readonly<Record<string, string>> | undefined;
}

export interface ExposeFacts {
  nodes: Read<readonly NodeSeen[]>;
  pools: Read<readonly AnyObject[]>;
  /** Labels by namespace. */
  namespaces: Read<ReadonlyMap<string, Readonly<Record<string, string>>>>;
  publishers: Read<readonly PublisherSeen[]>;
  network: Read<NetworkSeen>;
  /** Node ports of Services. */
  nodePorts: Read<readonly { service: string; port: number }[]>;
}

const core = (kind: string) => ({ group: '', kind, versions: ['v1'] });
const apps = (kind: string) => ({ group: 'apps', kind, versions: ['v1'] });
const CONFIG_MAP = { group: '', version: 'v1', kind: 'ConfigMap' };

export async function exposeFacts(client: Client): Promise<ExposeFacts> {
  const [nodes, pools, namespaces, publishers, network, nodePorts] = await Promise.all([
    settle(listOf(client, core('Node')).then((all) => all.map(nodeSeen))),
    settle(listOf(client, kafkaNodePool)),
    settle(listOf(client, core('Namespace')).then((all) => new Map(all.map(labelsByName)))),
    settle(listOf(client, apps('Deployment')).then((all) => all.flatMap(publisherSeen))),
    settle(networkSeen(client)),
    settle(listOf(client, core('Service')).then((all) => all.flatMap(nodePortsOf))),
  ]);
  return { nodes, pools, namespaces, publishers, network, nodePorts };
}

function nodeSeen({ metadata: { name }, spec, status }: AnyObject): NodeSeen {
  const { unschedulable = false, taints = [] } = (spec ?? {}) as {
    unschedulable?: boolean;
    taints?: { effect: string }[];
  };
  const { addresses = [] } = (status ?? {}) as { addresses?: { type: string }[] };
  const isTainted = taints.some(({ effect }) => effect !== 'PreferNoSchedule');
  const addressTypes = [...new Set(addresses.map(({ type }) => type))];
  return { name, isSchedulable: !unschedulable && !isTainted, addressTypes };
}

const labelsByName = ({ metadata: { name, labels = {} } }: AnyObject): [string, Record<string, string>] => [
  name,
  labels,
];

/** By its image, whatever it is called here. */
function publisherSeen(deployment: AnyObject): PublisherSeen[] {
  type Seen = {
    replicas?: number;
    template?: { spec?: { containers?: { image?: string; command?: string[]; args?: string[] }[] } };
  };
  const { replicas = 1, template } = (deployment['spec'] ?? {}) as Seen;
  const found = template?.spec?.containers?.find(({ image = '' }) => /(^|\/)external-dns(:|@|$)/.test(image));
  if (!found || replicas === 0) return [];
  return [{ name: keyOf(deployment.metadata), args: [...(found.command ?? []), ...(found.args ?? [])] }];
}

async function networkSeen(client: Client): Promise<NetworkSeen> {
  const found = await listOf(client, apps('DaemonSet'));
  const cilium = found.find(({ metadata }) => metadata.name === 'cilium')?.metadata;
  const config =
    cilium && (await client.get(CONFIG_MAP, { namespace: cilium.namespace, name: 'cilium-config' }));
  return {
    daemonSets: found.map(({ metadata }) => metadata.name),
    cilium: cilium && ((config?.['data'] ?? {}) as Record<string, string>),
  };
}

function nodePortsOf({ metadata, spec }: AnyObject): { service: string; port: number }[] {
  const { ports = [] } = (spec ?? {}) as { ports?: { nodePort?: number }[] };
  return ports.flatMap(({ nodePort }) => (nodePort ? [{ service: keyOf(metadata), port: nodePort }] : []));
}
