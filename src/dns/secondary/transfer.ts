import { TYPE } from '../wire/constants.ts';
import { beginMessage, createMessage, putRecords, set16, SLACK } from '../wire/message.ts';
import { firstData, packRRset, unpackRRset } from '../wire/packed-rrset.ts';
import { createSearchName, setSearchName } from '../wire/search-name.ts';
import { nameOf, nodesOf, rrsetsOf, soaOf } from '../zone/zone.ts';
import type { Message } from '../wire/message.ts';
import type { Name } from '../wire/name.ts';
import type { PackedRRset } from '../wire/packed-rrset.ts';
import type { Zone } from '../zone/zone.ts';

/** Size of a transfer's messages: small enough that every name in one can be pointed at. */
const MESSAGE_SIZE = 16_000;
/** For a record that fills a message alone: what TCP can carry, without what a signature may take. */
const MAX_MESSAGE = 65_535 - 512;

/**
 * The messages of a zone transfer (RFC 5936): every record of the zone between two copies of its SOA. All records are listed
 * first, so that a change during the transfer is not in half of it. A secondary that asks for what has changed (IXFR) and
 * has the present serial, or a later one, gets the SOA alone (RFC 1995 section 2).
 */
export function* transferMessages(
  zone: Zone,
  query: Uint8Array,
  questionEnd: number,
  type: number,
): Generator<Uint8Array> {
  const isCurrent = type === TYPE.IXFR && hasSerial(query, questionEnd, serialOf(zone));
  const records = isCurrent ? [soaRecord(zone)] : listRecords(zone);
  const header = query.slice(0, questionEnd);
  const question = createSearchName();
  setSearchName(question, zone.name);
  const message = createMessage(question);
  const out = new Uint8Array(MAX_MESSAGE + SLACK);
  for (let next = 0; next < records.length;) {
    beginMessage(message, out, 0, MESSAGE_SIZE);
    out.set(header);
    message.at = header.length;
    const from = next;
    next = putAll(message, records, from);
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

/** One record, in memory of its own. */
interface ZoneRecord {
  owner: Name;
  rrset: PackedRRset;
}

function soaRecord(zone: Zone): ZoneRecord {
  return { owner: zone.name, rrset: packRRset(unpackRRset(soaOf(zone))) };
}

function serialOf(zone: Zone): number {
  return numberAt(firstData(soaOf(zone)), SERIAL_FROM_END);
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

function listRecords(zone: Zone): ZoneRecord[] {
  const start = soaRecord(zone);
  const records = [start];
  for (const node of nodesOf(zone)) {
    const owner = nameOf(zone, node);
    for (const { data, ...rest } of rrsetsOf(zone, node)) {
      if (rest.type === TYPE.SOA) continue;
      for (const each of data) records.push({ owner, rrset: packRRset({ ...rest, data: [each] }) });
    }
  }
  records.push(start);
  return records;
}

/** Writes as many records as fit; returns the index of the first that did not. */
function putAll(message: Message, records: readonly ZoneRecord[], from: number): number {
  for (let i = from; i < records.length; i++) {
    const { at } = message;
    if (!putZoneRecord(message, records[i]!)) {
      message.at = at;
      return i;
    }
  }
  return records.length;
}

function putZoneRecord(message: Message, { owner, rrset }: ZoneRecord): boolean {
  return putRecords(message, owner, rrset, rrset.ttl, 0) === 1;
}
