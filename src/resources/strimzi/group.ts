/** What the kinds of the stretch road have in common. */
import { z } from 'zod';
import { foreignConditions } from '../common/conditions.ts';
import type { Column } from '../kind.ts';

/**
 * The kinds are Strimzi's, which knows far more fields than are interpreted here: those are kept as they are, so that
 * existing manifests work. `v1beta2` is what most of them say, `v1` what Strimzi serves today; both have one schema.
 */
export const strimzi = {
  group: 'kafka.strimzi.io',
  versions: ['v1beta2', 'v1'],
  categories: ['strimzi', 'isthmus'],
  install: 'choice',
} as const;

/** Anything, kept as it is. */
export const kept = z.record(z.string(), z.unknown());

export const strimziStatus = z.looseObject({
  conditions: foreignConditions.exactOptional(),
  observedGeneration: z
    .int()
    .describe('The generation of the spec that this status is about.')
    .exactOptional(),
});

export const readyColumn: Column = {
  name: 'Ready',
  type: 'string',
  jsonPath: '.status.conditions[?(@.type=="Ready")].status',
  description: 'Whether the operator has done what the spec asks for.',
};

/** The Kafka cluster that a resource belongs to: the value of its label `strimzi.io/cluster`. */
export function clusterNameOf({
  metadata,
}: {
  metadata: { labels: Record<string, string> };
}): string | undefined {
  return metadata.labels['strimzi.io/cluster'];
}
