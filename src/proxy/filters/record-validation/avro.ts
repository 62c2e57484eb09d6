import { MalformedMessage } from '../../../kafka/malformed.ts';
import type { AvroType } from '../../../kafka/values/avro-schema.ts';
import { avroSteps } from '../../../kafka/values/avro-walk.ts';
import { registryHeaderOf } from '../../../kafka/values/registry-header.ts';
import type { IdBytes } from '../../../kafka/values/registry-header.ts';

/** Whether bytes are a value, step by step. */
export type ValueCheck = (bytes: Buffer) => Generator<undefined, boolean>;

/** Whether bytes are a value of this type in Avro's binary encoding; behind the header of a registry, if its number has bytes. */
export const avroCheck = (type: AvroType, idBytes?: IdBytes): ValueCheck =>
  function* check(bytes) {
    const start = idBytes === undefined ? 0 : registryHeaderOf(bytes, idBytes)?.end;
    if (start === undefined) return false;
    try {
      yield* avroSteps(bytes, start, type);
      return true;
    } catch (error) {
      if (error instanceof MalformedMessage) return false;
      throw error;
    }
  };
