/** From which networks nodes in other Kubernetes clusters connect, for NetworkPolicies. Pure. */
import { isIP } from 'node:net';
import { LOCAL } from '../../kernel/plan.ts';
import type { Fault } from '../faults.ts';
import type { Charter } from '../model/charter.ts';
import type { Observed } from '../observe.ts';

/** The networks of all pods that nodes may be in, where nobody can or should read them from the clusters' own nodes. */
export const POD_NETWORKS_ANNOTATION = 'isthmus.dev/pod-networks';

export interface PodNetworks {
  /** Those of other clusters than one; undefined where they are not all known, and so anybody may connect. */
  networksBeside: (cluster: string) => readonly string[] | undefined;
  faults: Fault[];
}

export function networksOf({ kafka, targets, podNetworks }: Observed, charter: Charter): PodNetworks {
  const given = kafka?.metadata.annotations[POD_NETWORKS_ANNOTATION];
  const names = Object.keys(charter.targets);
  if (names.length === 0) return { networksBeside: () => [], faults: [] };
  if (given !== undefined) {
    const networks = given.split(',').map((one) => one.trim());
    const wrong = networks.filter((one) => !isNetwork(one));
    if (wrong.length === 0) return { networksBeside: () => networks, faults: [] };
    const message = `annotation ${POD_NETWORKS_ANNOTATION}: ${JSON.stringify(wrong[0])} is not a network; write a list like 10.1.0.0/16,10.2.0.0/16`;
    const path = ['metadata', 'annotations', POD_NETWORKS_ANNOTATION];
    return { networksBeside: () => undefined, faults: [{ reason: 'ConfigIgnored', path, message }] };
  }
  const seen = (name: string) => (name === LOCAL ? podNetworks : targets?.get(name)?.podNetworks);
  return {
    networksBeside(cluster) {
      // The operator is in the central one, and connects to all nodes.
      const others = [...new Set([...names, LOCAL])].filter((name) => name !== cluster).map(seen);
      return others.includes(undefined)
        ? undefined
        : [...new Set(others.flatMap((one) => one ?? []))].toSorted();
    },
    faults: [],
  };
}

function isNetwork(text: string): boolean {
  const [address = '', length = '', ...rest] = text.split('/');
  const bits = isIP(address) === 4 ? 32 : isIP(address) === 6 ? 128 : 0;
  return bits > 0 && rest.length === 0 && /^\d{1,3}$/.test(length) && Number(length) <= bits;
}
