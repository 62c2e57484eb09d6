import type { Road } from '../roads.ts';
import { spreadOut } from '../spread.ts';
import { OPERATOR_NAME } from './names.ts';
import { LEADER_RULES, namespacedRules, operatorRules } from './rbac.ts';
import type { PolicyRule } from './rbac.ts';

export interface InstallOptions {
  namespace: string;
  image: string;
  replicas: number;
  roads: readonly Road[];
  /** The only namespaces that it is to have rights in; they must be there. All of them if there are none. */
  watchNamespaces?: readonly string[];
}

/** A Kubernetes object as it is written in YAML. */
export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string; namespace?: string; labels?: Record<string, string> };
  [field: string]: unknown;
}

const NAME = OPERATOR_NAME;
const MANAGEMENT_PORT = 8080;

const SELECTOR = { 'app.kubernetes.io/name': 'isthmus', 'app.kubernetes.io/component': 'operator' };
const LABELS = {
  ...SELECTOR,
  'app.kubernetes.io/part-of': 'isthmus',
  'app.kubernetes.io/managed-by': 'isthmus-install',
};

/** Everything but the CRDs that `isthmus install` prints, in the order in which it must be applied. */
export function operatorManifests(options: InstallOptions): Manifest[] {
  const { namespace, roads, watchNamespaces = [] } = options;
  const local = { name: NAME, namespace, labels: LABELS };
  const bound = (where: string | undefined, name: string, rules: PolicyRule[]) =>
    boundRole({ name, labels: LABELS, ...(where !== undefined && { namespace: where }) }, rules, local);
  // Named after the operator's namespace, since two operators may watch one namespace, or each the other's.
  const watcher = `${NAME}.${namespace}`;
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: namespaceMetadata(namespace) },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: local },
    ...(watchNamespaces.length === 0 ? bound(undefined, NAME, operatorRules(roads)) : []),
    ...watchNamespaces.flatMap((watched) => bound(watched, watcher, namespacedRules(roads))),
    ...bound(namespace, NAME, LEADER_RULES),
    deployment(options),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: local,
      spec: { maxUnavailable: 1, selector: { matchLabels: SELECTOR } },
    },
  ];
}

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

function namespaceMetadata(name: string): Manifest['metadata'] {
  return { name, labels: { ...LABELS, 'pod-security.kubernetes.io/enforce': 'restricted' } };
}

function deployment(options: InstallOptions): Manifest {
  const { namespace, replicas } = options;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: NAME, namespace, labels: LABELS },
    spec: {
      replicas,
      selector: { matchLabels: SELECTOR },
      template: {
        metadata: { labels: LABELS },
        spec: {
          serviceAccountName: NAME,
          securityContext: { runAsNonRoot: true, seccompProfile: { type: 'RuntimeDefault' } },
          ...spreadOut(SELECTOR),
          containers: [container(options)],
        },
      },
    },
  };
}

function container({ image, roads, watchNamespaces = [] }: InstallOptions): object {
  const watched = watchNamespaces.length > 0 ? [`--watch-namespaces=${watchNamespaces.join(',')}`] : [];
  return {
    name: 'operator',
    image,
    args: ['operator', `--roads=${roads.join(',')}`, `--management-port=${MANAGEMENT_PORT}`, ...watched],
    env: [
      { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
      // What the pods that it makes run.
      { name: 'ISTHMUS_IMAGE', value: image },
    ],
    ports: [{ name: 'management', containerPort: MANAGEMENT_PORT }],
    // On a busy node a start takes its time, and to be killed for that makes it no shorter.
    startupProbe: { ...probe('/livez'), periodSeconds: 1, failureThreshold: 180 },
    livenessProbe: { ...probe('/livez'), failureThreshold: 6 },
    readinessProbe: probe('/readyz'),
    resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } },
    securityContext: {
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    },
  };
}

function probe(path: string): object {
  return { httpGet: { path, port: 'management' }, periodSeconds: 5, timeoutSeconds: 3 };
}
