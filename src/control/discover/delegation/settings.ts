import { isIP } from 'node:net';
import { z } from 'zod';
import { PLATFORMS } from './platform.ts';

const address = z
  .string()
  .refine((text) => isIP(text) > 0 || isIP(/^\[?([^\]]*)\]?:\d{1,5}$/.exec(text)?.[1] ?? '') > 0, {
    message:
      'must be an IP address, with a port if that is not 53: 10.96.0.10, 10.96.0.10:5353, [fd00::1]:5353',
  });

const objectName = z.strictObject({ namespace: z.string(), name: z.string() });

/** How the cluster's own DNS is told of the zones. */
export const delegationOptions = z.strictObject({
  /** The way to do it; chosen by what the cluster has if left out. */
  platform: z.enum(PLATFORMS).optional(),
  /** Which ConfigMap has the Corefile. */
  corefile: objectName.default({ namespace: 'kube-system', name: 'coredns' }),
  /** Where the cluster's DNS is to send questions; the address of our own Service if left out. */
  server: address.optional(),
  /** Our own Service; the one of the manifests if left out. */
  service: z.string().optional(),
  /** Whom to ask whether it works; the address of the cluster's DNS Service if left out. */
  clusterDns: address.optional(),
  /** How long it may take until the cluster's DNS has read what was written: the kubelet and CoreDNS look from time to time. */
  verifySeconds: z.number().min(1).max(3600).default(180),
});

export type DelegationOptions = z.output<typeof delegationOptions>;

/** `true` or options: delegate, and keep it so. `false`: take it out again. Left out: do not touch the cluster's DNS. */
export const delegationSettings = z.union([z.boolean(), delegationOptions]);

export type DelegationSettings = z.output<typeof delegationSettings>;

/** The options, with all that was left out. */
export function optionsOf(settings: DelegationSettings): DelegationOptions {
  return typeof settings === 'boolean' ? delegationOptions.parse({}) : settings;
}
