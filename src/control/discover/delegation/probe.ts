/** Asks whether a zone is delegated: by a name of our own in it that nobody else answers for, nor can have in a cache. */
import { randomBytes } from 'node:crypto';
import { Resolver } from 'node:dns/promises';
import type { DnsRecord } from '../records/dns-record.ts';

const TIMEOUT_MS = 2000;
/** Below it every name exists. */
const PROBE_LABEL = '_isthmus';

/** What a question came to. */
export type Probe = { answer: 'ours' } | { answer: 'other'; what: string } | { answer: 'none'; what: string };

/** The records by which answers are recognised as those of the Isthmus in this cluster. */
export function probeRecords(zones: readonly string[], clusterId: string): DnsRecord[] {
  return zones.map((zone) => ({ name: `*.${PROBE_LABEL}.${zone}`, type: 'TXT', data: `"${clusterId}"` }));
}

/** Asks a DNS server (`10.96.0.10`, `127.0.0.1:5353`) for a name of a zone. Each question has a socket of its own. */
export async function probeZone(server: string, zone: string, clusterId: string): Promise<Probe> {
  const resolver = new Resolver({ timeout: TIMEOUT_MS, tries: 1 });
  resolver.setServers([server]);
  try {
    const answer = await resolver.resolveTxt(`${randomBytes(6).toString('hex')}.${PROBE_LABEL}.${zone}`);
    const texts = answer.map((parts) => parts.join(''));
    return texts.includes(clusterId)
      ? { answer: 'ours' }
      : { answer: 'other', what: `${zone} is answered by somebody else` };
  } catch (error) {
    const { code = String(error) } = error as { code?: string };
    const what = WORDS[code] ?? code;
    return { answer: NO_ANSWER.has(code) ? 'none' : 'other', what: `${zone}: ${what}` };
  }
}

const NO_ANSWER = new Set(['ETIMEOUT', 'ECONNREFUSED', 'EHOSTUNREACH', 'ENETUNREACH', 'ECANCELLED']);
const WORDS: Readonly<Record<string, string>> = {
  ENOTFOUND: 'no such name',
  ENODATA: 'no such record',
  ESERVFAIL: 'SERVFAIL',
  EREFUSED: 'REFUSED',
  ETIMEOUT: 'no answer',
  ECONNREFUSED: 'nobody listens',
};
