/** Where brokers are: the addresses of the nodes that their pods run on, as the pod-set controller writes them down. Pure. */
import { isIP } from 'node:net';
import { z } from 'zod';
import type { AnyObject } from '../../../kube/object.ts';
import { ADDRESS_TYPES, NODE_ANNOTATIONS } from '../../shared/node-annotations.ts';
import type { PlacedBroker } from './records.ts';

/** Those of some brokers whose pods run on a node, by id. */
export function placedAmong(
  pods: readonly AnyObject[],
  brokers: readonly { id: number; pod: string }[],
  addressType: string | undefined,
  isReady: (pod: AnyObject) => boolean,
): PlacedBroker[] {
  const byName = new Map(pods.map((pod) => [pod.metadata.name, pod]));
  return brokers
    .flatMap(({ id, pod: name }): PlacedBroker[] => {
      const pod = byName.get(name);
      const { nodeName } = (pod?.['spec'] ?? {}) as { nodeName?: string };
      if (!pod || nodeName === undefined) return [];
      const { annotations = {} } = pod.metadata;
      const addresses = publicAddresses(annotations, addressType);
      return [{ id, addresses, told: annotations[NODE_ANNOTATIONS.address], ready: isReady(pod) }];
    })
    .toSorted((a, b) => a.id - b.id);
}

const addressList = z.array(z.object({ type: z.string(), address: z.string() })).max(64);

/**
 * The addresses of one kind that a node has: the preferred one, else the one with the farthest reach. Several where it has them of
 * both families; a name only where there is no number. None if it has none.
 */
export function publicAddresses(
  annotations: Readonly<Record<string, string>>,
  preferred: string | undefined,
): string[] {
  const all = addressesIn(annotations[NODE_ANNOTATIONS.addresses]);
  for (const type of [preferred, ...ADDRESS_TYPES]) {
    const found = all.filter((one) => one.type === type).map(({ address }) => address);
    const ips = found.filter((address) => isIP(address) !== 0);
    if (ips.length > 0) return [...new Set(ips)].toSorted();
    if (found.length > 0) return found.slice(0, 1);
  }
  return [];
}

/** All addresses of a node, as its pods are told. */
export function addressesIn(text: string | undefined): z.infer<typeof addressList> {
  if (text === undefined) return [];
  try {
    return addressList.parse(JSON.parse(text));
  } catch {
    return []; // somebody else has written it
  }
}
