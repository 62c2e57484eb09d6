/** Whether somebody says whose host names are: with more than one tenant, names need an owner. Pure. */
import type { AnyObject } from '../../kube/object.ts';
import type { Read } from '../kube/read.ts';
import { exposedRedpandas } from './exposed-listeners.ts';
import type { CheckedRoad, CheckResult, Facts } from './facts.ts';
import { fine, known, warn } from './results.ts';

/** What these roads serve has names that others could want. */
export const NAMING_ROADS: readonly CheckedRoad[] = ['proxy', 'expose', 'redpanda', 'dns'];

export function namePolicyChecks({ resources, grantees }: Facts): CheckResult[] {
  const description = 'NamePolicies say whose host names are';
  const kafkas = resources.get('Kafka');
  const sources = [
    namespacesIn(resources.get('KafkaProxy'), withGrants),
    namespacesIn(resources.get('KafkaAnchor'), (anchors) =>
      ofExposed(anchors, kafkas && 'value' in kafkas ? kafkas.value : undefined),
    ),
    namespacesIn(resources.get('Cluster'), (clusters) =>
      exposedRedpandas(clusters).flatMap(({ namespace, wish }) => (wish.hostPattern ? namespace : [])),
    ),
    grantees,
  ];
  const claimants = new Set(sources.flatMap((one) => ('value' in one ? one.value : [])));
  if (claimants.size < 2) return sources.flatMap((one) => known(description, one, () => [])).slice(0, 1);
  return known(description, resources.get('NamePolicy'), (policies) => [
    policies.length > 0
      ? fine(description)
      : warn(
          description,
          'NamePolicyMissing',
          `${[...claimants].join(', ')} claim host names, and whoever comes first has them`,
        ),
  ]);
}

function namespacesIn(
  read: Read<readonly AnyObject[]> | undefined,
  namespacesOf: (objects: readonly AnyObject[]) => string[],
): Read<readonly string[]> {
  if (read === undefined) return { value: [] };
  return 'value' in read ? { value: namespacesOf(read.value) } : read;
}

interface Granted extends AnyObject {
  status?: { hostNames?: unknown[] };
  spec?: { names?: unknown[]; kafka?: { uid?: string } };
}

const withGrants = (proxies: readonly AnyObject[]) =>
  proxies.flatMap(({ metadata, status }: Granted) =>
    (status?.hostNames ?? []).length > 0 ? (metadata.namespace ?? []) : [],
  );

/** An anchor outlives its Kafka, and then nobody claims its names. */
const ofExposed = (anchors: readonly AnyObject[], kafkas: readonly AnyObject[] | undefined) =>
  anchors.flatMap(({ metadata, spec }: Granted) => {
    const isThere = kafkas?.some(({ metadata: { uid } }) => uid === spec?.kafka?.uid) ?? true;
    return isThere && (spec?.names ?? []).length > 0 ? (metadata.namespace ?? []) : [];
  });
