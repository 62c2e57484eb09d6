// A server without sockets, filled from lines of text, whose answers are read by another DNS library.
import packet from 'dns-packet';
import { dnsConfigSchema, zoneSpecOf } from '../../../src/dns/server/config.ts';
import { createResponder, MAX_RESPONSE } from '../../../src/dns/server/responder.ts';
import { createClientAddress } from '../../../src/dns/wire/client-address.ts';
import { rcodeName, typeNumber } from '../../../src/dns/wire/constants.ts';
import { parseName } from '../../../src/dns/wire/name.ts';
import { createStore } from '../../../src/dns/zone/store.ts';
import { applyUpdate } from '../../../src/dns/zone/update.ts';
import { createZones } from '../../../src/dns/zone/zones.ts';
import type { z } from 'zod';
import type { RecordType } from '../../../src/dns/wire/constants.ts';
import type { DnsRecord } from '../../../src/dns/wire/record.ts';
import type { TsigKey } from '../../../src/dns/wire/tsig.ts';

export interface Reply {
  rcode: string;
  authoritative: boolean;
  truncated: boolean;
  /** `name ttl TYPE data`, in the order of the message. */
  answer: string[];
  authority: string[];
  additional: string[];
  question: string;
  bytes: Buffer;
}

export interface AskOptions {
  tcp?: boolean;
  payload?: number;
  id?: number;
  class?: number;
}

/** Reads records from lines of `name [ttl] TYPE data`. */
export function records(text: string): DnsRecord[] {
  const lines = text.split('\n').map((line) => line.trim());
  return lines
    .filter((line) => line !== '')
    .map((line) => {
      const [, name, ttl, type, data] = /^(\S+)\s+(?:(\d+)\s+)?([A-Z]+)\s+(.*)$/.exec(line)!;
      return { name: name!, type: type as RecordType, data: data!, ...(ttl && { ttl: Number(ttl) }) };
    });
}

/** A configuration of the DNS server as it is written. */
export type DnsConfigInput = z.input<typeof dnsConfigSchema>;
export type ZoneInput = DnsConfigInput['zones'][number];

/** A server with zones `example.test` (or those given) and the records of `text`. */
export function serveText(
  text: string,
  zoneInputs: ZoneInput[] = [{ name: 'example.test', nameservers: ['ns.example.test'] }],
  keys: TsigKey[] = [],
) {
  const config = dnsConfigSchema.parse({ zones: zoneInputs });
  const zones = createZones();
  const store = createStore(config.zones.map(zoneSpecOf), (update) => applyUpdate(zones, update), {
    now: () => 1000,
  });
  const problems = store.upsert('test records', records(text));
  store.setReady(true);
  const responder = createResponder(zones, {
    maxUdpPayload: 1232,
    cookies: { current: new Uint8Array(16), previous: [] },
    keys,
    transferAllowed: () => true,
    isTransferable: () => true,
  });
  const client = createClientAddress();
  const out = Buffer.alloc(MAX_RESPONSE);

  function send(query: Uint8Array, tcp = false): Buffer {
    const size = responder.respond(query, 0, query.length, out, 0, client, tcp);
    return Buffer.from(out.subarray(0, Math.max(0, size)));
  }
  return {
    zones,
    store,
    problems,
    responder,
    send,
    ask: (name: string, type: string, options: AskOptions = {}) =>
      readReply(send(question(name, type, options), options.tcp)),
  };
}

/** The bytes of a query. */
export function question(name: string, type: string, options: AskOptions = {}): Buffer {
  const { payload } = options;
  // dns-packet cannot ask for every type, nor keep every byte of a name: the question is made by hand.
  const header = Buffer.from([0, 0, 0, 0, 0, 1, 0, 0, 0, 0, 0, payload === undefined ? 0 : 1]);
  header.writeUInt16BE(options.id ?? 0, 0);
  const tail = Buffer.alloc(4);
  tail.writeUInt16BE(typeNumber(type)!, 0);
  tail.writeUInt16BE(options.class ?? 1, 2);
  const opt = Buffer.from([0, 0, 41, 0, 0, 0, 0, 0, 0, 0, 0]);
  opt.writeUInt16BE(payload ?? 0, 3);
  const spelled = spelledName(name);
  return Buffer.concat([header, spelled, tail, ...(payload === undefined ? [] : [opt])]);
}

/** The wire form of a name with its case kept, which parseName would lower. */
function spelledName(name: string): Buffer {
  const wire = Buffer.from(parseName(name)!, 'latin1');
  let at = 0;
  for (const char of name.endsWith('.') ? name : `${name}.`) {
    if (/[A-Z]/.test(char)) wire[at + 1] = char.charCodeAt(0);
    at += 1;
  }
  return wire;
}

/** Reads an answer with dns-packet. */
export function readReply(bytes: Buffer): Reply {
  const message = packet.decode(bytes) as packet.DecodedPacket & { flag_aa: boolean; flag_tc: boolean };
  const { questions = [], answers = [], authorities = [], additionals = [] } = message;
  return {
    rcode: rcodeName(bytes[3]! & 15),
    authoritative: message.flag_aa,
    truncated: message.flag_tc,
    question: questions.map(({ name }) => name).join(),
    answer: answers.map(lineOf),
    authority: authorities.map(lineOf),
    additional: additionals.filter(({ type }) => type !== 'OPT').map(lineOf),
    bytes,
  };
}

function lineOf(answer: packet.Answer): string {
  const { name, type, ttl, data } = answer as { name: string; type: string; ttl: number; data: unknown };
  return `${name} ${ttl} ${type} ${dataOf(data)}`;
}

function dataOf(data: unknown): string {
  if (Array.isArray(data)) return data.map(String).join('|');
  if (Buffer.isBuffer(data)) return data.toString('hex');
  if (typeof data === 'object' && data !== null) return Object.values(data).join(' ');
  return String(data);
}
