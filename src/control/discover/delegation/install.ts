/** The rights that delegation takes on top of the DNS server's own: each object by its name. */
import type { Manifest } from '../../install/manifests.ts';
import type { PolicyRule } from '../../install/rbac.ts';
import { CUSTOM_NAME, KUBE_DNS_NAME, OPERATOR_NAME } from './cluster-dns.ts';
import { STATUS_NAME } from './report.ts';
import type { DelegationOptions } from './settings.ts';

const EDIT = ['get', 'list', 'watch', 'patch'];
const RBAC = 'rbac.authorization.k8s.io';
const NAME = 'isthmus-dns-delegation';

/** The account that gets the rights. */
export interface Account {
  name: string;
  namespace: string;
}

/** What is to be applied beside the DNS server's manifests, so that it can delegate zones or take that out again. */
export function delegationManifests(account: Account, { corefile }: DelegationOptions): Manifest[] {
  return [
    ...role('Role', account, account.namespace, STATUS_RULES),
    ...role('Role', account, corefile.namespace, [
      configMaps([corefile.name, CUSTOM_NAME, KUBE_DNS_NAME], EDIT),
      // Platforms that read it do not all have it from the start.
      configMaps([CUSTOM_NAME], ['create', 'delete']),
    ]),
    ...role('ClusterRole', account, undefined, OPERATOR_RULES),
  ];
}

/** OpenShift's operator is in no namespace. */
const OPERATOR_RULES: PolicyRule[] = [
  {
    apiGroups: ['operator.openshift.io'],
    resources: ['dnses'],
    resourceNames: [OPERATOR_NAME],
    verbs: EDIT,
  },
];

/** To write down how it stands. */
const STATUS_RULES: PolicyRule[] = [configMaps([STATUS_NAME], ['get', 'create', 'patch'])];

function configMaps(resourceNames: string[], verbs: string[]): PolicyRule {
  return { apiGroups: [''], resources: ['configmaps'], resourceNames, verbs };
}

function role(
  kind: 'Role' | 'ClusterRole',
  account: Account,
  namespace: string | undefined,
  rules: PolicyRule[],
): Manifest[] {
  const labels = { 'app.kubernetes.io/name': 'isthmus', 'app.kubernetes.io/component': 'dns' };
  const metadata = { name: NAME, labels, ...(namespace === undefined ? {} : { namespace }) };
  return [
    { apiVersion: `${RBAC}/v1`, kind, metadata, rules },
    {
      apiVersion: `${RBAC}/v1`,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: RBAC, kind, name: NAME },
      subjects: [{ kind: 'ServiceAccount', ...account }],
    },
  ];
}
