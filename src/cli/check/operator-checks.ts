/** Whether the operator can work, and does. Pure. */
import { filterProtection } from '../../control/install/protected-filters.ts';
import { infrastructurePolicy } from '../../control/install/infrastructure-policy.ts';
import { OPERATOR_NAME } from '../../control/install/objects.ts';
import { secretPolicy } from '../../control/install/secret-policy.ts';
import type { Manifest } from '../../control/install/objects.ts';
import type { Access, CheckResult, Facts, OperatorFacts } from './facts.ts';
import { fail, fine, known, verdict, warn } from './results.ts';

const OLDEST_MINOR = 30;

export function apiChecks({ server }: Facts): CheckResult[] {
  const description = 'the API server answers';
  if ('problem' in server) return [fail(description, 'ApiUnreachable', server.problem)];
  const { major, minor, gitVersion } = server.value;
  const isOld = Number(major) === 1 && Number.parseInt(minor, 10) < OLDEST_MINOR;
  const version = `Kubernetes ${gitVersion} is new enough`;
  return [
    fine(description),
    isOld ? fail(version, 'ApiTooOld', `1.${OLDEST_MINOR} is the oldest that works`) : fine(version),
  ];
}

export function installRightChecks({ installRights }: Facts): CheckResult[] {
  const description = 'you may create what an installation consists of';
  return known(description, installRights, (rights) => [
    verdict(description, refusals(rights), fail, 'InstallRightMissing'),
  ]);
}

function refusals(rights: readonly Access[]): string[] {
  const refused = rights.filter(({ allowed }) => !allowed);
  const alike = Map.groupBy(refused, ({ group, resource, namespace }) =>
    [`${resource}${group === '' ? '' : `.${group}`}`, ...(namespace ? [`in ${namespace}`] : [])].join(' '),
  );
  return [...alike].map(([what, ones]) => `${ones.map(({ verb }) => verb).join(', ')} ${what}`);
}

export function operatorChecks(facts: Facts): CheckResult[] {
  const description = 'the operator is installed';
  return known(description, facts.operator, (operator) => {
    if (!operator) {
      const where = `there is no Deployment ${OPERATOR_NAME} in namespace ${facts.namespace}`;
      return [fail(description, 'OperatorMissing', where)];
    }
    return [
      fine(`${description}, for ${operator.roads.join(', ') || 'no road'}`),
      podCheck('pods of the operator are ready', operator),
      ...leaderCheck(facts),
      ...rightCheck(facts),
      ...policyChecks(facts, operator),
      ...roadCheck(facts, operator),
    ];
  });
}

function podCheck(description: string, { replicas, readyReplicas }: OperatorFacts): CheckResult {
  const text = `${readyReplicas} of ${replicas} pods are ready`;
  if (readyReplicas >= replicas && replicas > 0) return fine(description);
  return readyReplicas === 0
    ? fail(description, 'OperatorNotReady', text)
    : warn(description, 'OperatorNotReady', text);
}

function leaderCheck({ lease }: Facts): CheckResult[] {
  const description = 'one of them leads';
  return known(description, lease, (found) => {
    if (found?.isRenewed) return [fine(`${description}: ${found.holder.split('_')[0]}`)];
    const why = found
      ? `the Lease ${OPERATOR_NAME} is not renewed`
      : `there is no Lease ${OPERATOR_NAME} in its namespace`;
    return [fail(description, 'OperatorWithoutLeader', why)];
  });
}

function rightCheck({ operatorRights }: Facts): CheckResult[] {
  const description = 'the operator has the rights that its roads need';
  return known(description, operatorRights, (rights) => [
    verdict(description, refusals(rights), fail, 'OperatorRightMissing'),
  ]);
}

function policyChecks(
  { policies, namespace }: Facts,
  { roads, watchNamespaces }: OperatorFacts,
): CheckResult[] {
  const account = { name: OPERATOR_NAME, namespace };
  const ofSecrets = secretPolicy({ name: `${OPERATOR_NAME}.${namespace}` }, account, roads);
  const expected: Manifest[] = [
    ...infrastructurePolicy(),
    ...filterProtection(),
    ...(watchNamespaces.length === 0 ? ofSecrets : []),
  ];
  const names = new Set(
    expected.flatMap(({ kind, metadata }) => (kind === 'ValidatingAdmissionPolicy' ? metadata.name : [])),
  );
  const description = 'admission policies are in force';
  return known(description, policies, (bound) => {
    const missing = [...names].filter((name) => !bound.includes(name));
    return [
      verdict(
        description,
        missing.map((name) => `no binding of ${name}`),
        warn,
        'PolicyMissing',
      ),
    ];
  });
}

/** Resources that nobody looks at. Those of Strimzi's kinds may be another operator's. */
function roadCheck({ resources }: Facts, { roads }: OperatorFacts): CheckResult[] {
  const proxies = resources.get('KafkaProxy');
  if (roads.includes('proxy') || !proxies || !('value' in proxies) || proxies.value.length === 0) return [];
  const text = `there are ${proxies.value.length} KafkaProxies, and the operator does not serve the road proxy`;
  return [warn('the operator serves the roads that are used', 'RoadNotServed', text)];
}
