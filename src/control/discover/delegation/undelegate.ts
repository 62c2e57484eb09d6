/** Removes a delegation by hand, e.g. after the DNS server has been removed. */
import type { Cluster } from '../../../kube/cluster.ts';
import type { ObjectName } from '../../../kube/object.ts';
import { keyOf } from '../../../kube/object.ts';
import { DELEGATED_BY_ANNOTATION } from '../names.ts';
import { addressOf, observeDns } from './observe.ts';
import { ownersOf } from './coredns.ts';
import { planRemoval } from './plan.ts';
import type { Platform } from './platform.ts';
import type { DelegationOptions } from './settings.ts';
import { serversOf } from './kube-dns.ts';
import { writeChange } from './write.ts';

export interface Removal {
  platform: Platform;
  /** `ConfigMap kube-system/coredns`. */
  object: string;
  /** Why it could not be removed. */
  problem: string | undefined;
}

export interface RemovalOptions {
  /** Our own Service, as far as it is still there. */
  service: ObjectName;
  zones: readonly string[];
  options: DelegationOptions;
}

const ATTEMPTS = 5;

/** Removes all delegations of this installation from the cluster's DNS. */
export async function removeDelegations(cluster: Cluster, given: RemovalOptions): Promise<Removal[]> {
  for (let attempt = 1; ; attempt++) {
    const { changes } = await planRemovals(cluster, given);
    const removals = await Promise.all(
      changes.map(async (change): Promise<Removal> => {
        const { platform } = change;
        if ('problem' in change || !change.write)
          return {
            platform: platform!,
            object: '',
            problem: 'problem' in change ? change.problem : undefined,
          };
        const { object } = change.write;
        const isConflict = (await writeChange(cluster, change.write)) === 'conflict';
        const problem = isConflict ? 'another writer keeps changing it' : undefined;
        return { platform: change.platform, object: `${object.kind} ${keyOf(object.metadata)}`, problem };
      }),
    );
    if (attempt === ATTEMPTS || removals.every(({ problem }) => problem === undefined)) return removals;
  }
}

/** The other installations that delegate zones in this cluster. */
export async function othersDelegating(
  cluster: Cluster,
  { service, options }: RemovalOptions,
): Promise<string[]> {
  const { clusterDns } = await observeDns({ cluster, service, corefile: options.corefile });
  const annotated = clusterDns.operator?.metadata.annotations?.[DELEGATED_BY_ANNOTATION];
  const owners = [...ownersOf(clusterDns), ...(annotated === undefined ? [] : [annotated])];
  return [...new Set(owners)].filter((owner) => owner !== keyOf(service));
}

/** Whether this installation delegates any zone in the cluster's DNS. */
export async function isDelegated(cluster: Cluster, given: RemovalOptions): Promise<boolean> {
  const { changes } = await planRemovals(cluster, given);
  return changes.length > 0;
}

async function planRemovals(cluster: Cluster, { service, zones, options }: RemovalOptions) {
  const { clusterDns, service: own } = await observeDns({ cluster, service, corefile: options.corefile });
  const server = options.server ?? addressOf(own);
  // Stub domains of kube-dns have no owner but their server's address; without our Service, our zones identify them.
  const formerServers = server === undefined ? serversOf(clusterDns.kubeDns, zones) : [];
  const wanted = { zones: [], server, owner: keyOf(service), formerServers };
  return { changes: planRemoval(clusterDns, wanted) };
}
