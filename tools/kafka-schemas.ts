// Writes src/kafka/schemas: the facts of every Kafka message (names, types, versions, nullability, tags, defaults),
// taken from the definitions inside the kafka-clients jar, and the TypeScript types that follow from them.
// Run it when Kafka is a new one: `node tools/run.mjs tools/kafka-schemas.ts`.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { inflateRawSync } from 'node:zlib';
import { KAFKA_VERSION, ensureKafka } from '../test/support/install/kafka.ts';

/** The files are in the project's format, or formatting them would be a change. */
const LINE_WIDTH = 110;
const OUTPUT = join(import.meta.dirname, '../src/kafka/schemas');

interface Field {
  name: string;
  type: string;
  versions: string;
  nullableVersions?: string;
  tag?: number;
  default?: string | number | boolean;
  entityType?: string;
  flexibleVersions?: string;
  fields?: Field[];
}

interface Message {
  apiKey?: number;
  type: 'request' | 'response' | 'header' | 'data';
  name: string;
  listeners?: string[];
  validVersions: string;
  flexibleVersions?: string;
  latestVersionUnstable?: boolean;
  fields?: Field[];
  commonStructs?: Field[];
}

/** The files of a zip archive whose names match. Reads the central directory, as jars have no other index. */
function readZip(path: string, wanted: RegExp): Map<string, string> {
  const zip = readFileSync(path);
  const files = new Map<string, string>();
  const end = zip.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
  let at = zip.readUInt32LE(end + 16);
  for (let left = zip.readUInt16LE(end + 10); left > 0; left--) {
    const nameLength = zip.readUInt16LE(at + 28);
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength);
    if (wanted.test(name)) {
      const local = zip.readUInt32LE(at + 42);
      const from = local + 30 + zip.readUInt16LE(local + 26) + zip.readUInt16LE(local + 28);
      const bytes = zip.subarray(from, from + zip.readUInt32LE(at + 20));
      files.set(name, (zip.readUInt16LE(at + 10) === 0 ? bytes : inflateRawSync(bytes)).toString('utf8'));
    }
    at += 46 + nameLength + zip.readUInt16LE(at + 30) + zip.readUInt16LE(at + 32);
  }
  return files;
}

/** The definitions are JSON with whole-line comments. */
function parseDefinition(text: string): Message {
  return JSON.parse(text.replaceAll(/^\s*\/\/.*$/gm, '')) as Message;
}

const camel = (name: string) => name.charAt(0).toLowerCase() + name.slice(1);

/** One field as one line of the schema language that src/kafka/schema.ts reads, and its own fields below it. */
function fieldLines(field: Field, indent: string): string[] {
  const words = [camel(field.name), field.type];
  if (field.versions !== '0+') words.push(field.versions);
  if (field.nullableVersions && field.nullableVersions !== 'none') {
    words.push(field.nullableVersions === field.versions ? 'null' : `null:${field.nullableVersions}`);
  }
  if (field.tag !== undefined) words.push(`tag:${field.tag}`);
  if (field.flexibleVersions) words.push(`flexible:${field.flexibleVersions}`);
  if (field.default !== undefined && field.default !== '') words.push(`=${field.default}`);
  if (field.entityType) words.push(`@${field.entityType}`);
  const below = (field.fields ?? []).flatMap((child) => fieldLines(child, `${indent}  `));
  return [indent + words.join(' '), ...below];
}

function schemaText(message: Message): string {
  const structs = (message.commonStructs ?? []).flatMap(({ name, fields = [] }) => [
    `struct ${name}`,
    ...fields.flatMap((field) => fieldLines(field, '  ')),
  ]);
  const fields = (message.fields ?? []).flatMap((field) => fieldLines(field, ''));
  return [
    `${message.validVersions} flexible:${message.flexibleVersions ?? 'none'}`,
    ...fields,
    ...structs,
  ].join('\n');
}

const SCALARS: Record<string, string> = {
  bool: 'boolean',
  int8: 'number',
  int16: 'number',
  uint16: 'number',
  int32: 'number',
  uint32: 'number',
  float64: 'number',
  int64: 'bigint',
  uuid: 'string',
  string: 'string',
  bytes: 'Buffer',
  records: 'Buffer',
};

/** The interfaces of a message: its own, and one for each struct in it, named after both. */
function interfaces(message: Message): string[] {
  const structName = (name: string) => (name.startsWith(message.name) ? name : message.name + name);
  const found: string[] = [];
  const write = (name: string, fields: Field[]) => {
    const lines = fields.map((field) => {
      const element = field.type.replace('[]', '');
      let type = SCALARS[element] ?? structName(element);
      if (field.type.startsWith('[]')) type += '[]';
      if (field.nullableVersions && field.nullableVersions !== 'none') type += ' | null';
      return field.tag === undefined
        ? `${camel(field.name)}: ${type};`
        : `${camel(field.name)}?: ${type} | undefined;`;
    });
    const all = [...lines, 'unknownTags?: UnknownTag[] | undefined;'];
    found.push(`export interface ${name} {\n${all.map((line) => `  ${line}\n`).join('')}}`);
    for (const field of fields)
      if (field.fields) write(structName(field.type.replace('[]', '')), field.fields);
  };
  write(message.name, message.fields ?? []);
  for (const { name, fields = [] } of message.commonStructs ?? []) write(structName(name), fields);
  return found;
}

const HEADER = `// Written by tools/kafka-schemas.ts from the message definitions of Apache Kafka ${KAFKA_VERSION}; do not edit.\n`;

function schemasFile(messages: Message[]): string {
  const entries = messages.map((message) => `  ${message.name}: \`${schemaText(message)}\`,\n`);
  const text = `/** Every message by name, in the schema language that ../schema.ts reads. */
export const SCHEMAS = {\n${entries.join('')}} as const;\n`;
  return `${HEADER}${text}`;
}

/** One line an API: the request and the response of an API always share versions, which is checked here. */
function apisFile(messages: Message[]): string {
  const named = new Map(messages.map((message) => [message.name, message]));
  const requests = messages.filter((m) => m.type === 'request').toSorted((a, b) => a.apiKey! - b.apiKey!);
  const lines = requests.map((request) => {
    const name = request.name.replace(/Request$/, '');
    const response = named.get(`${name}Response`);
    if (
      response?.validVersions !== request.validVersions ||
      response.flexibleVersions !== request.flexibleVersions
    ) {
      throw new Error(`${name}: request and response differ in versions`);
    }
    const [min = -1, max = min] =
      request.validVersions === 'none' ? [] : request.validVersions.split('-').map(Number);
    const flexible = request.flexibleVersions?.endsWith('+')
      ? Number.parseInt(request.flexibleVersions, 10)
      : -1;
    const facts = [
      `key: ${request.apiKey}`,
      `min: ${min}`,
      `max: ${max}`,
      `flexible: ${flexible}`,
      `unstable: ${request.latestVersionUnstable ?? false}`,
      `broker: ${request.listeners?.includes('broker') ?? false}`,
      `controller: ${request.listeners?.includes('controller') ?? false}`,
    ];
    const line = `  ${name}: { ${facts.join(', ')} },\n`;
    const broken = facts.map((fact) => `    ${fact},\n`).join('');
    return line.length <= LINE_WIDTH + 1 ? line : `  ${name}: {\n${broken}  },\n`;
  });
  const text = `/**
 * Every API by name. \`min\` and \`max\` are -1 for an API that Kafka 4 no longer serves; \`flexible\` is the first
 * version with tagged fields, or -1; \`unstable\`: the last version is still in the making; \`broker\` and
 * \`controller\`: which listeners serve it.
 */
export const APIS = {\n${lines.join('')}} as const;\n`;
  return `${HEADER}${text}`;
}

function typesFile(messages: Message[]): string {
  const named = (type: string, suffix: string) =>
    messages
      .filter((message) => message.type === type)
      .map(({ name }) => `  ${suffix ? name.slice(0, -suffix.length) : name}: ${name};\n`)
      .join('');
  const all = messages.flatMap(interfaces);
  const names = all.map((text) => text.split(' ', 3)[2]);
  if (new Set(names).size !== names.length) throw new Error('two structs have one name');
  return `${HEADER}
/** A tagged field that this version of the schemas does not know, kept as it came. */
export interface UnknownTag {
  tag: number;
  data: Buffer;
}

/** The request of every API, by the API's name. */
export interface Requests {\n${named('request', 'Request')}}

/** The response of every API, by the API's name. */
export interface Responses {\n${named('response', 'Response')}}

/** Messages that travel inside others: consumer protocol, control records, KRaft records. */
export interface Embedded {\n${named('data', '')}}

${all.join('\n\n')}\n`;
}

/** The files of src/kafka/schemas, by name. */
export async function kafkaSchemas(): Promise<Map<string, string>> {
  const { classPath } = await ensureKafka();
  const jar = classPath.split(':').find((path) => path.includes('/kafka-clients-'));
  if (jar === undefined) throw new Error('kafka-clients is not among the jars of Kafka');
  const messages = [...readZip(jar, /^common\/message\/.*\.json$/).values()]
    .map(parseDefinition)
    .toSorted((a, b) => (a.name < b.name ? -1 : Number(a.name > b.name)));
  return new Map([
    ['messages.ts', schemasFile(messages)],
    ['apis.ts', apisFile(messages)],
    ['types.ts', typesFile(messages)],
  ]);
}

if (import.meta.main) {
  mkdirSync(OUTPUT, { recursive: true });
  for (const [name, text] of await kafkaSchemas()) writeFileSync(join(OUTPUT, name), text);
}
