/** What everything that is installed is made of. */
import { stringify } from 'yaml';
import type { PolicyRule } from '../kernel/rights.ts';

/** The operator's name: of its Deployment, ServiceAccount, roles and Lease. */
export const OPERATOR_NAME = 'isthmus-operator';

export const OPERATOR_COMPONENT = 'operator';

/** Where parts of the installation look for the token of their management port: a Secret that need not be there, in this folder. */
const MANAGEMENT_DIRECTORY = '/etc/isthmus-management';
export const METRICS_TOKEN_FILE = `${MANAGEMENT_DIRECTORY}/metrics-token`;
export const managementVolume = (name: string) => ({
  name: 'management',
  secret: { secretName: `${name}-management`, optional: true },
});
export const MANAGEMENT_MOUNT = { name: 'management', mountPath: MANAGEMENT_DIRECTORY, readOnly: true };

/** A Kubernetes object as it is written in YAML. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: {
    name: string;
    namespace?: string;
    labels?: Record<string, string>;
    annotations?: Record<string, string>;
  };
  [field: string]: unknown;
}

/** Objects as a stream of YAML documents. */
export const yamlOf = (items: readonly object[]): string =>
  items.map((item) => `---\n${stringify(item, { aliasDuplicateObjects: false })}`).join('');

/** Selects the pods of one part of the installation. */
export const selectorOf = (component: string) => ({
  'app.kubernetes.io/name': 'isthmus',
  'app.kubernetes.io/component': component,
});

/** On all its objects. */
export const labelsOf = (component: string) => ({
  ...selectorOf(component),
  'app.kubernetes.io/part-of': 'isthmus',
  'app.kubernetes.io/managed-by': 'isthmus-install',
});

/** A role and the binding that gives it to a ServiceAccount: in the whole cluster if the metadata names no namespace. */
export function boundRole(
  metadata: Manifest['metadata'],
  rules: PolicyRule[],
  account: { name: string; namespace: string },
): Manifest[] {
  const group = 'rbac.authorization.k8s.io';
  const kind = metadata.namespace === undefined ? 'ClusterRole' : 'Role';
  const { name, namespace } = account;
  return [
    { apiVersion: `${group}/v1`, kind, metadata, rules },
    {
      apiVersion: `${group}/v1`,
      kind: `${kind}Binding`,
      metadata,
      roleRef: { apiGroup: group, kind, name: metadata.name },
      subjects: [{ kind: 'ServiceAccount', name, namespace }],
    },
  ];
}

/** An admission policy that refuses, and the binding that puts it into force in the whole cluster. */
export function boundPolicy(metadata: Manifest['metadata'], spec: object): Manifest[] {
  const apiVersion = 'admissionregistration.k8s.io/v1';
  const kind = 'ValidatingAdmissionPolicy';
  return [
    { apiVersion, kind, metadata, spec: { failurePolicy: 'Fail', ...spec } },
    {
      apiVersion,
      kind: `${kind}Binding`,
      metadata,
      spec: { policyName: metadata.name, validationActions: ['Deny'] },
    },
  ];
}

/** Lets one pod of a Deployment be taken away at a time. */
export function disruptionBudget(metadata: Manifest['metadata'], component: string): Manifest {
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata,
    spec: { maxUnavailable: 1, selector: { matchLabels: selectorOf(component) } },
  };
}
