/** What the operator's probes met on the way of a client from outside, as the anchors of clusters say it. Pure. */
import { keyOf } from '../../kube/object.ts';
import { conditionsIn } from '../../view/health.ts';
import { ANCHORS, hasOwner } from './anchors.ts';
import type { CheckResult, Facts } from './facts.ts';
import { fail, verdict } from './results.ts';

const CONDITIONS = [
  ['Reachable', 'BrokersUnreachable', 'a client outside gets through to every broker'],
  ['DNSPropagated', 'NamesNotPublished', 'the names of brokers lead to where they are'],
  ['SourcesEnforced', 'ForbiddenSourceConnected', 'nobody gets in whom allowedSources does not name'],
] as const;

/** Of a cluster that is gone, or that was not probed yet, nothing is said. */
export function outsideChecks({ resources }: Pick<Facts, 'resources'>): CheckResult[] {
  const anchors = ANCHORS.flatMap(([kind, ownerKind, field]) => {
    const [all, owners] = [resources.get(kind), resources.get(ownerKind)];
    if (!all || !owners || !('value' in all) || !('value' in owners)) return [];
    return all.value.filter((anchor) => hasOwner(anchor, field, owners.value));
  });
  return CONDITIONS.flatMap(([type, code, description]) => {
    const seen = anchors.flatMap((anchor) =>
      conditionsIn(anchor).flatMap((one) => (one.type === type ? [{ anchor, ...one }] : [])),
    );
    if (seen.length === 0) return [];
    const problems = seen.flatMap(({ anchor: { kind, metadata }, status, message = '' }) =>
      status === 'False' ? [`${kind} ${keyOf(metadata)}: ${message}`] : [],
    );
    return [verdict(description, problems, fail, code)];
  });
}
