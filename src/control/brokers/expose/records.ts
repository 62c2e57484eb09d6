/** DNS records of exposed brokers: what changes when a pod moves, and nothing else. Pure. */
import { isIP, isIPv6 } from 'node:net';
import { exposedHost } from './names.ts';

/** A broker that runs somewhere. */
export interface PlacedBroker {
  id: number;
  addresses: readonly string[];
  /** The one that its clients are told where brokers have no names. */
  told?: string | undefined;
  ready: boolean;
}

export interface Endpoint {
  dnsName: string;
  recordType: 'A' | 'AAAA' | 'CNAME';
  targets: string[];
  recordTTL: number;
}

/** Low: it is how long clients look for a broker where it was. */
export const RECORD_TTL_SECONDS = 30;

/** Of all that are ready; of all there are if none is. */
function readyAddresses(brokers: readonly PlacedBroker[]): string[] {
  const ready = brokers.filter((broker) => broker.ready);
  return (ready.length > 0 ? ready : brokers).flatMap(({ addresses }) => addresses);
}

/** A name for each broker, and one to begin at. */
export function recordsOf(
  pattern: string,
  brokers: readonly PlacedBroker[],
  bootstrap: readonly string[] = readyAddresses(brokers),
): Endpoint[] {
  return [
    ...recordsAt(exposedHost(pattern, 'bootstrap'), bootstrap),
    ...brokers
      .toSorted((a, b) => a.id - b.id)
      .flatMap(({ id, addresses }) => recordsAt(exposedHost(pattern, id), addresses)),
  ];
}

/** Addresses where there are any: a CNAME could stand neither beside them nor beside another. */
function recordsAt(dnsName: string, addresses: readonly string[]): Endpoint[] {
  const all = [...new Set(addresses)].toSorted();
  const ips = all.filter((address) => isIP(address) !== 0);
  const targetsOf = {
    A: ips.filter((ip) => !isIPv6(ip)),
    AAAA: ips.filter((ip) => isIPv6(ip)),
    CNAME: ips.length > 0 ? [] : all.slice(0, 1),
  };
  return (['A', 'AAAA', 'CNAME'] as const).flatMap((recordType) => {
    const targets = targetsOf[recordType];
    return targets.length > 0 ? [{ dnsName, recordType, targets, recordTTL: RECORD_TTL_SECONDS }] : [];
  });
}
