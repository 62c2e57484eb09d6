import { canonical } from './canonical.ts';
import type { ProxyConfig, VirtualClusterConfig } from './model.ts';

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

/** A virtual cluster without what may change under open connections; that there is TLS at all may not. */
export const withoutCertificates = (cluster: VirtualClusterConfig) => ({
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
