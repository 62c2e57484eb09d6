import type { Road } from '../roads.ts';
import { spreadOut } from '../spread.ts';
import { OPERATOR_NAME } from './names.ts';
import { clusterRules, LEADER_RULES } from './rbac.ts';

export interface InstallOptions {
  namespace: string;
  image: string;
  replicas: number;
  roads: readonly Road[];
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
  const { namespace } = options;
  const local = { name: NAME, namespace, labels: LABELS };
  const global = { name: NAME, labels: LABELS };
  const subjects = [{ kind: 'ServiceAccount', name: NAME, namespace }];
  const rbac = 'rbac.authorization.k8s.io/v1';
  const roleRef = (kind: string) => ({ apiGroup: 'rbac.authorization.k8s.io', kind, name: NAME });
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: namespaceMetadata(namespace) },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: local },
    { apiVersion: rbac, kind: 'ClusterRole', metadata: global, rules: clusterRules(options.roads) },
    {
      apiVersion: rbac,
      kind: 'ClusterRoleBinding',
      metadata: global,
      roleRef: roleRef('ClusterRole'),
      subjects,
    },
    { apiVersion: rbac, kind: 'Role', metadata: local, rules: LEADER_RULES },
    { apiVersion: rbac, kind: 'RoleBinding', metadata: local, roleRef: roleRef('Role'), subjects },
    deployment(options),
    {
      apiVersion: 'policy/v1',
      kind: 'PodDisruptionBudget',
      metadata: local,
      spec: { maxUnavailable: 1, selector: { matchLabels: SELECTOR } },
    },
  ];
}

function namespaceMetadata(name: string): Manifest['metadata'] {
  return { name, labels: { ...LABELS, 'pod-security.kubernetes.io/enforce': 'restricted' } };
}

function deployment({ namespace, image, replicas, roads }: InstallOptions): Manifest {
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
          containers: [container(image, roads)],
        },
      },
    },
  };
}

function container(image: string, roads: readonly Road[]): object {
  return {
    name: 'operator',
    image,
    args: ['operator', `--roads=${roads.join(',')}`, `--management-port=${MANAGEMENT_PORT}`],
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
