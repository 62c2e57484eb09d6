/** Virtual clusters that cannot be read any more, by a new version of a CRD perhaps: they go on as they were. */
import type { ServedCluster } from '../config/document.ts';
import type { Live } from '../observed.ts';
import type { Allocated } from '../ports/ports.ts';
import type { FilterPolicy } from '../resolve/resolve.ts';
import type { EvaluationInput } from './evaluate.ts';
import { createHostIndex } from '../../shared/host-index.ts';
import { hasIngress, heldCluster } from './last-good.ts';

/** As they were last good, by those of their ingresses that are still there. */
export function unreadableClusters(
  input: EvaluationInput,
  policy: FilterPolicy,
  allocated: Allocated,
): ServedCluster[] {
  const { proxy, snapshot, live, unreadable = [] } = input;
  if (!proxy) return [];
  const { namespace, name } = proxy.metadata;
  return unreadable.flatMap(({ object }) => {
    const isCluster = object.kind === 'VirtualKafkaCluster';
    const part = isCluster ? live.configParts.get(object.metadata.name) : undefined;
    const mayGoOn = (ingress: string) => hasIngress(snapshot, namespace, ingress, name);
    return (part && heldCluster(part, mayGoOn, policy, allocated)) ?? [];
  });
}

type HostsElsewhere = Live['hostsElsewhere'];

/** Nobody gets a host name that one of them has. */
export function withTheirHosts(
  elsewhere: HostsElsewhere,
  clusters: readonly ServedCluster[],
): HostsElsewhere {
  if (clusters.length === 0) return elsewhere;
  const hosts = createHostIndex();
  for (const { name, ingresses } of clusters) {
    const holder = `VirtualKafkaCluster "${name}"`;
    for (const { address } of ingresses) {
      if (address.by !== 'sni') continue;
      for (const host of [address.bootstrapHost, address.brokerPattern])
        hosts.add(host, { holder, rank: '' });
    }
  }
  return { find: (host) => elsewhere.find(host) ?? hosts.find(host) };
}
