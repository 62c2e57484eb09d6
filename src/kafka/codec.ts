import { apiOf, isSupported } from './apis.ts';
import type { ApiName } from './apis.ts';
import { compileDecoder, compileEncoder } from './compile.ts';
import type { Decode, Encode } from './compile.ts';
import { MalformedMessage } from './malformed.ts';
import { MOST_ELEMENTS, MOST_RESPONSE_ELEMENTS, Reader } from './reader.ts';
import { includes, schemaOf } from './schema.ts';
import type { MessageName, Schema } from './schema.ts';
import type { Embedded, Requests, Responses } from './schemas/types.ts';
import { Writer } from './writer.ts';

/**
 * Decoded messages are plain objects. int64 is a bigint; a uuid is a string as Kafka prints it; `bytes` and
 * `records` are views into the decoded buffer, not copies. Fields that the version lacks have their defaults;
 * tagged fields that were not sent are undefined; tagged fields that nobody knows are kept in `unknownTags`.
 */

type Leaf = Buffer | bigint | string | number | boolean | null | undefined;

/** A message in the making: what is left out gets its default. */
export type Draft<T> = T extends Leaf
  ? T
  : T extends (infer Element)[]
    ? Draft<Element>[]
    : { [Key in keyof T]?: Draft<T[Key]> | undefined };

/** Decodes and encodes one message in one version. */
export interface Codec<T> {
  /** As in "Metadata request v12". */
  readonly what: string;
  /** Throws MalformedMessage unless exactly the bytes from `start` to `end` are such a message. */
  decode(bytes: Buffer, start?: number, end?: number): T;
  /**
   * `headRoom` bytes are left free at the front, for a frame's length and header. The result is in `memory`, if that is
   * given and large enough.
   */
  encode(value: Draft<T>, headRoom?: number, memory?: Buffer): Buffer;
}

const LARGEST_GUESS = 65_536;

function createCodec<T>(schema: Schema, version: number, what: string, elements = Infinity): Codec<T> {
  let read: Decode | undefined;
  let write: Encode | undefined;
  let capacity = 256; // messages of a kind are mostly of a size: the last one is the guess for the next
  return {
    what,
    decode(bytes, start = 0, end = bytes.length) {
      read ??= compileDecoder(schema, version);
      const reader = new Reader(bytes, start, end, what, elements);
      const value = read(reader);
      if (reader.at !== reader.end) reader.fail(`${reader.end - reader.at} bytes too many`);
      return value as T;
    },
    encode(value, headRoom = 0, memory?: Buffer) {
      write ??= compileEncoder(schema, version);
      const writer = new Writer(headRoom, capacity, memory);
      write(writer, value);
      capacity = Math.min(LARGEST_GUESS, writer.at - headRoom + 64);
      return writer.done();
    },
  };
}

type Codecs = Map<number, Codec<unknown>>[];
const requests: Codecs = [];
const responses: Codecs = [];

function find(
  codecs: Codecs,
  api: ApiName | number,
  version: number,
  side: 'Request' | 'Response',
): Codec<unknown> {
  const key = typeof api === 'number' ? api : apiOf(api).key;
  const known = codecs[key]?.get(version);
  if (known) return known;
  const name = apiOf(key)?.name;
  const what = `${name ?? `API ${key}`} ${side.toLowerCase()} v${version}`;
  if (!name || !isSupported(key, version))
    throw new MalformedMessage(what, 'no such API or version is known', 0);
  const elements = side === 'Request' ? MOST_ELEMENTS : MOST_RESPONSE_ELEMENTS;
  const codec = createCodec(schemaOf(`${name}${side}`), version, what, elements);
  (codecs[key] ??= new Map()).set(version, codec);
  return codec;
}

/** The codec of an API's request, compiled when first used. Throws MalformedMessage where `isSupported` is false. */
export function requestCodec<Name extends ApiName>(api: Name, version: number): Codec<Requests[Name]>;
export function requestCodec(api: ApiName | number, version: number): Codec<Requests[ApiName]>;
export function requestCodec(api: ApiName | number, version: number): Codec<Requests[ApiName]> {
  return find(requests, api, version, 'Request') as Codec<Requests[ApiName]>;
}

/** The codec of an API's response, compiled when first used. Throws MalformedMessage where `isSupported` is false. */
export function responseCodec<Name extends ApiName>(api: Name, version: number): Codec<Responses[Name]>;
export function responseCodec(api: ApiName | number, version: number): Codec<Responses[ApiName]>;
export function responseCodec(api: ApiName | number, version: number): Codec<Responses[ApiName]> {
  return find(responses, api, version, 'Response') as Codec<Responses[ApiName]>;
}

/** The codec of a message that travels inside others, as in a record of an internal topic; without its version. */
export function embeddedCodec<Name extends keyof Embedded>(
  name: Name,
  version: number,
): Codec<Embedded[Name]> {
  const schema = schemaOf(name satisfies MessageName);
  const what = `${name} v${version}`;
  if (!includes(schema.versions, version)) throw new MalformedMessage(what, 'no such version is known', 0);
  return createCodec(schema, version, what);
}
