/** All checks, by category. Pure. */
import { crdChecks, optionalKindChecks } from './crd-checks.ts';
import { exposeChecks } from './expose-checks.ts';
import { CHECKED_ROADS } from './facts.ts';
import type { CheckedRoad, CheckResult, Facts } from './facts.ts';
import { NAMING_ROADS, namePolicyChecks } from './name-policy-checks.ts';
import { apiChecks, installRightChecks, operatorChecks } from './operator-checks.ts';
import { dnsChecks, resourceChecks } from './resource-checks.ts';

export interface Category {
  name: string;
  checks: CheckResult[];
}

/** What a road is called when its resources are meant. */
const TITLES: Record<CheckedRoad, string> = {
  proxy: 'road proxy',
  kafka: 'road kafka',
  expose: 'brokers reached from outside',
  redpanda: 'road redpanda',
  'pod-sets': 'road pod-sets',
  dns: 'dns',
};

/** Checks of an installation, or, with `isBefore`, of a cluster that is to get one. */
export function checkAll(facts: Facts, isBefore: boolean): Category[] {
  const roads = roadsOf(facts);
  const api = { name: 'kubernetes', checks: apiChecks(facts) };
  if ('problem' in facts.server) return [api];
  const all: Category[] = [
    api,
    ...(isBefore ? [{ name: 'rights to install', checks: installRightChecks(facts) }] : []),
    { name: 'kinds', checks: crdChecks(facts, roads, isBefore) },
    { name: 'kinds of other projects', checks: optionalKindChecks(facts, roads) },
    ...(isBefore ? [] : [{ name: 'operator', checks: operatorChecks(facts) }]),
    ...(isBefore ? [] : roads.map((road) => ({ name: TITLES[road], checks: roadChecks(facts, road) }))),
    ...(!isBefore && roads.some((road) => NAMING_ROADS.includes(road))
      ? [{ name: 'host names', checks: namePolicyChecks(facts) }]
      : []),
  ];
  return all.filter(({ checks }) => checks.length > 0);
}

function roadChecks(facts: Facts, road: CheckedRoad): CheckResult[] {
  return [
    ...resourceChecks(facts, road),
    ...(road === 'expose' ? exposeChecks(facts) : []),
    ...(road === 'dns' ? dnsChecks(facts) : []),
  ];
}

/** The road asked for, or those that are served here; all of them where nobody serves any. */
function roadsOf({ road, operator, dns, expose }: Facts): readonly CheckedRoad[] {
  if (road) return [road];
  const served = 'value' in operator ? (operator.value?.roads ?? []) : [];
  const hasDns = 'value' in dns && dns.value !== undefined;
  if (served.length === 0 && !hasDns) return ['proxy'];
  return CHECKED_ROADS.filter((one) => {
    if (one === 'dns') return hasDns;
    return one === 'expose' ? expose !== undefined : served.includes(one);
  });
}
