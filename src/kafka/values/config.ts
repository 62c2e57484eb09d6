/** What filters ask in their configuration about the format of values. */
import { z } from 'zod';
import { messageOf } from '../../ops/errors.ts';
import { parseAvroSchema } from './avro-schema.ts';
import type { IdBytes } from './registry-header.ts';

/** A schema as it stands in YAML, or as a text in JSON. */
function schemaIn(given: unknown): unknown {
  if (typeof given !== 'string' || !/^\s*[[{]/.test(given)) return given;
  try {
    return JSON.parse(given);
  } catch {
    throw new Error('is a text that is not JSON'); // the engine's own words would quote it
  }
}

/** A schema that is made something of when the configuration is loaded. */
export const compiled = <T>(compile: (schema: unknown) => T) =>
  z
    .custom<unknown>((given) => given !== undefined)
    .transform((given, context): T => {
      try {
        return compile(schemaIn(given));
      } catch (error) {
        context.addIssue({ code: 'custom', message: messageOf(error) });
        return z.NEVER;
      }
    });

/** Of values in Avro: their schema, and what stands in front of them. */
export const avroFields = {
  schema: compiled(parseAvroSchema),
  confluentHeader: z.boolean().default(false),
  apicurioHeader: z.boolean().default(false),
};

export interface HeaderChoice {
  confluentHeader: boolean;
  apicurioHeader: boolean;
}

export const hasOneHeader = ({ confluentHeader, apicurioHeader }: HeaderChoice): boolean =>
  !(confluentHeader && apicurioHeader);
export const ONE_HEADER = 'has one header at most: confluentHeader or apicurioHeader';

/** Undefined if values begin at once. */
export function idBytesOf({ confluentHeader, apicurioHeader }: HeaderChoice): IdBytes | undefined {
  if (confluentHeader) return 4;
  return apicurioHeader ? 8 : undefined;
}
