import { MalformedMessage } from '../../../kafka/malformed.ts';

/** Whether bytes are a value of a schema, step by step. */
export type ValueCheck = (bytes: Buffer) => Generator<undefined, boolean>;

/** Made of steps that throw MalformedMessage where bytes are none. */
export const valueCheck = (read: (bytes: Buffer) => Generator<undefined, unknown>): ValueCheck =>
  function* check(bytes) {
    try {
      yield* read(bytes);
      return true;
    } catch (error) {
      if (error instanceof MalformedMessage) return false;
      throw error;
    }
  };
