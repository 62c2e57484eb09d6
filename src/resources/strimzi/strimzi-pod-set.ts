import { z } from 'zod';
import { defineKind } from '../kind.ts';
import type { ResourceOf } from '../kind.ts';
import { kept, strimzi, strimziStatus } from './group.ts';

const spec = z.looseObject({
  selector: z
    .looseObject({
      matchLabels: z
        .record(z.string(), z.string())
        .describe('Labels that all of the pods have.')
        .exactOptional(),
    })
    .describe('The pods that belong to the set: those that match and are not listed are deleted.'),
  pods: z.array(kept).describe('The pods, whole.'),
});

const status = strimziStatus.extend({
  pods: z.int().describe('How many pods are listed.').exactOptional(),
  readyPods: z.int().describe('How many of them are ready.').exactOptional(),
  currentPods: z.int().describe('How many of them are as listed.').exactOptional(),
});

export const strimziPodSet = defineKind({
  ...strimzi,
  group: 'core.strimzi.io',
  roads: ['stretch'],
  kind: 'StrimziPodSet',
  plural: 'strimzipodsets',
  singular: 'strimzipodset',
  shortNames: ['sps'],
  description: 'Pods that are each described in full, and made and kept in the cluster that the set is in.',
  columns: [
    { name: 'Pods', type: 'integer', jsonPath: '.status.pods', description: 'How many pods are listed.' },
    {
      name: 'Ready Pods',
      type: 'integer',
      jsonPath: '.status.readyPods',
      description: 'How many are ready.',
    },
    {
      name: 'Current Pods',
      type: 'integer',
      jsonPath: '.status.currentPods',
      description: 'How many are as listed.',
    },
    {
      name: 'Age',
      type: 'date',
      jsonPath: '.metadata.creationTimestamp',
      description: 'How long it has been there.',
    },
  ],
  spec: spec.describe('The pods.'),
  status: status.describe('Written by the operator.'),
  normalise: (written) => written,
});

export type StrimziPodSet = ResourceOf<typeof strimziPodSet>;
