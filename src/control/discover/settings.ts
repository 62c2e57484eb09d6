import { z } from 'zod';
import { delegationSettings } from './delegation/settings.ts';
import { CLUSTER_ID } from '../targets/names.ts';
import { REACH_MODES } from './members/nodes.ts';

const clusterId = z
  .string()
  .regex(CLUSTER_ID, 'must be a DNS label: lower-case letters, digits, hyphens inside');

const reach = z.enum(REACH_MODES);

/** The section `kubernetes` of the DNS server's configuration. */
export const discoverSettings = z
  .strictObject({
    /** The id of the local cluster, as it appears in names of the cluster set. */
    clusterId,
    /** Its kubeconfig; the pod's ServiceAccount, $KUBECONFIG or ~/.kube/config if left out. */
    kubeconfig: z.string().optional(),
    context: z.string().optional(),
    /** Other clusters of the set, by kubeconfig file. */
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
    /** The namespace of the Secrets with kubeconfigs of other clusters; the pod's own if left out, none with null. */
    secretsNamespace: z.string().nullable().optional(),
    /** Whether to import the services that other clusters export; false removes them again, and if left out nothing is written. */
    import: z.boolean().optional(),
    /** The namespace that all services are imported into; each into its own if left out. It must exist. */
    importNamespace: z.string().regex(CLUSTER_ID, 'must be the name of a namespace').optional(),
    /**
     * How clusters of the set reach each other's pods: by pod addresses, or by node ports at internal or external addresses of nodes.
     * A cluster that is reached by node ports creates them for its exported services. Joined clusters may have modes of their own.
     */
    reach: reach.default('pods'),
    /** Whether clients of this cluster are led to its own endpoints of a service alone, while it has ready ones. */
    preferLocal: z.boolean().default(false),
    /** How long the names of a joined cluster are served that cannot be read; for ever if left out. */
    forgetAfterSeconds: z.number().int().min(60).optional(),
    /** Whether the zones are delegated from the cluster's own DNS: writes to its configuration. */
    delegation: delegationSettings.optional(),
    /** How long the first answer waits for clusters that do not answer. */
    joinWaitSeconds: z.number().min(0).max(600).default(15),
  })
  .refine((settings) => settings.import || settings.reach === 'pods', {
    path: ['reach'],
    message: 'node ports are created and used only with import: true',
  })
  .refine((settings) => settings.import !== undefined || settings.importNamespace === undefined, {
    path: ['importNamespace'],
    message: 'services are imported only with import: true',
  });

export type DiscoverSettings = z.output<typeof discoverSettings>;
