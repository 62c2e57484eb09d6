import { TYPE } from '../wire/constants.ts';
import { beginMessage, createMessage, putRecords, set16, SLACK } from '../wire/message.ts';
import { packRRset } from '../wire/packed-rrset.ts';
import { createSearchName, setSearchName } from '../wire/search-name.ts';
import type { Name } from '../wire/name.ts';
import type { RRset } from '../wire/record.ts';
import type { Store } from '../zone/store.ts';

/** Size of a transfer's messages: small enough that every name in one can be pointed at. */
const MESSAGE_SIZE = 16_000;
/** For a record that fills a message alone: what TCP can carry, without what a signature may take. */
const MAX_MESSAGE = 65_535 - 512;

/** Where the records of a transfer come from. */
export type TransferSource = Pick<Store, 'soaOf' | 'listZone' | 'whole'>;

/**
 * The messages of a zone transfer (RFC 5936), made step by step: every record of the zone between two copies of its SOA, all as they are at
 * the first step. A secondary that asks for what has changed (IXFR) and has the present serial, or a later one, gets the SOA
 * alone (RFC 1995 section 2).
 */
export function* transferMessages(
  source: Pick<TransferSource, 'soaOf' | 'listZone'>,
  zone: Name,
  query: Uint8Array,
  questionEnd: number,
  type: number,
): Generator<undefined, Uint8Array[]> {
  const soa = source.soaOf(zone);
  const messages = createMessages(zone, query.slice(0, questionEnd));
  messages.put(zone, soa);
  if (type === TYPE.IXFR && hasSerial(query, questionEnd, serialOf(soa))) return messages.end();
  for (const listed of source.listZone(zone)) {
    for (const rrset of listed?.rrsets ?? [])
      for (const data of rrset.data) messages.put(listed!.name, { ...rrset, data: [data] });
    yield;
  }
  messages.put(zone, soa);
  return messages.end();
}

/** Messages that are filled one after the other; each begins with the header and question of the query. */
function createMessages(zone: Name, header: Uint8Array) {
  const question = createSearchName();
  setSearchName(question, zone);
  const message = createMessage(question);
  const out = new Uint8Array(MAX_MESSAGE + SLACK);
  const done: Uint8Array[] = [];
  let count = 0;

  function begin(): void {
    beginMessage(message, out, 0, MESSAGE_SIZE);
    out.set(header);
    message.at = header.length;
    count = 0;
  }

  function end(): Uint8Array[] {
    out[2] = 0x84;
    out[3] = 0;
    set16(out, 4, 1);
    set16(out, 6, count);
    out.fill(0, 8, 12);
    done.push(out.slice(0, message.at));
    return done;
  }

  /** Adds one record. */
  function put(owner: Name, record: RRset): void {
    const { at } = message;
    const packed = packRRset(record);
    if (putRecords(message, owner, packed, packed.ttl, 0) === 0) {
      message.at = at;
      if (count > 0) {
        end();
        begin();
        return put(owner, record);
      }
      message.limit = MAX_MESSAGE;
      putRecords(message, owner, packed, packed.ttl, 0);
    }
    count += 1;
  }

  begin();
  return { put, end };
}

function serialOf({ data }: RRset): number {
  return numberAt(data[0]!, SERIAL_FROM_END);
}

/** The serial is the first of the five numbers that a SOA record ends in. */
const SERIAL_FROM_END = 20;

function numberAt(data: string, fromEnd: number): number {
  return Buffer.from(data, 'latin1').readUInt32BE(data.length - fromEnd);
}

/** Whether the SOA record in the authority section of a query, which has been parsed, has this serial or a later one. */
function hasSerial(query: Uint8Array, questionEnd: number, serial: number): boolean {
  const bytes = Buffer.from(query);
  if (bytes.readUInt16BE(6) !== 0 || bytes.readUInt16BE(8) !== 1) return false;
  let at = questionEnd;
  while (bytes[at]! > 0 && bytes[at]! < 0xc0) at += 1 + bytes[at]!;
  at += bytes[at] === 0 ? 1 : 2;
  const end = at + 10 + bytes.readUInt16BE(at + 8);
  if (bytes.readUInt16BE(at) !== TYPE.SOA || end - at - 10 < SERIAL_FROM_END + 2) return false;
  return ((bytes.readUInt32BE(end - SERIAL_FROM_END) - serial) | 0) >= 0;
}
