import type { OperatorRoad } from '../roads.ts';
import { CONFINED, CONFINED_POD, PROBES, spreadOut } from '../shared/pod-template.ts';
import { versionLabels } from '../shared/version-label.ts';
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
import { everywhereRules, homeRules, namespacedRules, operatorRules } from './rbac.ts';
import type { PolicyRule } from '../kernel/rights.ts';

export interface InstallOptions {
  namespace: string;
  image: string;
  /** That of the image, where it is known. */
  version?: string | undefined;
  replicas: number;
  roads: readonly OperatorRoad[];
  /** The only namespaces that it is to have rights in; they must be there. All of them if there are none. */
  watchNamespaces?: readonly string[];
  /** npm packages that filters of all proxies may come from. */
  filterModules?: readonly string[];
  /** By version of Kafka: another image than the official one. */
  kafkaImages?: Readonly<Record<string, string>>;
  /** What node pools call this cluster. */
  clusterId?: string;
  /** The DNS server that clients outside use, for probes. */
  probeResolver?: string;
  /** Networks of special addresses that are probed all the same. */
  probeNetworks?: readonly string[];
  /** Joined clusters from which exposed brokers are looked at. */
  probeFrom?: readonly string[];
  /** Where external-dns tells its metrics. */
  externalDnsMetrics?: string;
  /** What proxies run, if that is another image. */
  proxyImage?: string;
  clusterDomain?: string;
  logLevel?: string;
  /** Of the operator's own pods, as Kubernetes spells them. */
  imagePullSecrets?: readonly { name: string }[];
  nodeSelector?: Readonly<Record<string, string>>;
  tolerations?: readonly Toleration[];
  priorityClassName?: string;
}

/** As Kubernetes spells it. */
export interface Toleration {
  key?: string;
  operator?: 'Equal' | 'Exists';
  value?: string;
  effect?: string;
}

const NAME = OPERATOR_NAME;
const MANAGEMENT_PORT = 8080;

const LABELS = labelsOf(COMPONENT);

/** The options that the operator is told as they are, by the flag for each. */
const PASSED = {
  clusterId: '--cluster-id',
  watchNamespaces: '--watch-namespaces',
  filterModules: '--filter-modules',
  probeResolver: '--probe-resolver',
  probeNetworks: '--probe-networks',
  probeFrom: '--probe-from',
  externalDnsMetrics: '--external-dns-metrics',
  proxyImage: '--proxy-image',
  clusterDomain: '--cluster-domain',
  logLevel: '--log-level',
} as const satisfies Partial<Record<keyof InstallOptions, string>>;

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
    ...bound(namespace, NAME, homeRules(roads)),
    deployment(options),
    disruptionBudget(local, COMPONENT),
  ];
}

function namespaceMetadata(name: string): Manifest['metadata'] {
  return { name, labels: { ...LABELS, 'pod-security.kubernetes.io/enforce': 'restricted' } };
}

/** What runs the operator. */
export function deployment(options: InstallOptions): Manifest {
  const { namespace, replicas, version } = options;
  const labels = { ...LABELS, ...versionLabels(version) };
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: { name: NAME, namespace, labels },
    spec: {
      replicas,
      selector: { matchLabels: selectorOf(COMPONENT) },
      template: {
        metadata: { labels },
        spec: {
          serviceAccountName: NAME,
          ...podChoices(options),
          ...CONFINED_POD,
          ...spreadOut(selectorOf(COMPONENT)),
          containers: [container(options)],
          volumes: [managementVolume(NAME)],
        },
      },
    },
  };
}

/** Where pods of the installation run, and how their image is fetched. */
export function podChoices(options: InstallOptions): object {
  const { imagePullSecrets, nodeSelector, tolerations, priorityClassName } = options;
  return {
    ...(imagePullSecrets && { imagePullSecrets }),
    ...(priorityClassName !== undefined && { priorityClassName }),
    ...(nodeSelector && { nodeSelector }),
    ...(tolerations && { tolerations }),
  };
}

function container(options: InstallOptions): object {
  const { image } = options;
  return {
    name: 'operator',
    image,
    args: operatorArguments(options),
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

/** What the operator is started with. */
function operatorArguments(options: InstallOptions): string[] {
  const passed = (Object.keys(PASSED) as (keyof typeof PASSED)[]).flatMap((name) => {
    const text = [options[name] ?? []].flat().join(',');
    return text === '' ? [] : [`${PASSED[name]}=${text}`];
  });
  const images = Object.entries(options.kafkaImages ?? {});
  return [
    'operator',
    `--roads=${options.roads.join(',')}`,
    `--management-port=${MANAGEMENT_PORT}`,
    `--metrics-token-file=${METRICS_TOKEN_FILE}`,
    ...passed,
    ...images.map(([version, its]) => `--kafka-image=${version}=${its}`),
  ];
}
