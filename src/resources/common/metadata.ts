import { z } from 'zod';

const NAME = /^[a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*$/;

/**
 * The metadata of every resource. CRDs do not describe it (API servers do), so there is nothing here but what this
 * program reads, and the defaults that save everyone from asking whether labels are there.
 */
export const metadata = z.looseObject({
  name: z.string().min(1).max(253).regex(NAME, {
    error: "write lower-case letters, digits, '-' and '.', beginning and ending with a letter or digit",
  }),
  namespace: z.string().min(1).max(63).default('default'),
  uid: z.string().exactOptional(),
  resourceVersion: z.string().exactOptional(),
  generation: z.int().exactOptional(),
  creationTimestamp: z.string().exactOptional(),
  deletionTimestamp: z.string().exactOptional(),
  labels: z.record(z.string(), z.string()).default({}),
  annotations: z.record(z.string(), z.string()).default({}),
  finalizers: z.array(z.string()).exactOptional(),
});

export type Metadata = z.output<typeof metadata>;
