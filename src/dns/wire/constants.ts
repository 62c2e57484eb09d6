/** Record types that have a name here; a query for any other type gets NODATA (RFC 3597). */
export const TYPE = {
  A: 1,
  NS: 2,
  CNAME: 5,
  SOA: 6,
  PTR: 12,
  TXT: 16,
  AAAA: 28,
  SRV: 33,
  OPT: 41,
  DS: 43,
  TKEY: 249,
  TSIG: 250,
  IXFR: 251,
  AXFR: 252,
  MAILB: 253,
  MAILA: 254,
  ANY: 255,
} as const;

export const RCODE = {
  NOERROR: 0,
  FORMERR: 1,
  SERVFAIL: 2,
  NXDOMAIN: 3,
  NOTIMP: 4,
  REFUSED: 5,
  NOTAUTH: 9,
  BADVERS: 16,
} as const;

/** The types that a record may have, as they are written in configuration. */
export const RECORD_TYPES = ['A', 'AAAA', 'CNAME', 'SRV', 'TXT', 'PTR', 'NS'] as const;
export type RecordType = (typeof RECORD_TYPES)[number];

const NAMES = new Map<number, string>(Object.entries(TYPE).map(([name, number]) => [number, name]));

/** The name of a type, or TYPEnnn (RFC 3597). */
export function typeName(type: number): string {
  return NAMES.get(type) ?? `TYPE${type}`;
}

/** The number of a type written as a name or as TYPEnnn; undefined if it is neither. */
export function typeNumber(name: string): number | undefined {
  const upper = name.toUpperCase();
  if (Object.hasOwn(TYPE, upper)) return TYPE[upper as keyof typeof TYPE];
  const number = /^TYPE(\d{1,5})$/.exec(upper);
  return number && Number(number[1]) <= 0xffff ? Number(number[1]) : undefined;
}

/** The name of a response code. */
export function rcodeName(rcode: number): string {
  return Object.entries(RCODE).find(([, number]) => number === rcode)?.[0] ?? `RCODE${rcode}`;
}

export const CLASS_IN = 1;

/** The largest TTL (RFC 2181 section 8). */
export const MAX_TTL = 0x7fff_ffff;

/** EDNS option codes: cookies (RFC 7873) and extended errors (RFC 8914). */
export const EDNS_OPTION = { COOKIE: 10, EDE: 15 } as const;

export const HEADER_SIZE = 12;
/** The longest name and the longest label, in bytes on the wire (RFC 1035 section 2.3.4). */
export const MAX_NAME = 255;
export const MAX_LABEL = 63;

/** The largest query that is read; a longer datagram is dropped. Queries in the wild stay below 300 bytes. */
export const MAX_QUERY = 4096;
