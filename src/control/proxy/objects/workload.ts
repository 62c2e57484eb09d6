/** What runs a proxy: its pods, and what is around them. None of it depends on the virtual clusters but the NetworkPolicy. */
import type { AnyObject } from '../../../kube/object.ts';
import { duration } from '../../../ops/duration.ts';
import type { KafkaProxy } from '../../../resources/kroxylicious/kafka-proxy.ts';
import {
  CERTIFICATE_KEY,
  CONFIG_DIRECTORY,
  CONFIG_KEY,
  MANAGEMENT_DIRECTORY,
  MANAGEMENT_PORT,
  METRICS_TOKEN_KEY,
  PRIVATE_KEY_KEY,
  TOKEN_KEY,
  configSecretName,
  deploymentName,
  managementHost,
  managementSecretName,
  podLabels,
  serviceAccountName,
} from '../names.ts';
import { CONFINED, CONFINED_POD, PROBES, spreadOut } from '../../shared/pod-template.ts';
import { versionLabels } from '../../shared/version-label.ts';
import type { OperatorPods } from '../observed.ts';
import type { ManagementAccess } from '../pods/management-access.ts';
import type { Block } from '../ports/ports.ts';
import { podResources } from '../pod-resources.ts';
import { metadataOf } from './metadata.ts';

/** Time for endpoints to forget the pod, while it still accepts connections. */
const PRE_STOP_SECONDS = 5;
/** Between the end of a drain and that of the process. */
const END_SECONDS = 10;
const LEAST_TERMINATION_SECONDS = 60;

/** More than the wait before the drain and the drain together. */
function terminationSeconds({ spec }: KafkaProxy): number {
  const drained = spec.limits?.drainTimeout ? duration.parse(spec.limits.drainTimeout) / 1000 : 0;
  return Math.max(LEAST_TERMINATION_SECONDS, PRE_STOP_SECONDS + Math.ceil(drained) + END_SECONDS);
}

export function serviceAccount(proxy: KafkaProxy): AnyObject {
  const name = serviceAccountName(proxy.metadata.name);
  return {
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: metadataOf(name, proxy, proxy.spec.infrastructure),
    // It has no rights, and the pods do not even get to show who they are.
    automountServiceAccountToken: false,
  };
}

/** Keys are in it, so it is a Secret. */
export function configSecret(proxy: KafkaProxy, text: string): AnyObject {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: metadataOf(configSecretName(proxy.metadata.name), proxy, proxy.spec.infrastructure),
    type: 'Opaque',
    data: { [CONFIG_KEY]: Buffer.from(text).toString('base64') },
  };
}

/** What it takes to ask the pods more than whether they are well. */
export function managementSecret(proxy: KafkaProxy, access: ManagementAccess): AnyObject {
  const { token, metricsToken, certificate, privateKey } = access;
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: metadataOf(managementSecretName(proxy.metadata.name), proxy, proxy.spec.infrastructure),
    type: 'Opaque',
    data: {
      [TOKEN_KEY]: base64(token),
      [METRICS_TOKEN_KEY]: base64(metricsToken),
      [CERTIFICATE_KEY]: base64(certificate),
      [PRIVATE_KEY_KEY]: base64(privateKey),
    },
  };
}

/** On the Deployment and its pods. Of an image that a KafkaProxy keeps the version is not known; whoever chose it may say so in a label of the same name. */
export function workloadLabels({ spec }: KafkaProxy, version: string | undefined): Record<string, string> {
  const isOurs = spec.infrastructure.proxy.template?.container?.image === undefined;
  return isOurs ? versionLabels(version) : {};
}

/** The pods. Virtual clusters come and go without a change here: no ports of theirs are declared, nothing is rolled. */
export function deployment(proxy: KafkaProxy, image: string, version: string | undefined): AnyObject {
  const { name } = proxy.metadata;
  const { infrastructure } = proxy.spec;
  const selector = podLabels(name);
  const own = workloadLabels(proxy, version);
  const metadata = metadataOf(deploymentName(name), proxy, infrastructure, own);
  const { labels = {}, annotations } = metadata;
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata,
    spec: {
      replicas: infrastructure.proxy.replicas,
      ...(infrastructure.proxy.paused && { paused: true }),
      selector: { matchLabels: selector },
      strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0, maxSurge: 1 } },
      template: {
        metadata: { labels, ...(annotations && { annotations }) },
        spec: podSpec(proxy, image, selector),
      },
    },
  };
}

function podSpec(proxy: KafkaProxy, image: string, selector: Record<string, string>): object {
  const { name } = proxy.metadata;
  const { template } = proxy.spec.infrastructure.proxy;
  return {
    serviceAccountName: serviceAccountName(name),
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: terminationSeconds(proxy),
    ...CONFINED_POD,
    ...spreadOut(selector),
    ...template?.pod,
    containers: [container(proxy, template?.container?.image ?? image)],
    // A whole volume, not single files of it: only that is refreshed while the pod runs.
    volumes: [
      { name: 'config', secret: { secretName: configSecretName(name) } },
      { name: 'management', secret: { secretName: managementSecretName(name) } },
    ],
  };
}

function container(proxy: KafkaProxy, image: string): object {
  const { logLevel } = proxy.spec;
  return {
    name: 'proxy',
    image,
    args: [
      'proxy',
      '--config',
      `${CONFIG_DIRECTORY}/${CONFIG_KEY}`,
      ...(logLevel === 'info' ? [] : ['--log-level', logLevel]),
    ],
    ports: [{ name: 'management', containerPort: MANAGEMENT_PORT, protocol: 'TCP' }],
    ...PROBES,
    lifecycle: { preStop: { sleep: { seconds: PRE_STOP_SECONDS } } },
    resources: podResources(proxy),
    ...CONFINED,
    volumeMounts: [
      { name: 'config', mountPath: CONFIG_DIRECTORY, readOnly: true },
      { name: 'management', mountPath: MANAGEMENT_DIRECTORY, readOnly: true },
    ],
  };
}

/** Has the Prometheus operator collect what the pods tell, with the token and the certificate of their management port. */
export function podMonitor(proxy: KafkaProxy): AnyObject {
  const { name, namespace } = proxy.metadata;
  const secret = managementSecretName(name);
  return {
    apiVersion: 'monitoring.coreos.com/v1',
    kind: 'PodMonitor',
    metadata: metadataOf(name, proxy, proxy.spec.infrastructure),
    spec: {
      selector: { matchLabels: podLabels(name) },
      podMetricsEndpoints: [
        {
          port: 'management',
          path: '/metrics',
          scheme: 'https',
          tlsConfig: {
            ca: { secret: { name: secret, key: CERTIFICATE_KEY } },
            serverName: managementHost(name, namespace),
          },
          authorization: { type: 'Bearer', credentials: { name: secret, key: METRICS_TOKEN_KEY } },
          relabelings: [{ action: 'replace', targetLabel: 'proxy', replacement: name }],
        },
      ],
    },
  };
}

export function podDisruptionBudget(proxy: KafkaProxy): AnyObject {
  const { name } = proxy.metadata;
  return {
    apiVersion: 'policy/v1',
    kind: 'PodDisruptionBudget',
    metadata: metadataOf(name, proxy, proxy.spec.infrastructure),
    spec: { maxUnavailable: 1, selector: { matchLabels: podLabels(name) } },
  };
}

/**
 * Lets in what is served, and whom the management port is for: the operator, and what the KafkaProxy allows. Kubelets always get
 * through. An operator outside of the cluster has no address that is known here; then the tokens alone keep others off.
 */
export function networkPolicy(
  proxy: KafkaProxy,
  served: readonly Block[],
  operator: OperatorPods | undefined,
): AnyObject {
  const { name } = proxy.metadata;
  const { allowedSources } = proxy.spec.management;
  const sources = [...(operator ? [peerOf(operator)] : []), ...allowedSources];
  const management = {
    ...(sources.length > 0 && { from: sources }),
    ports: [{ protocol: 'TCP', port: MANAGEMENT_PORT }],
  };
  const ports = joined(served).map(({ start, size }) => ({
    protocol: 'TCP',
    port: start,
    ...(size > 1 && { endPort: start + size - 1 }),
  }));
  return {
    apiVersion: 'networking.k8s.io/v1',
    kind: 'NetworkPolicy',
    metadata: metadataOf(name, proxy, proxy.spec.infrastructure),
    spec: {
      podSelector: { matchLabels: podLabels(name) },
      policyTypes: ['Ingress'],
      // A rule without ports would be for all of them.
      ingress: [management, ...(ports.length > 0 ? [{ ports }] : [])],
    },
  };
}

const peerOf = ({ namespace, labels }: OperatorPods) => ({
  namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
  podSelector: { matchLabels: labels },
});

/** Blocks that lie side by side as one: networks take long over policies with thousands of ports. */
function joined(blocks: readonly Block[]): Block[] {
  const ranges: Block[] = [];
  for (const { start, size } of blocks.toSorted((a, b) => a.start - b.start)) {
    const last = ranges.at(-1);
    if (last && start <= last.start + last.size) last.size = Math.max(last.size, start + size - last.start);
    else ranges.push({ start, size });
  }
  return ranges;
}
