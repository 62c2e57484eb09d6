import { z } from 'zod';
import { delegationSettings } from './delegation/settings.ts';
import { CLUSTER_ID } from './names.ts';
import { REACH_MODES } from './members/nodes.ts';

const clusterId = z
  .string()
  .regex(CLUSTER_ID, 'must be a DNS label: lower-case letters, digits, hyphens inside');

const reach = z.enum(REACH_MODES);

/** The section `kubernetes` of the DNS server's configuration. */
export const discoverSettings = z
  .strictObject({
    /** The id of the cluster that is served, as it appears in names of the cluster set. */
    clusterId,
    /** How to reach it; the pod's own account, $KUBECONFIG or ~/.kube/config if left out. */
    kubeconfig: z.string().optional(),
    context: z.string().optional(),
    /** Other clusters of the set, by file. */
    clusters: z
      .array(
        z.strictObject({
          id: clusterId,
          kubeconfig: z.string(),
          context: z.string().optional(),
          reach: reach.optional(),
        }),
      )
      .default([]),
    /** Where the Secrets with kubeconfigs of other clusters are; the pod's own namespace if left out, nowhere with null. */
    secretsNamespace: z.string().nullable().optional(),
    /** Whether to make services that other clusters export reachable here: writes to the cluster that is served. */
    import: z.boolean().default(false),
    /**
     * How clusters of the set reach each other's pods: by their addresses, or by ports of nodes, at inner or outer addresses. A
     * cluster that is reached by node ports gives its exported services some. A joined cluster may be an exception, see there.
     */
    reach: reach.default('pods'),
    /** Whether the cluster's own DNS is made to send questions for the zones here: writes to its configuration. */
    delegation: delegationSettings.optional(),
    /** How long the first answer waits for clusters that do not answer. */
    joinWaitSeconds: z.number().min(0).max(600).default(15),
  })
  .refine((settings) => settings.import || settings.reach === 'pods', {
    path: ['reach'],
    message: 'node ports are made, and used, only with import: true',
  });

export type DiscoverSettings = z.output<typeof discoverSettings>;
