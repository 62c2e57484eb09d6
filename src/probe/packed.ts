/**
 * What a probe in a pod is told and what it says, as one word: its task is an argument, and its answer the message that its container ends
 * with, which is in the status of the pod. So nobody needs the right to read logs.
 */
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import type { z } from 'zod';

/** As long as the message of a container may be. */
export const MAX_MESSAGE = 4096;
const MAX_UNPACKED = 1024 * 1024;

export const pack = (value: unknown): string => deflateRawSync(JSON.stringify(value)).toString('base64');

/** Undefined if it is nothing of this form: it may come from another cluster, and be anything. */
export function unpack<T>(text: string, schema: z.ZodType<T>): T | undefined {
  try {
    const json = inflateRawSync(Buffer.from(text, 'base64'), { maxOutputLength: MAX_UNPACKED }).toString();
    return schema.parse(JSON.parse(json));
  } catch {
    return undefined;
  }
}
