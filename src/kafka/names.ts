import type { ApiName } from './apis.ts';
import { includes, schemaOf } from './schema.ts';
import type { Field, MessageName, Versions } from './schema.ts';

/**
 * The names of topics, groups and transactional ids in a message, wherever its schema says that a field holds one. What
 * changes or checks names goes by this, so that no field of no version is forgotten.
 */

const KINDS = ['topicName', 'groupId', 'transactionalId'] as const;
export type NameKind = (typeof KINDS)[number];

/** A field that holds names, or leads to some. */
interface NameField {
  field: string;
  array: boolean;
  /** Undefined where it only leads to some. */
  kind: NameKind | undefined;
  versions: Versions;
  inner: NameField[];
}

const isKind = (text: string | undefined): text is NameKind => KINDS.includes(text as NameKind);

function nameFields(fields: readonly Field[]): NameField[] {
  return fields.flatMap(({ name, array, names, versions, fields: inner }): NameField[] => {
    if (isKind(names)) return [{ field: name, array, kind: names, versions, inner: [] }];
    const below = inner ? nameFields(inner) : [];
    return below.length > 0 ? [{ field: name, array, kind: undefined, versions, inner: below }] : [];
  });
}

const found = new Map<MessageName, NameField[]>();

function fieldsOf(message: MessageName): NameField[] {
  let fields = found.get(message);
  if (!fields) found.set(message, (fields = nameFields(schemaOf(message).fields)));
  return fields;
}

/** Whether the message can hold a name. */
export const hasNames = (message: MessageName): boolean => fieldsOf(message).length > 0;

/** What becomes of a name; undefined takes the entry away that it is the name of. */
export type ChangeName = (kind: NameKind, name: string) => string | undefined;

type Values = Record<string, unknown>;

/**
 * Changes all names of a decoded message in place. An entry of a list whose name is taken away goes with it; a name that
 * belongs to no entry becomes empty. Null stays null. Fields that the version lacks have defaults, which are no names:
 * whoever takes an empty name for one has to say the version.
 */
export function changeNames(message: MessageName, body: object, change: ChangeName, version?: number): void {
  const fields = fieldsOf(message);
  const present = fields.filter(({ versions }) => version === undefined || includes(versions, version));
  changeIn(present, body as Values, change);
}

/** False if the struct is to go, because its own name was taken away. */
function changeIn(fields: readonly NameField[], struct: Values, change: ChangeName): boolean {
  let stays = true;
  for (const each of fields) {
    const value = struct[each.field];
    if (value === null || value === undefined) continue;
    if (each.kind === undefined) struct[each.field] = changeBelow(each, value, change);
    else if (each.array) struct[each.field] = changeList(each.kind, value as string[], change);
    else {
      const changed = change(each.kind, value as string);
      if (changed === undefined) stays = false;
      struct[each.field] = changed ?? '';
    }
  }
  return stays;
}

function changeBelow({ array, inner }: NameField, value: unknown, change: ChangeName): unknown {
  if (array) return (value as Values[]).filter((entry) => changeIn(inner, entry, change));
  changeIn(inner, value as Values, change);
  return value;
}

function changeList(kind: NameKind, names: readonly string[], change: ChangeName): string[] {
  return names.map((name) => change(kind, name)).filter((name) => name !== undefined);
}

/** The ids of topics in a message. */
export function topicIdsIn(message: MessageName, body: object): Set<string> {
  const ids = new Set<string>();
  collectIds(schemaOf(message).fields, body as Values, ids);
  ids.delete(NO_ID);
  return ids;
}

/** As Kafka prints the id that stands for none. */
const NO_ID = 'AAAAAAAAAAAAAAAAAAAAAA';

function collectIds(fields: readonly Field[], struct: Values, ids: Set<string>): void {
  for (const { name, type, array, fields: inner } of fields) {
    const value = struct[name];
    if (value === null || value === undefined) continue;
    if (type === 'uuid' && name === 'topicId') ids.add(value as string);
    else if (inner)
      for (const each of array ? (value as Values[]) : [value as Values]) collectIds(inner, each, ids);
  }
}

/** Something that has settings: a topic if its type is 2, a group if it is 32. */
export interface ConfigResource {
  resourceType: number;
  resourceName: string;
}

export const CONFIG_TOPIC = 2;
export const CONFIG_GROUP = 32;

const CONFIG_APIS: ReadonlySet<ApiName> = new Set<ApiName>([
  'DescribeConfigs',
  'AlterConfigs',
  'IncrementalAlterConfigs',
]);

/** What a request or response is about that has settings. Its names are no names by the schema, since these go by its type. */
export function configResourcesIn(api: ApiName, message: object): ConfigResource[] {
  if (!CONFIG_APIS.has(api)) return [];
  const lists = message as Record<'resources' | 'results' | 'responses', ConfigResource[] | undefined>;
  return lists.resources ?? lists.results ?? lists.responses ?? [];
}

/** Fields of responses in which brokers tell people something. */
const TOLD = /message$|^statusDetail$/i;

/** Changes, in place, what brokers tell people: names may be in it. */
export function changeTold(value: object, change: (text: string) => string): void {
  for (const [name, inner] of Object.entries(value)) {
    if (typeof inner === 'string' && TOLD.test(name)) (value as Values)[name] = change(inner);
    else if (typeof inner === 'object' && inner !== null && !Buffer.isBuffer(inner))
      changeTold(inner as object, change);
  }
}
