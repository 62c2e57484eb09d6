import { formatAddress, parseAddress } from './address.ts';
import { TYPE } from './constants.ts';
import { flatten, formatName, parseName } from './name.ts';
import type { RecordType } from './constants.ts';
import type { Name } from './name.ts';
import type { Parsed, Rdata, Soa } from './record.ts';

/** Reads the data of a record as written in a zone file. */
export function parseRdata(type: RecordType, text: string): Parsed<Rdata> {
  const bad = (expected: string) => ({ problem: `"${text}" is not ${expected}` });
  switch (type) {
    case 'A':
    case 'AAAA': {
      const bytes = parseAddress(text);
      if (bytes?.length === (type === 'A' ? 4 : 16)) return { value: bytes };
      return bad(type === 'A' ? 'an IPv4 address' : 'an IPv6 address');
    }
    case 'CNAME':
    case 'PTR':
    case 'NS': {
      const name = parseName(text);
      return name === undefined ? bad('a domain name') : { value: name };
    }
    case 'SRV':
      return parseSrv(text) ?? bad('"priority weight port target"');
    case 'TXT':
      return parseTxt(text) ?? bad('text of at most 255 bytes a string, 65000 in all');
  }
  return type satisfies never;
}

function parseSrv(text: string): { value: Rdata } | undefined {
  const [priority, weight, port, target = '', ...rest] = text.trim().split(/\s+/);
  const numbers = [priority, weight, port].map((part) => (/^\d{1,5}$/.test(part ?? '') ? Number(part) : -1));
  const name = parseName(target);
  if (name === undefined || rest.length > 0 || numbers.some((n) => n < 0 || n > 0xffff)) return undefined;
  return { value: flatten(numbers.map(uint16).join('') + name) };
}

/** Of 65,000 bytes, each written as `\ddd`, with quotes and blanks. */
const LONGEST_TEXT = 300_000;

/** Quoted strings are taken one by one; anything else is one string. UTF-8, as every tool writes it. */
function parseTxt(text: string): { value: Rdata } | undefined {
  if (text.length > LONGEST_TEXT) return undefined;
  // Blanks in one place of the expression only: what can be matched in two ways is tried in all of them, by all who write records.
  const quoted = /^\s*(?:"(?:[^"\\]|\\.)*"\s*)+$/s.test(text);
  const strings = quoted
    ? [...text.matchAll(/"((?:[^"\\]|\\.)*)"/gs)].map(([, inner]) => unescapeTxt(inner!))
    : [Buffer.from(text, 'utf8').toString('latin1')];
  const pieces = strings.flatMap((bytes) => (quoted ? [bytes] : cut(bytes, 255)));
  if (pieces.some((piece) => piece.length > 255)) return undefined;
  const value = pieces.map((piece) => String.fromCharCode(piece.length) + piece).join('');
  return value.length <= 65_000 ? { value: flatten(value) } : undefined;
}

function unescapeTxt(text: string): string {
  const bytes = Buffer.from(text, 'utf8').toString('latin1');
  return bytes.replace(/\\(\d{3}|[\s\S])/g, (_, escape: string) =>
    escape.length === 3 ? String.fromCharCode(Number(escape) & 0xff) : escape,
  );
}

function cut(text: string, size: number): string[] {
  const pieces: string[] = [];
  for (let at = 0; at === 0 || at < text.length; at += size) pieces.push(text.slice(at, at + size));
  return pieces;
}

/** Writes record data as in a zone file. */
export function formatRdata(type: number, data: Rdata): string {
  switch (type) {
    case TYPE.A:
    case TYPE.AAAA:
      return formatAddress(data);
    case TYPE.CNAME:
    case TYPE.PTR:
    case TYPE.NS:
      return formatName(data);
    case TYPE.SRV:
      return `${readUint16(data, 0)} ${readUint16(data, 2)} ${readUint16(data, 4)} ${formatName(data.slice(6))}`;
    case TYPE.TXT:
      return formatTxt(data);
    case TYPE.SOA:
      return formatSoa(data);
    default:
      return `\\# ${data.length} ${Buffer.from(data, 'latin1').toString('hex')}`;
  }
}

function formatTxt(data: Rdata): string {
  const strings: string[] = [];
  for (let at = 0; at < data.length; at += 1 + data.charCodeAt(at)) {
    const text = data.slice(at + 1, at + 1 + data.charCodeAt(at));
    strings.push(
      `"${text.replace(/["\\]|[^ -~]/g, (char) =>
        char === '"' || char === '\\' ? `\\${char}` : `\\${String(char.charCodeAt(0)).padStart(3, '0')}`,
      )}"`,
    );
  }
  return strings.join(' ');
}

/** The data of a zone's SOA record. */
export function soaRdata(soa: Soa): Rdata {
  const numbers = [soa.serial, soa.refresh, soa.retry, soa.expire, soa.negativeTtl];
  return flatten(soa.primary + soa.contact + numbers.map(uint32).join(''));
}

function formatSoa(data: Rdata): string {
  const primary = nameAt(data, 0);
  const contact = nameAt(data, primary.length);
  const at = primary.length + contact.length;
  const numbers = [0, 4, 8, 12, 16].map((offset) => readUint32(data, at + offset));
  return `${formatName(primary)} ${formatName(contact)} ${numbers.join(' ')}`;
}

function nameAt(data: Rdata, at: number): Name {
  let end = at;
  while (data.charCodeAt(end) !== 0) end += 1 + data.charCodeAt(end);
  return data.slice(at, end + 1);
}

/** The host that clients of this record look up next; its addresses belong in the additional section. */
export function targetOf(type: number, data: Rdata): Name | undefined {
  if (type === TYPE.NS) return data;
  return type === TYPE.SRV ? data.slice(6) : undefined;
}

function uint16(value: number): string {
  return String.fromCharCode(value >> 8, value & 0xff);
}

function uint32(value: number): string {
  return uint16(value >>> 16) + uint16(value & 0xffff);
}

function readUint16(data: string, at: number): number {
  return (data.charCodeAt(at) << 8) | data.charCodeAt(at + 1);
}

function readUint32(data: string, at: number): number {
  return readUint16(data, at) * 0x10000 + readUint16(data, at + 2);
}
