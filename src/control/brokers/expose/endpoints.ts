/** Where the brokers of a cluster are, and the DNS records that say so. Pure. */
import type { AnyObject } from '../../../kube/object.ts';
import { hasLabelSet } from '../../kernel/targets.ts';
import { NODE_ANNOTATIONS } from '../../shared/node-annotations.ts';
import { hasRole, nodesOf } from '../model/cluster.ts';
import type { BrokerCluster, Exposure } from '../model/cluster.ts';
import { ownerLabels, podName } from '../model/names.ts';
import { dnsEndpoint } from '../objects/exposed.ts';
import type { Observed } from '../observe.ts';
import { podFacts } from '../roll/pod-facts.ts';
import { dnsEndpointName } from './names.ts';
import { publicAddresses } from './places.ts';
import { recordsOf } from './records.ts';
import type { PlacedBroker } from './records.ts';

/** Brokers whose pods run on a node, by id. */
export function placedBrokers(
  { pods }: Pick<Observed, 'pods'>,
  cluster: BrokerCluster,
  { addressType }: Pick<Exposure, 'addressType'>,
): PlacedBroker[] {
  const byName = new Map(pods.map((pod) => [pod.metadata.name, pod]));
  return nodesOf(cluster)
    .flatMap(({ pool, node }): PlacedBroker[] => {
      const pod = hasRole(pool, 'broker') ? byName.get(podName(cluster.name, pool.name, node.id)) : undefined;
      const { nodeName } = (pod?.['spec'] ?? {}) as { nodeName?: string };
      if (!pod || nodeName === undefined) return [];
      const { annotations = {} } = pod.metadata;
      const addresses = publicAddresses(annotations, addressType);
      const told = annotations[NODE_ANNOTATIONS.address];
      return [{ id: node.id, addresses, told, ready: podFacts(pod).ready }];
    })
    .toSorted((a, b) => a.id - b.id);
}

/** Of every listener that has names; those of a listener that went are emptied. None where nobody takes them. */
export function dnsEndpointsOf(
  observed: Pick<Observed, 'pods' | 'dnsEndpoints'>,
  cluster: BrokerCluster,
): AnyObject[] {
  const { dnsEndpoints } = observed;
  if (!dnsEndpoints) return [];
  const wanted = cluster.listeners.flatMap(({ name, exposure }) =>
    exposure?.hostPattern === undefined
      ? []
      : [
          dnsEndpoint(
            cluster,
            dnsEndpointName(cluster.name, name),
            recordsOf(exposure.hostPattern, placedBrokers(observed, cluster, exposure)),
          ),
        ],
  );
  const names = new Set(wanted.map(({ metadata }) => metadata.name));
  const former = dnsEndpoints.filter(
    (one) => !names.has(one.metadata.name) && hasLabelSet(one, ownerLabels(cluster.name)),
  );
  return [...wanted, ...former.map(({ metadata }) => dnsEndpoint(cluster, metadata.name, []))];
}
