/** How the resources of a road are, and the DNS server. Pure. */
import { keyOf } from '../../kube/object.ts';
import type { AnyObject } from '../../kube/object.ts';
import { healthOf, isObserved } from '../../view/health.ts';
import type { CheckedRoad, CheckResult, Facts } from './facts.ts';
import { RESOURCE_ROADS } from './kinds.ts';
import { fail, fine, known, verdict, warn } from './results.ts';

export function resourceChecks(facts: Facts, road: CheckedRoad): CheckResult[] {
  return RESOURCE_ROADS.filter((one) => one.road === road).flatMap(({ kind: { kind, plural } }) =>
    known(`${plural} can be read`, facts.resources.get(kind), (objects) =>
      objects.length === 0 ? [] : checkObjects(kind, plural, objects, road),
    ),
  );
}

function checkObjects(
  kind: string,
  plural: string,
  objects: readonly AnyObject[],
  road: CheckedRoad,
): CheckResult[] {
  const inState = (state: string) =>
    objects.flatMap((object) => {
      const { reason, message, state: own } = healthOf(object);
      return own === state ? [`${keyOf(object.metadata)}: ${reason}${message && `: ${message}`}`] : [];
    });
  const warnings = inState('warning');
  const description = `all ${objects.length} ${plural} are ready`;
  // Kinds of other projects are perhaps looked at by their own operator, which may say nothing of generations.
  const unseen = road === 'proxy' ? objects.filter((object) => !isObserved(object)) : [];
  return [
    verdict(description, inState('notReady'), fail, 'ResourceNotReady'),
    ...(warnings.length > 0
      ? [warn(`no ${kind} has a warning`, 'ResourceNotReady', warnings.join('\n'))]
      : []),
    ...(unseen.length > 0
      ? [
          fail(
            `the newest version of each ${kind} has been looked at`,
            'StatusOutdated',
            unseen.map(({ metadata }) => keyOf(metadata)).join('\n'),
          ),
        ]
      : []),
  ];
}

export function dnsChecks({ dns, delegation, namespace }: Facts): CheckResult[] {
  return known('the DNS server can be looked at', dns, (found) => {
    if (!found) return [fine(`no DNS server of Isthmus runs in namespace ${namespace}`)];
    const { replicas, readyReplicas } = found;
    const pods = `${readyReplicas} of ${replicas} pods of the DNS server are ready`;
    return [
      readyReplicas >= replicas ? fine(pods) : fail(pods, 'OperatorNotReady', 'see its pods'),
      ...known('zones are delegated', delegation, (status) => {
        const zones = status?.zones.join(', ') ?? '';
        if (status?.state === 'delegated') return [fine(`the cluster’s DNS leads to ${zones}`)];
        const why = status
          ? `${zones}: ${status.state}; ${status.reason}`
          : 'nothing is known of a delegation';
        return [warn('the cluster’s DNS leads to the zones', 'NotDelegated', why)];
      }),
    ];
  });
}
