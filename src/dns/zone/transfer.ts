import { TYPE } from '../wire/constants.ts';
import { beginMessage, createMessage, putRecord, set16, SLACK } from '../wire/message.ts';
import { createSearchName, setSearchName } from '../wire/search-name.ts';
import { soaOf } from './zone.ts';
import type { Message } from '../wire/message.ts';
import type { Name } from '../wire/name.ts';
import type { RRset } from '../wire/record.ts';
import type { Zone } from './zone.ts';

/** Size of a transfer's messages: small enough that every name in one can be pointed at. */
const MESSAGE_SIZE = 16_000;
/** The largest message TCP can carry, for a record that fills one alone. */
const MAX_MESSAGE = 65_535;

/**
 * The messages of a zone transfer (RFC 5936): every record of the zone between two copies of its SOA. `header` is the
 * query's header and question. All records are listed first, so that a change during the transfer is not in half of it.
 */
export function* transferMessages(zone: Zone, header: Uint8Array): Generator<Uint8Array> {
  const records = listRecords(zone);
  const question = createSearchName();
  setSearchName(question, zone.name);
  const message = createMessage(question);
  const out = new Uint8Array(MAX_MESSAGE + SLACK);
  for (let next = 0; next < records.length;) {
    beginMessage(message, out, 0, MESSAGE_SIZE);
    out.set(header);
    message.at = header.length;
    const from = next;
    next = putRecords(message, records, from);
    if (next === from) {
      message.limit = MAX_MESSAGE;
      putZoneRecord(message, records[next++]!);
    }
    out[2] = 0x84;
    out[3] = 0;
    set16(out, 4, 1);
    set16(out, 6, next - from);
    out.fill(0, 8, 12);
    yield out.slice(0, message.at);
  }
}

interface ZoneRecord {
  owner: Name;
  rrset: RRset;
  data: string;
}

function listRecords(zone: Zone): ZoneRecord[] {
  const soa = soaOf(zone);
  const start: ZoneRecord = { owner: zone.name, rrset: soa, data: soa.data[0]! };
  const records = [start];
  for (const { name, rrsets } of zone.nodes.values()) {
    for (const rrset of rrsets) {
      if (rrset.type === TYPE.SOA) continue;
      for (const data of rrset.data) records.push({ owner: name, rrset, data });
    }
  }
  records.push(start);
  return records;
}

/** Writes as many records as fit; returns the index of the first that did not. */
function putRecords(message: Message, records: readonly ZoneRecord[], from: number): number {
  for (let i = from; i < records.length; i++) {
    const { at } = message;
    if (!putZoneRecord(message, records[i]!)) {
      message.at = at;
      return i;
    }
  }
  return records.length;
}

function putZoneRecord(message: Message, { owner, rrset, data }: ZoneRecord): boolean {
  return putRecord(message, owner, rrset.type, rrset.ttl, data);
}
