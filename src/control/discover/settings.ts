import { z } from 'zod';
import { CLUSTER_ID } from './names.ts';

const clusterId = z
  .string()
  .regex(CLUSTER_ID, 'must be a DNS label: lower-case letters, digits, hyphens inside');

/** The section `kubernetes` of the DNS server's configuration. */
export const discoverSettings = z.strictObject({
  /** The id of the cluster that is served, as it appears in names of the cluster set. */
  clusterId,
  /** How to reach it; the pod's own account, $KUBECONFIG or ~/.kube/config if left out. */
  kubeconfig: z.string().optional(),
  context: z.string().optional(),
  /** Other clusters of the set, by file. */
  clusters: z
    .array(z.strictObject({ id: clusterId, kubeconfig: z.string(), context: z.string().optional() }))
    .default([]),
  /** Where the Secrets with kubeconfigs of other clusters are; the pod's own namespace if left out, nowhere with null. */
  secretsNamespace: z.string().nullable().optional(),
  /** Whether to make services that other clusters export reachable here: writes to the cluster that is served. */
  import: z.boolean().default(false),
  /** How long the first answer waits for clusters that do not answer. */
  joinWaitSeconds: z.number().min(0).max(600).default(15),
});

export type DiscoverSettings = z.output<typeof discoverSettings>;
