import { createHash } from 'node:crypto';
import type { ProxyConfig, VirtualClusterConfig } from './config/model.ts';

/** What a new configuration means for the virtual clusters of the old one, by name. */
export interface Difference {
  added: string[];
  removed: string[];
  /** Made anew; their connections drain. */
  changed: string[];
  /** Only certificates or trust of gateways differ: new connections see them, old ones stay. */
  certificates: string[];
  untouched: string[];
}

/** JSON with the keys of every object in order, so that equal configurations are equal texts. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_key, inner: unknown) =>
    inner !== null && typeof inner === 'object' && !Array.isArray(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );
}

/**
 * Under what the brokers of a virtual cluster are remembered. A target of before has another key: what is still learned
 * of it while its last connections drain must not lead anyone there.
 */
export function targetKey({ name, target }: Pick<VirtualClusterConfig, 'name' | 'target'>): string {
  return `${name} ${createHash('sha256').update(canonical(target)).digest('hex')}`;
}

/** A virtual cluster without what may change under open connections; that there is TLS at all may not. */
const withoutCertificates = (cluster: VirtualClusterConfig) => ({
  ...cluster,
  gateways: cluster.gateways.map((gateway) => ({ ...gateway, tls: gateway.tls !== undefined })),
});

export function diffConfigs(
  before: Pick<ProxyConfig, 'virtualClusters'> | undefined,
  after: ProxyConfig,
): Difference {
  const old = new Map((before?.virtualClusters ?? []).map((cluster) => [cluster.name, cluster]));
  const difference: Difference = { added: [], removed: [], changed: [], certificates: [], untouched: [] };
  for (const cluster of after.virtualClusters) {
    const previous = old.get(cluster.name);
    old.delete(cluster.name);
    if (!previous) difference.added.push(cluster.name);
    else if (canonical(previous) === canonical(cluster)) difference.untouched.push(cluster.name);
    else if (canonical(withoutCertificates(previous)) === canonical(withoutCertificates(cluster)))
      difference.certificates.push(cluster.name);
    else difference.changed.push(cluster.name);
  }
  difference.removed.push(...old.keys());
  return difference;
}
