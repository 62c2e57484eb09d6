import { SCHEMAS } from './schemas/messages.ts';

/**
 * The schema language, one message a text, one field a line, nested fields indented:
 *
 *   3-13 flexible:9+                                  valid versions; first version with tagged fields
 *   topicData []TopicProduceData                      name, type; in every version
 *     name string 0-12 @topicName                     in versions 0 to 12; what kind of name it is
 *     records records null                            may be null
 *   rack string 10+ null:11+ tag:0 =null              null from 11 on; a tagged field; its default
 *   struct TopicProduceData                           a struct that several fields use
 */

/** Inclusive; `none` has `from` above `to`. */
export interface Versions {
  from: number;
  to: number;
}

export interface Field {
  name: string;
  /** A scalar type's name, or a struct's. */
  type: string;
  array: boolean;
  versions: Versions;
  nullable: Versions;
  tag: number | undefined;
  /** As Kafka writes it; undefined where it is the type's own zero value. */
  fallback: string | undefined;
  /** What its value is the name of, or each of its values: `topicName`, `groupId`, `transactionalId`. */
  names: string | undefined;
  /** The fields of the struct, where `type` is one. */
  fields: Field[] | undefined;
}

export interface Schema {
  name: MessageName;
  versions: Versions;
  flexible: Versions;
  fields: Field[];
}

export type MessageName = keyof typeof SCHEMAS;

const ALWAYS: Versions = { from: 0, to: 32_767 };
/** No version at all. */
export const NEVER: Versions = { from: 1, to: 0 };

const SCALARS = new Set(
  'bool int8 int16 uint16 int32 uint32 int64 float64 uuid string bytes records'.split(' '),
);

/** Whether a range of versions has this one. */
export const includes = (versions: Versions, version: number): boolean =>
  version >= versions.from && version <= versions.to;

function parseVersions(text: string): Versions {
  if (text === 'none') return NEVER;
  const [from = '', to] = text.split(/[-+]/);
  const first = Number(from);
  if (text.endsWith('+')) return { from: first, to: ALWAYS.to };
  return { from: first, to: to === undefined ? first : Number(to) };
}

function parseField(words: string[]): Field {
  const [name = '', typeWord = '', ...rest] = words;
  const array = typeWord.startsWith('[]');
  const field: Field = {
    name,
    type: array ? typeWord.slice(2) : typeWord,
    array,
    versions: ALWAYS,
    nullable: NEVER,
    tag: undefined,
    fallback: undefined,
    names: undefined,
    fields: undefined,
  };
  for (const word of rest) {
    if (word === 'null') field.nullable = field.versions;
    else if (word.startsWith('null:')) field.nullable = parseVersions(word.slice(5));
    else if (word.startsWith('tag:')) field.tag = Number(word.slice(4));
    else if (word.startsWith('=')) field.fallback = word.slice(1);
    else if (word.startsWith('@')) field.names = word.slice(1);
    else if (/^\d|^none$/.test(word)) field.versions = parseVersions(word);
  }
  return field;
}

/** Gives every field of a shared struct's type that struct's fields. */
function linkStructs(fields: Field[], structs: Map<string, Field[]>): void {
  for (const field of fields) {
    if (field.fields?.length === 0) field.fields = structs.get(field.type);
    if (field.fields) linkStructs(field.fields, structs);
  }
}

function parse(name: MessageName, text: string): Schema {
  const [head = '', ...lines] = text.split('\n');
  const [versions = '', flexible = ''] = head.split(' ');
  const fields: Field[] = [];
  const structs = new Map<string, Field[]>();
  const open: Field[][] = [fields]; // by depth: the list that takes a field
  for (const line of lines) {
    const depth = line.search(/\S/) / 2;
    const words = line.trim().split(' ');
    const below: Field[] = [];
    if (words[0] === 'struct') {
      structs.set(words[1]!, below);
    } else {
      const field = parseField(words);
      if (!SCALARS.has(field.type)) field.fields = below;
      open[depth]!.push(field);
    }
    open[depth + 1] = below;
  }
  linkStructs(fields, structs);
  const flexibleFrom = flexible.slice('flexible:'.length);
  return { name, versions: parseVersions(versions), flexible: parseVersions(flexibleFrom), fields };
}

const parsed = new Map<MessageName, Schema>();

/** The schema of a message, parsed when it is first asked for: most processes need a handful of the 198. */
export function schemaOf(name: MessageName): Schema {
  let schema = parsed.get(name);
  if (!schema) parsed.set(name, (schema = parse(name, SCHEMAS[name])));
  return schema;
}
