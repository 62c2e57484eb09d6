import type { OperatorRoad } from '../roads.ts';
import { CONFINED, CONFINED_POD, PROBES, spreadOut } from '../shared/pod-template.ts';
import {
  MANAGEMENT_MOUNT,
  METRICS_TOKEN_FILE,
  OPERATOR_COMPONENT as COMPONENT,
  OPERATOR_NAME,
  boundRole,
  disruptionBudget,
  labelsOf,
  managementVolume,
  selectorOf,
} from './objects.ts';
import type { Manifest } from './objects.ts';
import { secretPolicy } from './secret-policy.ts';
import { LEADER_RULES, everywhereRules, namespacedRules, operatorRules } from './rbac.ts';
import type { PolicyRule } from '../kernel/rights.ts';

export interface InstallOptions {
  namespace: string;
  image: string;
  replicas: number;
  roads: readonly OperatorRoad[];
  /** The only namespaces that it is to have rights in; they must be there. All of them if there are none. */
  watchNamespaces?: readonly string[];
  /** npm packages that filters of all proxies may come from. */
  filterModules?: readonly string[];
  /** By version of Kafka: another image than the official one. */
  kafkaImages?: Readonly<Record<string, string>>;
  /** The DNS server that clients outside use, for probes. */
  probeResolver?: string;
  /** Networks of special addresses that are probed all the same. */
  probeNetworks?: readonly string[];
  /** Where external-dns tells its metrics. */
  externalDnsMetrics?: string;
}

const NAME = OPERATOR_NAME;
const MANAGEMENT_PORT = 8080;

const LABELS = labelsOf(COMPONENT);

/** Everything but the CRDs that `isthmus install` prints, in the order in which it must be applied. */
export function operatorManifests(options: InstallOptions): Manifest[] {
  const { namespace, roads, watchNamespaces = [] } = options;
  const local = { name: NAME, namespace, labels: LABELS };
  const bound = (where: string | undefined, name: string, rules: PolicyRule[]) =>
    boundRole({ name, labels: LABELS, ...(where !== undefined && { namespace: where }) }, rules, local);
  // Named after the operator's namespace, since two operators may watch one namespace, or each the other's.
  const watcher = `${NAME}.${namespace}`;
  const everywhere = everywhereRules(roads);
  return [
    { apiVersion: 'v1', kind: 'Namespace', metadata: namespaceMetadata(namespace) },
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: local },
    ...(watchNamespaces.length === 0
      ? [
          ...secretPolicy({ name: watcher, labels: LABELS }, local, roads),
          ...bound(undefined, NAME, operatorRules(roads)),
        ]
      : everywhere.length > 0
        ? bound(undefined, watcher, everywhere)
        : []),
    ...watchNamespaces.flatMap((watched) => bound(watched, watcher, namespacedRules(roads))),
    ...bound(namespace, NAME, LEADER_RULES),
    deployment(options),
    disruptionBudget(local, COMPONENT),
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
      selector: { matchLabels: selectorOf(COMPONENT) },
      template: {
        metadata: { labels: LABELS },
        spec: {
          serviceAccountName: NAME,
          ...CONFINED_POD,
          ...spreadOut(selectorOf(COMPONENT)),
          containers: [container(options)],
          volumes: [managementVolume(NAME)],
        },
      },
    },
  };
}

function container(options: InstallOptions): object {
  const { image, roads, watchNamespaces = [], filterModules = [], kafkaImages = {} } = options;
  const { probeResolver, probeNetworks = [], externalDnsMetrics } = options;
  const watched = watchNamespaces.length > 0 ? [`--watch-namespaces=${watchNamespaces.join(',')}`] : [];
  const modules = filterModules.length > 0 ? [`--filter-modules=${filterModules.join(',')}`] : [];
  return {
    name: 'operator',
    image,
    args: [
      'operator',
      `--roads=${roads.join(',')}`,
      `--management-port=${MANAGEMENT_PORT}`,
      `--metrics-token-file=${METRICS_TOKEN_FILE}`,
      ...watched,
      ...modules,
      ...Object.entries(kafkaImages).map(([version, its]) => `--kafka-image=${version}=${its}`),
      ...(probeResolver === undefined ? [] : [`--probe-resolver=${probeResolver}`]),
      ...(probeNetworks.length > 0 ? [`--probe-networks=${probeNetworks.join(',')}`] : []),
      ...(externalDnsMetrics === undefined ? [] : [`--external-dns-metrics=${externalDnsMetrics}`]),
    ],
    env: [
      { name: 'POD_NAME', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
      { name: 'POD_NAMESPACE', valueFrom: { fieldRef: { fieldPath: 'metadata.namespace' } } },
      // What the pods that it makes run.
      { name: 'ISTHMUS_IMAGE', value: image },
    ],
    ports: [{ name: 'management', containerPort: MANAGEMENT_PORT }],
    ...PROBES,
    resources: { requests: { cpu: '50m', memory: '128Mi' }, limits: { memory: '512Mi' } },
    ...CONFINED,
    volumeMounts: [MANAGEMENT_MOUNT],
  };
}
