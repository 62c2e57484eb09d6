/**
 * Kinds of others of which nobody can say yet whether the cluster has them, because the API server is slow or a webhook of theirs
 * is broken. To take them for missing would end the service of all who depend on them.
 */
import type { Observed } from './observed.ts';
import type { ForeignName } from './sources.ts';

/** Whether what a proxy's resources refer to may be there or not, so that nothing can be planned for it. */
export function dependsOnUnsettled({ world, live, namespace }: Observed): boolean {
  const { unsettled } = live.kinds;
  if (unsettled.size === 0) return false;
  const needs = (...names: ForeignName[]) => names.some((name) => unsettled.has(name));
  const { ingresses, virtualClusters, secrets, configMaps } = world;
  return (
    ingresses.some(({ spec }) => spec.gateway && needs('gateways', 'tlsRoutes')) ||
    ingresses.some(({ spec }) => spec.openShiftRoute && needs('routes', 'ingressControllers')) ||
    virtualClusters.some(
      ({ spec }) => spec.targetCluster.clusterRef.kind === 'Kafka' && needs('kafkas', 'nodePools'),
    ) ||
    [...secrets, ...configMaps].some(({ metadata }) => metadata.namespace !== namespace && needs('grants'))
  );
}
