import { apiOf } from './apis.ts';
import { FIXED_SIZES } from './compile.ts';
import { MalformedMessage } from './malformed.ts';
import { Reader } from './reader.ts';
import { includes, schemaOf } from './schema.ts';
import type { Field, MessageName } from './schema.ts';

/**
 * The first topic that a request names, for people who look on. Only the fields before it are walked, so the beginning of a
 * frame is enough; what does not say it in the bytes that there are has none.
 */
export type TopicRef = { name: string } | { id: string };

interface Walk {
  reader: Reader;
  version: number;
  flexible: boolean;
}

const NO_TOPIC_ID = 'A'.repeat(22);
const TOPICS = /^topic/;
const NAMES = new Set(['name', 'topic', 'topicName']);

/** `from` is where the body begins. */
export function firstTopic(
  apiKey: number,
  apiVersion: number,
  bytes: Buffer,
  from: number,
  end: number,
): TopicRef | undefined {
  const api = apiOf(apiKey);
  if (!api || apiVersion < api.min || apiVersion > api.max) return undefined;
  const name = `${api.name}Request` as MessageName;
  const reader = new Reader(bytes, from, end, name);
  const flexible = api.flexible >= 0 && apiVersion >= api.flexible;
  try {
    return topicIn(schemaOf(name).fields, { reader, version: apiVersion, flexible });
  } catch (error) {
    if (error instanceof MalformedMessage) return undefined;
    throw error;
  }
}

function topicIn(fields: readonly Field[], walk: Walk): TopicRef | undefined {
  for (const field of fields) {
    if (field.tag !== undefined || !includes(field.versions, walk.version)) continue;
    if (field.array) {
      const length = lengthOf(walk, 'array');
      if (length > 0) return TOPICS.test(field.name) ? firstElement(field, walk) : undefined;
    } else skip(field, walk);
  }
  return undefined;
}

function firstElement(field: Field, walk: Walk): TopicRef | undefined {
  if (!field.fields) return field.type === 'string' ? { name: text(walk) } : undefined;
  let id: string | undefined;
  for (const inner of field.fields) {
    if (inner.tag !== undefined || !includes(inner.versions, walk.version)) continue;
    if (inner.array) break;
    if (inner.name === 'topicId') id = walk.reader.uuid();
    else if (NAMES.has(inner.name)) {
      const name = text(walk);
      if (name !== '') return { name };
    } else skip(inner, walk);
  }
  return id === undefined || id === NO_TOPIC_ID ? undefined : { id };
}

function lengthOf({ reader, flexible }: Walk, of: 'array' | 'string' | 'bytes'): number {
  if (flexible) return reader.unsignedVarint() - 1;
  return of === 'string' ? reader.int16() : reader.int32();
}

function text(walk: Walk): string {
  const length = Math.max(0, lengthOf(walk, 'string'));
  const at = walk.reader.take(length);
  return walk.reader.bytes.toString('utf8', at, at + length);
}

/** Structs that are not in an array stand before no topics in any request. */
function skip({ type, fields, name }: Field, walk: Walk): void {
  if (fields) return walk.reader.fail(`${name} is a struct`);
  const size = FIXED_SIZES[type] ?? lengthOf(walk, type === 'string' ? 'string' : 'bytes');
  if (size > 0) walk.reader.take(size);
}
