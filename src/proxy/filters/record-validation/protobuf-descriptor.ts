/** The types of a FileDescriptorSet, which `protoc --descriptor_set_out` writes: itself a message, of google/protobuf/descriptor.proto. */
import { Reader } from '../../../kafka/reader.ts';
import { bytesOf, readInt32, readPart, readTag, skipField, WIRE } from './protobuf-wire.ts';

export interface MessageType {
  fields: ReadonlyMap<number, Field>;
  /** The numbers of fields that have to be there. */
  required: ReadonlySet<number>;
  /** Whether it, or any message below it, has such fields. */
  isDemanding: boolean;
  /** Where it stands in its file, by the ways that there are to count: with the messages that stand for maps, or without. */
  places: readonly string[];
}

export interface Field {
  type: FieldType;
  isRepeated: boolean;
  /** The number of the oneof that it is in. */
  oneof: number | undefined;
}

export type FieldType = ScalarType | InnerType;

export interface InnerType {
  kind: 'message' | 'group';
  message: MessageType;
}

export type ScalarType =
  | { kind: 'varint' | 'fixed32' | 'fixed64' | 'string' | 'bytes' }
  /** Other numbers are as good as unknown fields; undefined if there are none. */
  | { kind: 'enum'; numbers: ReadonlySet<number> | undefined };

/** By the number of the type in a descriptor. */
const KINDS: readonly (FieldType['kind'] | undefined)[] = [
  undefined,
  'fixed64', // double
  'fixed32', // float
  'varint',
  'varint',
  'varint',
  'fixed64',
  'fixed32',
  'varint', // bool
  'string',
  'group',
  'message',
  'bytes',
  'varint',
  'enum',
  'fixed32',
  'fixed64',
  'varint',
  'varint',
];
/** Of a name with those of all that it is in: these stand once in a descriptor, and in the name of each type below them. */
const MOST_NAME = 1000;
const REQUIRED = 2;
const REPEATED = 3;

// The numbers of fields in descriptor.proto.
const SET = { file: 1 };
const FILE = { package: 2, message: 4, enum: 5, extension: 7, syntax: 12, edition: 14 };
const MESSAGE = { name: 1, field: 2, nested: 3, enum: 4, extension: 6, options: 7 };
const MESSAGE_OPTIONS = { messageSet: 1, mapEntry: 7 };
const ENUM = { name: 1, value: 2 };
const FIELD = { name: 1, extendee: 2, number: 3, label: 4, type: 5, typeName: 6, oneof: 9 };
const ENUM_VALUE = { number: 2 };

/** The fields of a message that are of use here, by their numbers. */
interface Decoded {
  int(number: number): number | undefined;
  text(number: number): string;
  all(number: number): Decoded[];
}

function decode(bytes: Buffer): Decoded {
  const ints = new Map<number, number>();
  const parts = new Map<number, Buffer[]>();
  const reader = new Reader(bytes, 0, bytes.length, 'FileDescriptorSet');
  while (reader.at < reader.end) {
    const { number, wire } = readTag(reader);
    if (wire === WIRE.varint) ints.set(number, readInt32(reader));
    else if (wire === WIRE.bytes) {
      const part = bytesOf(readPart(reader));
      const before = parts.get(number);
      if (before) before.push(part);
      else parts.set(number, [part]);
    } else skipField(reader, wire);
  }
  return {
    int: (number) => ints.get(number),
    text: (number) => parts.get(number)?.at(-1)?.toString() ?? '',
    all: (number) => (parts.get(number) ?? []).map(decode),
  };
}

/** A message while its fields are gathered: they may be of types that come later, and extended from anywhere. */
interface Draft extends MessageType {
  fields: Map<number, Field>;
  required: Set<number>;
  places: string[];
}

function nameIn(scope: string, name: string): string {
  if (scope.length + name.length >= MOST_NAME)
    throw new Error(`has a type whose full name is longer than ${MOST_NAME} characters`);
  return `${scope}.${name}`;
}

/** The message of this name. Throws MalformedMessage, or an error that says what is not as it has to be. */
export function readDescriptor(bytes: Buffer, name: string): MessageType {
  const messages = new Map<string, Draft>();
  const enums = new Map<string, ScalarType>();
  const fields: { owner: string; field: Decoded }[] = [];

  function addMessage(given: Decoded, scope: string, places: string[], isProto2: boolean): void {
    const full = nameIn(scope, given.text(MESSAGE.name));
    const [options] = given.all(MESSAGE.options);
    if (options?.int(MESSAGE_OPTIONS.messageSet))
      throw new Error(`has the message set ${full}, which is not known here`);
    messages.set(full, { fields: new Map(), required: new Set(), isDemanding: false, places });
    for (const field of given.all(MESSAGE.field)) fields.push({ owner: full, field });
    addExtensions(given.all(MESSAGE.extension));
    for (const each of given.all(MESSAGE.enum)) addEnum(each, full, isProto2);
    const [all = '', without = ''] = places;
    let written = -1;
    for (const [i, each] of given.all(MESSAGE.nested).entries()) {
      const isMap = each.all(MESSAGE.options)[0]?.int(MESSAGE_OPTIONS.mapEntry);
      if (!isMap) written += 1;
      addMessage(each, full, [`${all},${i}`, `${without},${isMap ? -1 : written}`], isProto2);
    }
  }

  function addExtensions(list: readonly Decoded[]): void {
    for (const field of list) fields.push({ owner: field.text(FIELD.extendee), field });
  }

  function addEnum(given: Decoded, scope: string, isClosed: boolean): void {
    const numbers = new Set(given.all(ENUM.value).map((value) => value.int(ENUM_VALUE.number) ?? 0));
    const full = nameIn(scope, given.text(ENUM.name));
    enums.set(full, { kind: 'enum', numbers: isClosed ? numbers : undefined });
  }

  function addFile(file: Decoded): void {
    if (file.int(FILE.edition) !== undefined)
      throw new Error('has a file of an edition; proto2 and proto3 are known here');
    const isProto2 = file.text(FILE.syntax) !== 'proto3';
    const scope = file.text(FILE.package) && `.${file.text(FILE.package)}`;
    for (const each of file.all(FILE.enum)) addEnum(each, scope, isProto2);
    for (const [i, each] of file.all(FILE.message).entries())
      addMessage(each, scope, [String(i), String(i)], isProto2);
    addExtensions(file.all(FILE.extension));
  }

  function find<T>(types: ReadonlyMap<string, T>, type: string): T {
    const found = types.get(type);
    if (!found)
      throw new Error(
        `refers to ${type}, which is not in it: protoc takes imports along with --include_imports`,
      );
    return found;
  }

  function typeOf(field: Decoded): FieldType {
    const kind = KINDS[field.int(FIELD.type) ?? 0];
    if (!kind) throw new Error(`has a field ${field.text(FIELD.name)} of no type that there is`);
    if (kind === 'enum') return find(enums, field.text(FIELD.typeName));
    if (kind !== 'message' && kind !== 'group') return { kind };
    return { kind, message: find(messages, field.text(FIELD.typeName)) };
  }

  for (const file of decode(bytes).all(SET.file)) addFile(file);
  for (const { owner, field } of fields) {
    const message = find(messages, owner);
    const number = field.int(FIELD.number) ?? 0;
    const label = field.int(FIELD.label);
    message.fields.set(number, {
      type: typeOf(field),
      isRepeated: label === REPEATED,
      oneof: field.int(FIELD.oneof),
    });
    if (label === REQUIRED) message.required.add(number);
  }
  spreadDemands([...messages.values()]);
  const found = messages.get(`.${name}`);
  if (!found) throw new Error(`has no message ${name}`);
  return found;
}

/** From messages that have required fields to all that may have them below, which may be in circles. */
function spreadDemands(messages: readonly Draft[]): void {
  const uses = messages.flatMap((user) =>
    [...user.fields.values()].flatMap(({ type }) => ('message' in type ? { user, inner: type.message } : [])),
  );
  const users = Map.groupBy(uses, ({ inner }) => inner);
  const demanding = messages.filter(({ required }) => required.size > 0);
  for (const each of demanding) each.isDemanding = true;
  for (const each of demanding)
    for (const { user } of users.get(each) ?? []) {
      if (!user.isDemanding) demanding.push(user);
      user.isDemanding = true;
    }
}
