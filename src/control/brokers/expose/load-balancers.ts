/** Addresses that clusters give to the load balancers of brokers. What was given once is written down, and stays until there is another. Pure. */
import type { AnyObject } from '../../../kube/object.ts';
import type { Charter } from '../model/charter.ts';
import { addressKey, brokerServiceName, outsideServiceName } from './names.ts';

/** All that is to be had of the load balancer of a listener: for its brokers, and for where clients begin. */
export interface LoadBalancedListener {
  name: string;
  brokers: readonly { id: number; pool: string }[];
}

/** More would be somebody's mistake. */
const MAX_ADDRESSES = 8;

/** By what it is for (see `addressKey`). Of a Service that has no address now, the one that it had. */
export function balancerAddresses(
  listeners: readonly LoadBalancedListener[],
  cluster: string,
  services: readonly AnyObject[],
  recorded: Charter['addresses'],
): Charter['addresses'] {
  const seen = new Map(services.map((service) => [service.metadata.name, addressesOf(service)]));
  const all = listeners.flatMap(({ name, brokers }) => [
    { key: addressKey(name, 'bootstrap'), service: outsideServiceName(cluster, name) },
    ...brokers.map(({ id, pool }) => ({
      key: addressKey(name, id),
      service: brokerServiceName(cluster, pool, name, id),
    })),
  ]);
  return Object.fromEntries(
    all.flatMap(({ key, service }) => {
      const now = seen.get(service) ?? [];
      const kept = now.length > 0 ? now : (recorded[key] ?? []);
      return kept.length > 0 ? [[key, kept]] : [];
    }),
  );
}

function addressesOf({ status }: AnyObject): string[] {
  type Seen = { loadBalancer?: { ingress?: { ip?: string; hostname?: string }[] } };
  const { ingress = [] } = ((status ?? {}) as Seen).loadBalancer ?? {};
  const given = ingress.flatMap(({ ip, hostname }) => ip || hostname || []);
  return [...new Set(given)].toSorted().slice(0, MAX_ADDRESSES);
}
