import { apiOf } from './apis.ts';
import type { ApiName } from './apis.ts';
import { requestCodec, responseCodec } from './codec.ts';
import type { Draft } from './codec.ts';
import { MOST_ELEMENTS, Reader } from './reader.ts';
import type { Requests, Responses, UnknownTag } from './schemas/types.ts';
import { Writer } from './writer.ts';

/**
 * A frame on the wire:
 *
 *   length   int32, of what follows
 *   header   request:  apiKey int16, apiVersion int16, correlationId int32, clientId string or null (v1), tags (v2)
 *            response: correlationId int32, tags (v1)
 *   body     see codec.ts
 */

const API_VERSIONS = 18;
const CONTROLLED_SHUTDOWN = 7;

export interface RequestHeader {
  apiKey: number;
  apiVersion: number;
  correlationId: number;
  clientId: string | null;
  unknownTags?: UnknownTag[] | undefined;
}

export interface ResponseHeader {
  correlationId: number;
  unknownTags?: UnknownTag[] | undefined;
}

/**
 * 2 where the version is flexible, else 1. ControlledShutdown v0 alone has 0 (no client id). An API that is not known
 * here is newer than we are, and every API since 2020 was flexible from the start.
 */
export function requestHeaderVersion(apiKey: number, apiVersion: number): 0 | 1 | 2 {
  if (apiKey === CONTROLLED_SHUTDOWN) return apiVersion === 0 ? 0 : apiVersion >= 3 ? 2 : 1;
  return isFlexible(apiKey, apiVersion) ? 2 : 1;
}

/** 1 where the version is flexible, else 0; always 0 for ApiVersions, whose client may not know our versions yet. */
export function responseHeaderVersion(apiKey: number, apiVersion: number): 0 | 1 {
  return apiKey !== API_VERSIONS && isFlexible(apiKey, apiVersion) ? 1 : 0;
}

function isFlexible(apiKey: number, apiVersion: number): boolean {
  const api = apiOf(apiKey);
  if (!api) return true;
  return api.flexible >= 0 && apiVersion >= api.flexible;
}

/** Reads the header of a request that begins at `start`, after the frame's length; `end` is where the body begins. */
export function decodeRequestHeader(
  bytes: Buffer,
  start = 0,
  limit = bytes.length,
): RequestHeader & { end: number } {
  const reader = new Reader(bytes, start, limit, 'request header', MOST_ELEMENTS);
  const apiKey = reader.int16();
  const apiVersion = reader.int16();
  const correlationId = reader.int32();
  const headerVersion = requestHeaderVersion(apiKey, apiVersion);
  const clientId = headerVersion === 0 ? null : reader.nullableString();
  const unknownTags = headerVersion === 2 ? readTags(reader) : undefined;
  return { apiKey, apiVersion, correlationId, clientId, unknownTags, end: reader.at };
}

/** Reads the header of a response to a request of this API and version; `end` is where the body begins. */
export function decodeResponseHeader(
  apiKey: number,
  apiVersion: number,
  bytes: Buffer,
  start = 0,
  limit = bytes.length,
): ResponseHeader & { end: number } {
  const reader = new Reader(bytes, start, limit, 'response header');
  const correlationId = reader.int32();
  const unknownTags = responseHeaderVersion(apiKey, apiVersion) === 1 ? readTags(reader) : undefined;
  return { correlationId, unknownTags, end: reader.at };
}

function readTags(reader: Reader): UnknownTag[] | undefined {
  const count = reader.unsignedVarint();
  if (count === 0) return undefined;
  if (count * 2 > reader.end - reader.at)
    reader.fail(`${count} tagged fields, ${reader.end - reader.at} bytes left`);
  reader.spend(count);
  const tags: UnknownTag[] = [];
  for (let i = 0; i < count; i++) {
    const tag = reader.unsignedVarint();
    const size = reader.unsignedVarint();
    const from = reader.take(size);
    tags.push({ tag, data: reader.bytes.subarray(from, from + size) });
  }
  return tags;
}

function writeTags(writer: Writer, tags: UnknownTag[] | undefined): void {
  writer.unsignedVarint(tags?.length ?? 0);
  for (const tag of tags ?? []) writer.unknownTag(tag);
}

function requestHeaderBytes(header: RequestHeader): Buffer {
  const version = requestHeaderVersion(header.apiKey, header.apiVersion);
  const writer = new Writer(4, 64);
  writer.int16(header.apiKey);
  writer.int16(header.apiVersion);
  writer.int32(header.correlationId);
  if (version >= 1) writer.string(header.clientId);
  if (version >= 2) writeTags(writer, header.unknownTags);
  return writer.done();
}

function responseHeaderBytes(apiKey: number, apiVersion: number, header: ResponseHeader): Buffer {
  const writer = new Writer(4, 16);
  writer.int32(header.correlationId);
  if (responseHeaderVersion(apiKey, apiVersion) === 1) writeTags(writer, header.unknownTags);
  return writer.done();
}

/** Puts length and header into the head room that was left for them. */
function completeFrame(frame: Buffer, header: Buffer): Buffer {
  header.writeInt32BE(frame.length - 4, 0);
  frame.set(header, 0);
  return frame;
}

/** A whole request frame, length included; in `memory`, if that is given and large enough. */
export function encodeRequest(
  header: RequestHeader,
  body: Draft<Requests[ApiName]>,
  memory?: Buffer,
): Buffer {
  const head = requestHeaderBytes(header);
  const codec = requestCodec(header.apiKey, header.apiVersion);
  return completeFrame(codec.encode(body, head.length, memory), head);
}

/** A whole response frame, length included, to a request of this API and version; in `memory`, as above. */
export function encodeResponse(
  apiKey: number,
  apiVersion: number,
  header: ResponseHeader,
  body: Draft<Responses[ApiName]>,
  memory?: Buffer,
): Buffer {
  const head = responseHeaderBytes(apiKey, apiVersion, header);
  return completeFrame(responseCodec(apiKey, apiVersion).encode(body, head.length, memory), head);
}
