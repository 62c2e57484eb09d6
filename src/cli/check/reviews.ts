/** Asks the API server who may do what, by access reviews: roles can be bound in more ways than one could read. */
import { OPERATOR_NAME } from '../../control/install/objects.ts';
import { everywhereRules, homeRules, namespacedRules, operatorRules } from '../../control/install/rbac.ts';
import type { PolicyRule } from '../../control/kernel/rights.ts';
import type { Client } from '../../kube/http/client.ts';
import { forEachLimit } from '../../ops/for-each-limit.ts';
import type { Access, OperatorFacts } from './facts.ts';

type Question = Omit<Access, 'allowed'>;

const AT_ONCE = 8;
const TIMEOUT_MS = 15_000;
const API = '/apis/authorization.k8s.io/v1';

/** What an installation creates that is no matter of course. */
const INSTALLED: readonly (Question & { isLocal?: true })[] = [
  { group: 'apiextensions.k8s.io', resource: 'customresourcedefinitions', verb: 'create' },
  { group: 'rbac.authorization.k8s.io', resource: 'clusterroles', verb: 'create' },
  { group: 'rbac.authorization.k8s.io', resource: 'clusterrolebindings', verb: 'create' },
  { group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicies', verb: 'create' },
  { group: 'admissionregistration.k8s.io', resource: 'validatingadmissionpolicybindings', verb: 'create' },
  { group: 'apps', resource: 'deployments', verb: 'create', isLocal: true },
  { group: '', resource: 'serviceaccounts', verb: 'create', isLocal: true },
];

/** Whether this user may install. */
export function reviewInstallation(client: Client, namespace: string): Promise<Access[]> {
  const questions = INSTALLED.map(({ isLocal, ...one }) => (isLocal ? { ...one, namespace } : one));
  return review(client, questions, 'SelfSubjectAccessReview', {});
}

/** Whether the operator has the rights that its roads need, where it is told to look. */
export function reviewOperator(
  client: Client,
  namespace: string,
  { roads, watchNamespaces }: Pick<OperatorFacts, 'roads' | 'watchNamespaces'>,
): Promise<Access[]> {
  const questions = [
    ...questionsOf(homeRules(roads), namespace),
    ...(watchNamespaces.length === 0
      ? questionsOf(operatorRules(roads), undefined)
      : [
          ...questionsOf(everywhereRules(roads), undefined),
          ...watchNamespaces.flatMap((watched) => questionsOf(namespacedRules(roads), watched)),
        ]),
  ];
  const user = `system:serviceaccount:${namespace}:${OPERATOR_NAME}`;
  const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
  return review(client, questions, 'SubjectAccessReview', { user, groups });
}

interface NamedQuestion extends Question {
  name?: string | undefined;
}

export function questionsOf(rules: readonly PolicyRule[], namespace: string | undefined): NamedQuestion[] {
  return rules.flatMap(({ apiGroups, resources, verbs, resourceNames = [undefined] }) =>
    apiGroups.flatMap((group) =>
      resources.flatMap((resource) =>
        verbs.flatMap((verb) => resourceNames.map((name) => ({ group, resource, verb, namespace, name }))),
      ),
    ),
  );
}

async function review(
  client: Client,
  questions: readonly NamedQuestion[],
  kind: 'SelfSubjectAccessReview' | 'SubjectAccessReview',
  subject: object,
): Promise<Access[]> {
  const answers = new Map<NamedQuestion, boolean>();
  const path = `${API}/${kind.toLowerCase()}s`;
  const ask = async (question: NamedQuestion) => {
    const { resource: whole, ...rest } = question;
    const [resource, subresource] = whole.split('/');
    const spec = { ...subject, resourceAttributes: { ...rest, resource, subresource } };
    const body = { apiVersion: 'authorization.k8s.io/v1', kind, spec };
    const answer = await client.post(path, body, { timeoutMs: TIMEOUT_MS });
    answers.set(question, (answer as { status?: { allowed?: boolean } }).status?.allowed === true);
  };
  // A refusal of one is a refusal of all.
  await forEachLimit(questions, AT_ONCE, ask, () => true);
  return questions.map((question) => {
    const { verb, group, resource, namespace } = question;
    return { verb, group, resource, namespace, allowed: answers.get(question) ?? false };
  });
}
