/**
 * Asks the cluster's DNS, as a pod would, whether a zone is delegated: for a random name below `_isthmus.<zone>`, which only our server
 * answers and no cache can have.
 */
import { randomBytes } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import type { DnsRecord } from '../records/dns-record.ts';
import type { ProbeProblem } from './machine-state.ts';

const TIMEOUT_MS = 2000;
/** A wildcard record makes every name below it exist. */
export const PROBE_LABEL = '_isthmus';

/** The answer to a probe. */
export type Probe = { answer: 'ours' } | { answer: 'other'; what: string } | { answer: 'none'; what: string };

/** Which zones to ask for, and where. */
export interface ProbeTarget {
  zones: readonly string[];
  /** The cluster id that the answers must have. */
  clusterId: string;
  /** Who is asked. */
  dnsAddresses: readonly string[];
}

/** The records by which answers of this installation are recognised. */
export function probeRecords(zones: readonly string[], clusterId: string): DnsRecord[] {
  return zones.map((zone) => ({ name: `*.${PROBE_LABEL}.${zone}`, type: 'TXT', data: `"${clusterId}"` }));
}

/** Asks each once for each zone. Undefined if our server answers for all of them. */
export async function probeZones(target: ProbeTarget): Promise<ProbeProblem | undefined> {
  const { zones, clusterId, dnsAddresses } = target;
  const probes = await Promise.all(
    dnsAddresses.flatMap((dnsAddress) =>
      zones.map(async (zone) => ({ dnsAddress, probe: await probeZone(dnsAddress, zone, clusterId) })),
    ),
  );
  for (const { dnsAddress, probe } of probes)
    if (probe.answer !== 'ours') return { dnsAddress, what: probe.what };
  return undefined;
}

/** Who of them does not answer at all: without that nothing can be verified. Undefined if all answer. */
export async function findSilent(target: ProbeTarget): Promise<string | undefined> {
  const { zones, clusterId, dnsAddresses } = target;
  const probes = await Promise.all(
    dnsAddresses.map((dnsAddress) => probeZone(dnsAddress, zones[0]!, clusterId)),
  );
  return dnsAddresses.find((_, i) => probes[i]!.answer === 'none');
}

/** Asks a DNS server (`10.96.0.10`, `127.0.0.1:5353`) for a name of a zone. Each probe uses a socket of its own. */
export async function probeZone(server: string, zone: string, clusterId: string): Promise<Probe> {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
  resolver.setServers([server]);
  try {
    const answer = await resolver.resolveTxt(`${randomBytes(6).toString('hex')}.${PROBE_LABEL}.${zone}`);
    const texts = answer.map((parts) => parts.join(''));
    return texts.includes(clusterId)
      ? { answer: 'ours' }
      : { answer: 'other', what: `${zone} is answered by another server` };
  } catch (error) {
    const { code = String(error) } = error as { code?: string };
    const what = MEANINGS[code] ?? code;
    return { answer: NO_ANSWER.has(code) ? 'none' : 'other', what: `${zone}: ${what}` };
  }
}

const NO_ANSWER = new Set(['ETIMEOUT', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ECANCELLED']);
const MEANINGS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'NXDOMAIN',
  ENODATA: 'no TXT record',
  ESERVFAIL: 'SERVFAIL',
  EREFUSED: 'REFUSED',
  ETIMEOUT: 'timeout',
  ECONNREFUSED: 'connection refused',
};
