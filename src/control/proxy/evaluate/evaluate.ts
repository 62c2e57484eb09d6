/** Evaluates everything a proxy has to do with: which ingresses work, which virtual clusters can be served, and where. */
import { tlsRules } from '../../../ops/tls-rules.ts';
import type { KafkaProxy } from '../../../resources/kroxylicious/kafka-proxy.ts';
import type { KafkaProxyIngress } from '../../../resources/kroxylicious/kafka-proxy-ingress.ts';
import type { Learned } from '../../kernel/reconcile.ts';
import type { ServedCluster } from '../config/document.ts';
import { fitConfig } from '../config/config-size.ts';
import type { PlannedConfig } from '../config/planned-config.ts';
import type { ConfigRejections } from '../config/checks.ts';
import { preventsService } from '../faults.ts';
import type { Fault } from '../faults.ts';
import type { Live } from '../observed.ts';
import { allocatePorts } from '../ports/ports.ts';
import type { Allocated } from '../ports/ports.ts';
import { filterPolicyOf } from '../resolve/resolve.ts';
import type { FilterPolicy } from '../resolve/resolve.ts';
import type { ProxySnapshot, Unreadable } from '../snapshot.ts';
import { evaluateCluster, resolveReferences } from './cluster.ts';
import type { EvaluatedCluster } from './cluster.ts';
import { indexGrants } from './host-grants.ts';
import type { HostGrant } from './host-grants.ts';
import { withoutHostConflicts } from './host-conflicts.ts';
import { heldCluster, holdReferences } from './last-good.ts';
import { unreadableClusters, withTheirHosts } from './unreadable.ts';
import type { EvaluatedIngress, Platform } from './platform.ts';

export interface Evaluation {
  proxy: KafkaProxy | undefined;
  ingresses: EvaluatedIngress[];
  clusters: EvaluatedCluster[];
  allocated: Allocated;
  /** Who has which host names, and since when. */
  hostNames: HostGrant[];
  /** What is to be served of all this. */
  config: PlannedConfig;
  /** When a certificate begins or ends. */
  changesAt: number | undefined;
}

/** What is evaluated: one proxy and all that names it, or all that is served on one machine. */
export interface EvaluationInput {
  proxy: KafkaProxy | undefined;
  snapshot: ProxySnapshot;
  live: Pick<
    Live,
    | 'hostsElsewhere'
    | 'tlsRoutes'
    | 'configParts'
    | 'namePolicies'
    | 'unreadablePolicies'
    | 'namespaceLabels'
    | 'grantsBeside'
  >;
  /** Of this proxy, and unreadable. */
  unreadable?: readonly Unreadable[];
  now: number;
}

/** What is wrong with how an ingress should speak TLS; no virtual cluster is to blame for it. */
function tlsFaults({ spec }: KafkaProxyIngress): Fault[] {
  const rules = tlsRules(spec.tls?.protocols, spec.tls?.cipherSuites);
  if (!('problem' in rules)) return [];
  const { key, problem } = rules;
  return [{ reason: 'Invalid', path: ['spec', 'tls', key], message: `spec.tls.${key} ${problem}` }];
}

/** Finds everything that is wrong, with whom; what is left is served. Pure. */
export function evaluate(
  input: EvaluationInput,
  platform: Platform,
  learned: Learned<ConfigRejections>,
): Evaluation {
  const { proxy, snapshot, live, now } = input;
  // Ingresses of other proxies are here too, for whoever names one by mistake.
  const own = snapshot.ingresses.filter((ingress) => platform.serves(ingress));
  const models = own.map((ingress) => platform.ingress(ingress));
  const policy = filterPolicyOf(proxy, snapshot, (name) => learned.checked?.filters.has(name) ?? false);
  const resolved = snapshot.virtualClusters.map((cluster) => {
    const found = resolveReferences(cluster, snapshot, learned);
    return holdReferences(found, live.configParts.get(cluster.metadata.name), snapshot, policy, learned);
  });
  const requests = platform.portRequests(models, resolved);
  const allocated = allocatePorts(requests, platform.knownPorts, platform.ports, now);
  const ingresses = models.map((found) => ({
    ...found,
    faults: [
      ...found.faults,
      ...tlsFaults(found.ingress),
      ...platform.ingressFaults(found.ingress, allocated),
    ],
  }));
  const context = { platform, ingresses, allocated, now };
  const evaluated = resolved.map((cluster) => evaluateCluster(cluster, context));
  const times = evaluated.flatMap(({ changesAt }) => changesAt ?? []);
  const unreadable = unreadableClusters(input, policy, allocated);
  const hostsElsewhere = withTheirHosts(live.hostsElsewhere, unreadable);
  const granted = indexGrants(proxy?.status?.hostNames);
  const names = { ...live, hostsElsewhere };
  const { clusters: distinct, hostNames } = withoutHostConflicts(evaluated, ingresses, names, {
    granted,
    now,
  });
  const lastOf = (cluster: EvaluatedCluster) => lastGood(cluster, live.configParts, policy, allocated);
  const { clusters, config } = fitConfig(distinct, platform, { unreadable, lastOf });
  const changesAt = times.length > 0 ? Math.min(...times) : undefined;
  return { proxy, ingresses, clusters, allocated, hostNames, config, changesAt };
}

/** A virtual cluster as it was last good, by those of its ingresses that are still served. */
function lastGood(
  { cluster, ingresses }: EvaluatedCluster,
  parts: Live['configParts'],
  policy: FilterPolicy,
  allocated: Allocated,
): ServedCluster | undefined {
  const part = parts.get(cluster.metadata.name);
  const isServed = (name: string) =>
    ingresses.some((one) => one.name === name && one.resolved && !one.faults.some(preventsService));
  return part && heldCluster(part, isServed, policy, allocated);
}
