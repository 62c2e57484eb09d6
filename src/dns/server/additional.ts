import { TYPE } from '../wire/constants.ts';
import { putRRset } from '../wire/message.ts';
import { isSubdomain } from '../wire/name.ts';
import { unpackRRset } from '../wire/packed-rrset.ts';
import { targetOf } from '../wire/rdata.ts';
import { hostNode } from '../zone/lookup.ts';
import { NONE, rrsetOf } from '../zone/zone.ts';
import type { Message } from '../wire/message.ts';
import type { Lookup } from '../zone/lookup.ts';

/**
 * Writes the addresses of the hosts that the answer (SRV, NS) or the delegation refers to, if the same zone has them;
 * returns their number. Those of an answer are optional and left out when they do not fit. Glue is required: without
 * the address of a name server inside the delegated zone no resolver can reach it, so then the result is -1 (RFC 9471).
 */
export function putAdditional(message: Message, found: Lookup): number {
  const { rrset, zone } = found;
  if (!rrset || !zone || (rrset.type !== TYPE.NS && rrset.type !== TYPE.SRV)) return 0;
  let count = 0;
  const done = new Set<string>();
  for (const data of unpackRRset(rrset).data) {
    const target = targetOf(rrset.type, data)!;
    if (done.has(target) || !isSubdomain(target, zone.name)) continue;
    done.add(target);
    const node = hostNode(zone, target);
    if (node === NONE) continue;
    const required = found.kind === 'delegation' && isSubdomain(target, found.owner!);
    for (const type of [TYPE.A, TYPE.AAAA]) {
      const addresses = rrsetOf(zone, node, type);
      if (!addresses) continue;
      if (putRRset(message, target, addresses)) count += addresses.count;
      else if (required) return -1;
    }
  }
  return count;
}
