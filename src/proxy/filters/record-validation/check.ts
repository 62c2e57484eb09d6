import type { KafkaRecord } from '../../../kafka/records/batch.ts';
import type { BytesRule, RecordRule } from './config.ts';
import { jsonSteps } from '../../../kafka/records/json.ts';
import type { SchemaCheck } from './json-schema.ts';

/** What is wrong with a record, or undefined, step by step. It names what is wrong, and quotes nothing of the record. */
export function* problemSteps(
  record: KafkaRecord,
  rule: RecordRule,
): Generator<undefined, string | undefined> {
  const { key, value, headers } = record;
  const { keyRule, valueRule, requiredHeaders, maxRecordBytes = Infinity } = rule;
  if (sizeOf(record) > maxRecordBytes) return `the record has more than ${maxRecordBytes} bytes`;
  const missing = requiredHeaders.find((name) => !headers.some((header) => header.key === name));
  if (missing !== undefined) return `the header ${missing} is missing`;
  const ofKey = keyRule && (yield* bytesSteps('key', key, keyRule));
  return ofKey ?? (valueRule && (yield* bytesSteps('value', value, valueRule)));
}

function sizeOf({ key, value, headers }: KafkaRecord): number {
  const own = (key?.length ?? 0) + (value?.length ?? 0);
  return headers.reduce(
    (sum, header) => sum + Buffer.byteLength(header.key) + (header.value?.length ?? 0),
    own,
  );
}

function* bytesSteps(
  what: string,
  bytes: Buffer | null,
  rule: BytesRule,
): Generator<undefined, string | undefined> {
  if (bytes === null) return rule.allowNulls ? undefined : `the ${what} is null`;
  if (bytes.length === 0 && !rule.allowEmpty) return `the ${what} is empty`;
  // Of all formats, only a Protobuf message may have no bytes: one with nothing but defaults.
  if (bytes.length === 0 && !rule.protobuf) return undefined;
  if (bytes.length > (rule.maxBytes ?? Infinity)) return `the ${what} has more than ${rule.maxBytes} bytes`;
  const { syntacticallyCorrectJson: json, jsonSchema, avro, protobuf } = rule;
  const problem =
    (json && (yield* jsonSteps(bytes, json.validateObjectKeysUnique))) ??
    (jsonSchema && (yield* schemaSteps(bytes, jsonSchema))) ??
    (avro && !(yield* avro(bytes)) ? 'does not fit its Avro schema' : undefined) ??
    (protobuf && !(yield* protobuf(bytes)) ? 'does not fit its Protobuf message' : undefined);
  return problem === undefined ? undefined : `the ${what} ${problem}`;
}

/** To parse more than that would keep everybody else waiting. */
const MOST_JSON = 256 * 1024;

const OUTCOMES = {
  fits: undefined,
  differs: 'does not fit its JSON schema',
  'too much': 'takes more steps to check than are taken',
};

function* schemaSteps(bytes: Buffer, check: SchemaCheck): Generator<undefined, string | undefined> {
  if (bytes.length > MOST_JSON) return `has more than ${MOST_JSON} bytes, up to which schemas are checked`;
  const wrong = yield* jsonSteps(bytes, false);
  return wrong ?? OUTCOMES[yield* check(JSON.parse(bytes.toString('utf8')))];
}
