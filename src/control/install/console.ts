/**
 * The console in a cluster: a Deployment of its own and not a part of the operator, because what browsers talk to should be able to
 * do next to nothing. It reads what it shows, and asks the API server who somebody is and what they may read.
 */
import { rulesOf } from '../kernel/rights.ts';
import type { PolicyRule } from '../kernel/rights.ts';
import { CONFINED, CONFINED_POD, PROBES } from '../shared/pod-template.ts';
import { versionLabels } from '../shared/version-label.ts';
import { podChoices } from './manifests.ts';
import type { InstallOptions } from './manifests.ts';
import { boundRole, labelsOf, selectorOf } from './objects.ts';
import type { Manifest } from './objects.ts';
import { SHOWN_RIGHTS } from './shown-kinds.ts';

export const CONSOLE_NAME = 'isthmus-console';
const COMPONENT = 'console';
const LABELS = labelsOf(COMPONENT);
const PORT = 9080;
const MANAGEMENT_PORT = 8080;

/** Who somebody is, and what they may read. */
const REVIEW_RULES: readonly PolicyRule[] = [
  { apiGroups: ['authentication.k8s.io'], resources: ['tokenreviews'], verbs: ['create'] },
  { apiGroups: ['authorization.k8s.io'], resources: ['subjectaccessreviews'], verbs: ['create'] },
];

const readRules = (scope: 'Namespaced' | 'Cluster') =>
  rulesOf(SHOWN_RIGHTS.filter((right) => right.scope === scope));

/** What it may do in the whole cluster. */
export const consoleRules = (isEverywhere: boolean): PolicyRule[] => [
  ...(isEverywhere ? readRules('Namespaced') : []),
  ...readRules('Cluster'),
  ...REVIEW_RULES,
];

/** What it may do in a namespace, if it is to look into some only. */
export const consoleNamespaceRules = (): PolicyRule[] => readRules('Namespaced');

/** In the order in which they are applied. */
export function consoleManifests(options: InstallOptions): Manifest[] {
  const { namespace, watchNamespaces = [] } = options;
  const local = { name: CONSOLE_NAME, namespace, labels: LABELS };
  return [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: local },
    ...consoleRole(namespace, watchNamespaces.length === 0),
    ...watchNamespaces.flatMap((watched) => consoleNamespaceRole(namespace, watched)),
    ...consoleWorkload(options),
  ];
}

// Named after the namespace, since there may be several in a cluster.
const roleName = (namespace: string) => `${CONSOLE_NAME}.${namespace}`;

export const consoleRole = (namespace: string, isEverywhere: boolean): Manifest[] =>
  boundRole({ name: roleName(namespace), labels: LABELS }, consoleRules(isEverywhere), {
    name: CONSOLE_NAME,
    namespace,
  });

export const consoleNamespaceRole = (namespace: string, watched: string): Manifest[] =>
  boundRole({ name: roleName(namespace), labels: LABELS, namespace: watched }, consoleNamespaceRules(), {
    name: CONSOLE_NAME,
    namespace,
  });

/** What runs it, and its Service. One pod: sessions are in its memory, and whoever was logged in logs in again after a restart. */
export function consoleWorkload(options: InstallOptions): Manifest[] {
  const metadata = { name: CONSOLE_NAME, namespace: options.namespace, labels: LABELS };
  const selector = selectorOf(COMPONENT);
  const labels = { ...LABELS, ...versionLabels(options.version) };
  return [
    {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { ...metadata, labels },
      spec: {
        replicas: 1,
        selector: { matchLabels: selector },
        template: {
          metadata: { labels },
          spec: {
            serviceAccountName: CONSOLE_NAME,
            ...podChoices(options),
            ...CONFINED_POD,
            containers: [container(options)],
          },
        },
      },
    },
    {
      apiVersion: 'v1',
      kind: 'Service',
      metadata,
      spec: { selector, ports: [{ name: 'http', port: 80, targetPort: 'http', protocol: 'TCP' }] },
    },
  ];
}

function container({ image, watchNamespaces = [], logLevel }: InstallOptions): object {
  return {
    name: 'console',
    image,
    args: [
      'console',
      '--login',
      '--host=::',
      `--port=${PORT}`,
      `--management-port=${MANAGEMENT_PORT}`,
      ...(watchNamespaces.length > 0 ? [`--watch-namespaces=${watchNamespaces.join(',')}`] : []),
      ...(logLevel === undefined ? [] : [`--log-level=${logLevel}`]),
    ],
    ports: [
      { name: 'http', containerPort: PORT },
      { name: 'management', containerPort: MANAGEMENT_PORT },
    ],
    ...PROBES,
    resources: { requests: { cpu: '10m', memory: '128Mi' }, limits: { memory: '512Mi' } },
    ...CONFINED,
  };
}
