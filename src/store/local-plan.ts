/** What the resources of a folder mean on this machine: the operator's evaluation, with this machine as its platform. */
import { isDeepStrictEqual } from 'node:util';
import type { ConfigRejections } from '../control/proxy/config/checks.ts';
import type { ServedCluster } from '../control/proxy/config/document.ts';
import type { PlannedConfig } from '../control/proxy/config/planned-config.ts';
import { servedCluster } from '../control/proxy/evaluate/cluster.ts';
import type { EvaluatedCluster } from '../control/proxy/evaluate/cluster.ts';
import { evaluate } from '../control/proxy/evaluate/evaluate.ts';
import { createHostIndex } from '../control/shared/host-index.ts';
import { preventsService } from '../control/proxy/faults.ts';
import type { Fault } from '../control/proxy/faults.ts';
import type { Allocation } from '../control/proxy/ports/ports.ts';
import type { ProxySnapshot } from '../control/proxy/snapshot.ts';
import { NOTHING_LEARNED } from '../control/kernel/reconcile.ts';
import type { VirtualKafkaCluster } from '../resources/kroxylicious/virtual-kafka-cluster.ts';
import { machinePlatform } from './machine.ts';

/** An address to give to clients. */
export interface Listing {
  virtualCluster: string;
  ingress: string;
  bootstrap: string;
  protocol: 'TCP' | 'TLS';
  filters: string[];
}

/** A fault, and whose. */
export type LocalFault = Fault & {
  kind: 'VirtualKafkaCluster' | 'KafkaProxy';
  name: string;
  namespace?: string;
};

export interface LocalPlan {
  clusters: ServedCluster[];
  /** All virtual clusters, with everything that is wrong with them. */
  evaluated: EvaluatedCluster[];
  config: PlannedConfig;
  listings: Listing[];
  /** What keeps something from being served, or from being served as it should be now. */
  faults: LocalFault[];
  allocation: Allocation;
}

/** What was found out before a plan. */
export interface LocalKnown {
  allocation: Allocation;
  /** What is served now, which goes on in place of what cannot be had. */
  parts?: PlannedConfig['parts'] | undefined;
  checked?: ConfigRejections | undefined;
}

/** Decides which virtual clusters are served and where. Pure: a broken one is a fault of its own and moves no other. */
export function planLocally(
  snapshot: ProxySnapshot,
  now: number,
  { allocation: known, parts = new Map(), checked }: LocalKnown,
): LocalPlan {
  const { distinct, faults } = distinctNames(snapshot.virtualClusters);
  const none = {
    hostsElsewhere: createHostIndex(),
    namePolicies: [],
    unreadablePolicies: [],
    namespaceLabels: {},
    grantsBeside: [],
  };
  const live = { ...none, tlsRoutes: [], configParts: parts };
  const input = { proxy: undefined, snapshot: { ...snapshot, virtualClusters: distinct }, live, now };
  const [proxy] = snapshot.proxies;
  const evaluation = evaluate(input, machinePlatform(known, proxy), { ...NOTHING_LEARNED, checked });
  const clusters = evaluation.clusters.flatMap((cluster) => servedCluster(cluster) ?? []);
  return {
    clusters,
    evaluated: evaluation.clusters,
    config: evaluation.config,
    listings: clusters.flatMap(listingsOf),
    faults: [...evaluation.clusters.flatMap(faultsOf), ...faults, ...otherLimits(snapshot.proxies)],
    allocation: evaluation.allocated.allocation,
  };
}

/** All proxies of a folder are one process here, which has one set of limits. */
function otherLimits([first, ...others]: ProxySnapshot['proxies']): LocalFault[] {
  return others.flatMap(({ metadata: { name, namespace }, spec }) =>
    (['limits', 'targetPolicy'] as const).flatMap((field): LocalFault[] => {
      if (isDeepStrictEqual(spec[field], first!.spec[field])) return [];
      const message = `on this machine one process serves all proxies, with the ${field} of KafkaProxy "${first!.metadata.name}", which comes first; write the same here`;
      return [
        { reason: 'NotSupported', path: ['spec', field], message, kind: 'KafkaProxy', name, namespace },
      ];
    }),
  );
}

/** Here all namespaces are one, and a virtual cluster is known by its name. */
function distinctNames(clusters: readonly VirtualKafkaCluster[]): {
  distinct: VirtualKafkaCluster[];
  faults: LocalFault[];
} {
  const first = new Map<string, VirtualKafkaCluster>();
  const faults: LocalFault[] = [];
  for (const cluster of clusters) {
    const { name, namespace } = cluster.metadata;
    const other = first.get(name);
    if (!other) {
      first.set(name, cluster);
      continue;
    }
    const message = `one of this name, of namespace "${other.metadata.namespace}", comes first; on this machine names must differ`;
    faults.push({
      reason: 'NotSupported',
      path: ['metadata', 'name'],
      message,
      kind: 'VirtualKafkaCluster',
      name,
      namespace,
    });
  }
  return { distinct: [...first.values()], faults };
}

function faultsOf({ cluster, faults, filters, ingresses }: EvaluatedCluster): LocalFault[] {
  const whose = { kind: 'VirtualKafkaCluster', name: cluster.metadata.name } as const;
  const { namespace } = cluster.metadata;
  const all = [...faults, ...[...ingresses, ...filters].flatMap((part) => part.faults)];
  return all
    .filter((fault) => fault.held || preventsService(fault))
    .map((fault) => ({ ...fault, ...whose, namespace }));
}

function listingsOf({ name: virtualCluster, ingresses, filters }: ServedCluster): Listing[] {
  return ingresses.map(({ name, tls, address }) => ({
    virtualCluster,
    ingress: name,
    bootstrap: `${address.bootstrapHost}:${address.by === 'port' ? address.bootstrapPort : address.port}`,
    protocol: tls ? 'TLS' : 'TCP',
    filters: filters.map(({ name }) => name),
  }));
}
