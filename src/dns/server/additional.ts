import { TYPE } from '../wire/constants.ts';
import { hostNode } from '../zone/lookup.ts';
import { isWithin } from '../wire/name.ts';
import { putSet } from '../wire/message.ts';
import { setOf } from '../zone/zone.ts';
import { targetOf } from '../wire/record.ts';
import type { Lookup } from '../zone/lookup.ts';
import type { Message } from '../wire/message.ts';

/**
 * Writes the addresses of the hosts that the answer (SRV, NS) or the delegation names, as far as the same zone knows
 * them. Those of an answer are a courtesy and left out when there is no room. Glue is not: without the address of a
 * name server inside the delegated zone nobody could ever get there, so then the result is -1 (RFC 9471).
 */
export function putAdditional(message: Message, found: Lookup): number {
  const { set, zone } = found;
  if (!set || !zone || (set.type !== TYPE.NS && set.type !== TYPE.SRV)) return 0;
  let count = 0;
  const done = new Set<string>();
  for (const data of set.data) {
    const target = targetOf(set.type, data)!;
    if (done.has(target) || !isWithin(target, zone.name)) continue;
    done.add(target);
    const node = hostNode(zone, target);
    if (!node) continue;
    const required = found.kind === 'delegation' && isWithin(target, found.owner!);
    for (const type of [TYPE.A, TYPE.AAAA]) {
      const addresses = setOf(node, type);
      if (!addresses) continue;
      if (putSet(message, target, addresses)) count += addresses.data.length;
      else if (required) return -1;
    }
  }
  return count;
}
