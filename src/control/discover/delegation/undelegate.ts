/** Takes a delegation out by hand, e.g. when the DNS server that would do it is gone already. */
import type { Cluster } from '../../../kube/cluster.ts';
import type { ObjectName } from '../../../kube/object.ts';
import { keyOf } from '../../../kube/object.ts';
import { DELEGATED_BY_ANNOTATION } from '../names.ts';
import { addressOf, lookAt } from './observe.ts';
import { ownersOf } from './coredns.ts';
import { planRemoval } from './platform.ts';
import type { ClusterDns, Platform } from './platform.ts';
import type { DelegationOptions } from './settings.ts';
import { serversOf } from './kube-dns.ts';
import { writeChange } from './write.ts';

export interface Removal {
  platform: Platform;
  /** `ConfigMap kube-system/coredns`. */
  object: string;
  /** Why it could not be taken out. */
  problem: string | undefined;
}

export interface RemovalOptions {
  /** Our own Service, as far as it is still there. */
  service: ObjectName;
  zones: readonly string[];
  options: DelegationOptions;
}

const ATTEMPTS = 5;

/** Takes out whatever there is of us in the cluster's DNS. */
export async function takeOut(cluster: Cluster, given: RemovalOptions): Promise<Removal[]> {
  for (let attempt = 1; ; attempt++) {
    const { changes } = await lookForRemoval(cluster, given);
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
        const isLate = (await writeChange(cluster, change.write)) === 'changed';
        const problem = isLate ? 'somebody else keeps changing it' : undefined;
        return { platform: change.platform, object: `${object.kind} ${keyOf(object.metadata)}`, problem };
      }),
    );
    if (attempt === ATTEMPTS || removals.every(({ problem }) => problem === undefined)) return removals;
  }
}

/** Who else of us delegates zones in this cluster. */
export async function othersDelegating(
  cluster: Cluster,
  { service, options }: RemovalOptions,
): Promise<string[]> {
  const { found } = await lookAt({ cluster, service, corefile: options.corefile });
  const annotated = found.operator?.metadata.annotations?.[DELEGATED_BY_ANNOTATION];
  const owners = [...ownersOf(found), ...(annotated === undefined ? [] : [annotated])];
  return [...new Set(owners)].filter((owner) => owner !== keyOf(service));
}

/** Whether there is anything of us in the cluster's DNS. */
export async function isDelegated(cluster: Cluster, given: RemovalOptions): Promise<boolean> {
  const { changes } = await lookForRemoval(cluster, given);
  return changes.length > 0;
}

async function lookForRemoval(cluster: Cluster, { service, zones, options }: RemovalOptions) {
  const { found, service: own } = await lookAt({ cluster, service, corefile: options.corefile });
  const server = options.server ?? addressOf(own);
  // The table of kube-dns says of nobody whose an entry is, but where it leads; without our Service only the zones are left to go by.
  const formerServers = server === undefined ? serversOf(found.kubeDns, zones) : [];
  const wanted = { zones: [], server, owner: keyOf(service), formerServers };
  return { changes: planRemoval(found satisfies ClusterDns, wanted) };
}
