/**
 * Kinds of others of which nobody can say yet whether the cluster has them, because the API server is slow or a webhook of theirs
 * is broken. To take them for missing would end the service of all who depend on them.
 */
import type { Observed } from './observed.ts';
import type { RowName } from '../kernel/watches.ts';
import type { ProxyViews } from './watches.ts';

/** Whether what a proxy's resources refer to may be there or not, so that nothing can be planned for it. */
export function dependsOnUndiscovered({ snapshot, live, namespace }: Observed): boolean {
  const { undiscovered } = live.kinds;
  if (undiscovered.size === 0) return false;
  const needs = (...names: RowName<ProxyViews>[]) => names.some((name) => undiscovered.has(name));
  const { ingresses, virtualClusters, secrets, configMaps } = snapshot;
  return (
    ingresses.some(({ spec }) => spec.gateway && needs('gateways', 'tlsRoutes')) ||
    ingresses.some(({ spec }) => spec.openShiftRoute && needs('routes', 'ingressControllers')) ||
    virtualClusters.some(
      ({ spec }) => spec.targetCluster.clusterRef.kind === 'Kafka' && needs('kafkas', 'nodePools'),
    ) ||
    [...secrets, ...configMaps].some(({ metadata }) => metadata.namespace !== namespace && needs('grants'))
  );
}
