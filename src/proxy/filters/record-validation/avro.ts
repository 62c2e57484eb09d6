import { MalformedMessage } from '../../../kafka/malformed.ts';
import type { AvroType } from '../../../kafka/values/avro-schema.ts';
import { avroSteps } from '../../../kafka/values/avro-walk.ts';
import { registryHeaderOf } from '../../../kafka/values/registry-header.ts';
import type { IdBytes } from '../../../kafka/values/registry-header.ts';
import { valueCheck } from './value-check.ts';

/** Checks for a value of this type in Avro's binary encoding; behind the header of a registry, if its number has bytes. */
export const avroCheck = (type: AvroType, idBytes?: IdBytes) =>
  valueCheck((bytes) => avroSteps(bytes, idBytes === undefined ? 0 : startBehind(bytes, idBytes), type));

function startBehind(bytes: Buffer, idBytes: IdBytes): number {
  const header = registryHeaderOf(bytes, idBytes);
  if (!header) throw new MalformedMessage('Avro value', 'no header of a registry', 0);
  return header.end;
}
