/** What a status says about a resource. */
import { z } from 'zod';
import { listBy, text } from '../schema.ts';

/** One statement; the time and the message may be missing, so that a status can be written by hand. */
export const condition = z.object({
  type: text(316).describe('What the statement is about, e.g. Ready.'),
  status: z.enum(['True', 'False', 'Unknown']).describe('Whether it is so.'),
  reason: z.string().max(1024).describe('Why, in one word, for programs.').exactOptional(),
  message: z.string().max(32_768).describe('Why, and what to do about it, for people.').exactOptional(),
  observedGeneration: z
    .int()
    .min(0)
    .describe('The generation of the resource that this is about.')
    .exactOptional(),
  lastTransitionTime: z.string().max(64).describe('Since when the status is what it is.').exactOptional(),
});

export type Condition = z.output<typeof condition>;

/** At most one of each type. */
export const conditions = listBy('type', condition, 32).describe('What is known about this resource now.');

/** The generation of the spec that a status answers to. */
export const observedGeneration = z
  .int()
  .min(0)
  .describe('The generation of the spec that this status is about.');

/** The status of a resource that only has conditions. */
export const plainStatus = z
  .object({ observedGeneration: observedGeneration.exactOptional(), conditions: conditions.exactOptional() })
  .describe('Written by the operator.');

/** Conditions of kinds that other projects define: read loosely, since they may write what they like. */
export const foreignConditions = z
  .array(
    z.looseObject({
      type: z.string().exactOptional(),
      status: z.string().exactOptional(),
      reason: z.string().exactOptional(),
      message: z.string().exactOptional(),
      observedGeneration: z.int().exactOptional(),
      lastTransitionTime: z.string().exactOptional(),
    }),
  )
  .describe('What is known about this resource now.');
