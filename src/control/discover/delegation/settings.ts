import { isIP } from 'node:net';
import { z } from 'zod';
import { CLUSTER_PLATFORMS } from './platform.ts';

const address = z
  .string()
  .refine((text) => isIP(text) > 0 || isIP(/^\[?([^\]]*)\]?:\d{1,5}$/.exec(text)?.[1] ?? '') > 0, {
    message:
      'must be an IP address, with a port if that is not 53: 10.96.0.10, 10.96.0.10:5353, [fd00::1]:5353',
  });

const objectName = z.strictObject({ namespace: z.string(), name: z.string() });

/** How the zones are delegated in the cluster's DNS. */
export const delegationOptions = z.strictObject({
  /** The DNS implementation of the cluster; detected if left out. */
  platform: z.enum(CLUSTER_PLATFORMS).optional(),
  /** The ConfigMap with the Corefile. */
  corefile: objectName.default({ namespace: 'kube-system', name: 'coredns' }),
  /** The address to which the cluster's DNS forwards queries; that of our own Service if left out. */
  server: address.optional(),
  /** The name of our own Service; the one in the manifests if left out. */
  service: z.string().optional(),
  /** The DNS server that is queried to verify; the Service of the cluster's DNS if left out. */
  clusterDns: address.optional(),
  /** Whom pods ask; the first name server of our own pod if left out, which is verified where it is not the cluster's DNS itself. */
  podDns: address.optional(),
  /** How long the cluster's DNS may take to read what was written: the kubelet and CoreDNS poll for changes. */
  verifySeconds: z.number().min(1).max(3600).default(180),
});

export type DelegationOptions = z.output<typeof delegationOptions>;

/** `true` or options: delegate the zones. `false`: remove the delegation. Left out: do not touch the cluster's DNS. */
export const delegationSettings = z.union([z.boolean(), delegationOptions]);

export type DelegationSettings = z.output<typeof delegationSettings>;

/** The options with their defaults. */
export function optionsOf(settings: DelegationSettings): DelegationOptions {
  return typeof settings === 'boolean' ? delegationOptions.parse({}) : settings;
}
