/** The RBAC of delegation, in addition to that of the DNS server: each object by its name. */
import { boundRole, selectorOf } from '../../install/objects.ts';
import type { Manifest } from '../../install/objects.ts';
import type { PolicyRule } from '../../kernel/rights.ts';
import { nameOutside } from '../install.ts';
import { CUSTOM_NAME, KUBE_DNS_NAME, NODE_CACHE_NAMES, OPERATOR_NAME } from './observe.ts';
import { STATUS_NAME } from './status.ts';
import type { DelegationOptions } from './settings.ts';

const EDIT = ['get', 'list', 'watch', 'patch'];
const NAME = 'isthmus-dns-delegation';

/** The account that gets the rights. */
export interface Account {
  name: string;
  namespace: string;
}

/** The Roles and bindings by which the DNS server may delegate zones, or remove the delegation. */
export function delegationManifests(account: Account, { corefile }: DelegationOptions): Manifest[] {
  const dnsRules = [
    configMaps([corefile.name, CUSTOM_NAME, KUBE_DNS_NAME, ...NODE_CACHE_NAMES], EDIT),
    // On some platforms they do not exist from the start.
    configMaps([CUSTOM_NAME, KUBE_DNS_NAME], ['create', 'delete']),
  ];
  const outside = nameOutside(NAME, account.namespace);
  const isAtHome = corefile.namespace === account.namespace;
  return [
    ...role(NAME, account, account.namespace, isAtHome ? [...STATUS_RULES, ...dnsRules] : STATUS_RULES),
    ...(isAtHome ? [] : role(outside, account, corefile.namespace, dnsRules)),
    ...role(outside, account, undefined, [...OPERATOR_RULES, ...SERVICE_RULES]),
  ];
}

/** The DNS object of OpenShift's operator is cluster-scoped. */
const OPERATOR_RULES: PolicyRule[] = [
  {
    apiGroups: ['operator.openshift.io'],
    resources: ['dnses'],
    resourceNames: [OPERATOR_NAME],
    verbs: EDIT,
  },
];

/** Our own Service, and that of the cluster's DNS, wherever it is: read one by one. */
const SERVICE_RULES: PolicyRule[] = [{ apiGroups: [''], resources: ['services'], verbs: ['get'] }];

/** For the ConfigMap with the status. */
const STATUS_RULES: PolicyRule[] = [configMaps([STATUS_NAME], ['get', 'create', 'patch'])];

function configMaps(resourceNames: string[], verbs: string[]): PolicyRule {
  return { apiGroups: [''], resources: ['configmaps'], resourceNames, verbs };
}

function role(
  name: string,
  account: Account,
  namespace: string | undefined,
  rules: PolicyRule[],
): Manifest[] {
  const labels = selectorOf('dns');
  return boundRole({ name, labels, ...(namespace !== undefined && { namespace }) }, rules, account);
}
