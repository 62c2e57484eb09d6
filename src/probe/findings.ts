/** What is wrong with what was probed, and what to do about it. */
import { BlockList, isIPv6 } from 'node:net';
import { isReachable } from './probed.ts';
import type { ProbedAddress, ProbedCluster, ProbedEndpoint, Step } from './probed.ts';

export interface Finding {
  /** `host:port`, and the address where the name has several. */
  where: string;
  problem: string;
  hint: string;
}

const HINTS: Record<Step | 'resolve', string> = {
  resolve:
    'See whether the record exists at its authoritative server, and whether the resolver that you asked serves that zone.',
  connect:
    'Refused: nothing listens on that port. Timed out: a firewall is in between, or the address exists only in another network.',
  tls: 'Compare the names in the certificate with the name that clients are told, and the authority with the one that you trust (--ca).',
  versions:
    'Something else than a Kafka listener, or one that expects TLS where there is none (--tls), or the other way round.',
  login: 'Check mechanism, user and password, and that the listener takes logins at all.',
  metadata: 'The broker took the connection and does not answer: look at its log.',
  identity: 'The name leads to where the broker was. Wait for the TTL of the record, then see who writes it.',
};

/** Addresses that nobody reaches from another network. */
const INSIDE = new BlockList();
for (const [net, bits] of [
  ['10.0.0.0', 8],
  ['172.16.0.0', 12],
  ['192.168.0.0', 16],
  ['100.64.0.0', 10],
] as const)
  // prettier-ignore
  INSIDE.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of [
  ['127.0.0.0', 8],
  ['169.254.0.0', 16],
] as const)
  INSIDE.addSubnet(net, bits, 'ipv4');
for (const [net, bits] of [['fc00::', 7], ['fe80::', 10], ['::1', 128]] as const) INSIDE.addSubnet(net, bits, 'ipv6'); // prettier-ignore

const isInside = (address: string) => INSIDE.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');

/** All that is wrong: with names and connections one by one, and with what clients are told. */
export function findingsOf({ bootstrap, brokers, leftOut }: ProbedCluster): Finding[] {
  const all = [...bootstrap, ...brokers];
  const found = [...all.flatMap(findingsAt), ...insideFindings(bootstrap, brokers)];
  if (leftOut > 0)
    found.push({
      where: 'the cluster',
      problem: `it has ${leftOut} brokers more than were probed`,
      hint: 'Probe them one by one.',
    });
  return found;
}

const placeOf = ({ host, port }: Pick<ProbedEndpoint, 'host' | 'port'>) =>
  isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`;

function findingsAt(endpoint: ProbedEndpoint): Finding[] {
  const where = placeOf(endpoint);
  if (endpoint.unresolved !== undefined)
    return [{ where, problem: endpoint.unresolved, hint: HINTS.resolve }];
  if (endpoint.addresses.length === 0)
    return [{ where, problem: 'the name has no address', hint: HINTS.resolve }];
  return endpoint.addresses.flatMap((one) => failureAt(where, endpoint.host, one));
}

function failureAt(where: string, host: string, { address, failed }: ProbedAddress): Finding[] {
  if (!failed) return [];
  const by = address === host ? '' : ` (${address})`;
  return [{ where: `${where}${by}`, problem: `${failed.step}: ${failed.problem}`, hint: HINTS[failed.step] }];
}

/** Clients that begin from outside and are sent to an address inside: the mistake that everybody makes once. */
function insideFindings(bootstrap: readonly ProbedEndpoint[], brokers: readonly ProbedEndpoint[]): Finding[] {
  const begun = bootstrap.filter(isReachable).flatMap(({ addresses }) => addresses);
  if (begun.length === 0 || begun.some(({ address }) => isInside(address))) return [];
  return brokers
    .filter(({ addresses }) => addresses.length > 0 && addresses.every(({ address }) => isInside(address)))
    .map((broker) => ({
      where: placeOf(broker),
      problem: `clients that begin at a public address are told one that is not (${broker.addresses[0]!.address})`,
      hint: 'Advertise an address that these clients have a way to: advertised.listeners, or the host name of the virtual cluster.',
    }));
}
