/** The StatefulSet of a Redpanda cluster. Kubernetes makes its pods and their claims; when a pod is replaced is decided here. */
import { hashOf, isJsonObject } from '../../kube/json.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { NameGrant } from '../brokers/model/charter.ts';
import { CONFINED_POD } from '../shared/pod-template.ts';
import { NODE_FACTS_LABEL, PREFERRED_ADDRESS_ANNOTATION } from '../shared/node-annotations.ts';
import { brokerConfig } from './config.ts';
import { configureScript, placeNeedOf } from './configure.ts';
import { preferringNodes } from './former-nodes.ts';
import type { PodSpec } from './former-nodes.ts';
import type { Running } from './front/cluster.ts';
import type { RedpandaModel } from './model.ts';
import {
  BOOTSTRAP_ANNOTATION,
  CONFIG_DIRECTORY,
  CONTAINER,
  DATA_DIRECTORY,
  DATA_VOLUME,
  HOST_PORT_ANNOTATION,
  NAMES_ANNOTATION,
  POD_DIRECTORY,
  REVISION_ANNOTATION,
  SOURCE_DIRECTORY,
  clientCaDirectory,
  configMapName,
  headlessServiceName,
  objectLabels,
  podSelector,
  serviceAccountName,
  statefulSetName,
  tlsDirectory,
} from './names.ts';
import { clientListeners, metadataOf } from './objects.ts';
import { namesText } from './recorded-names.ts';

/** In the official image. */
const REDPANDA_USER = 101;
const GRACE_SECONDS = 120;

/** What is written down with the StatefulSet. */
export interface Kept {
  /** The settings that the cluster was founded with. */
  founded: string;
  hostPort: number | undefined;
  /** What its brokers are called outside. */
  grant: NameGrant | undefined;
  /** Nodes that brokers are rather put on: see `formerNodes`. */
  formerNodes: readonly string[];
}

export function statefulSet(model: RedpandaModel, clusterDomain: string, kept: Kept): AnyObject {
  const { name, replicas } = model;
  const { founded, hostPort, grant, formerNodes } = kept;
  return {
    apiVersion: 'apps/v1',
    kind: 'StatefulSet',
    metadata: {
      ...metadataOf(model, statefulSetName(name)),
      annotations: {
        [BOOTSTRAP_ANNOTATION]: founded,
        ...(hostPort !== undefined && { [HOST_PORT_ANNOTATION]: String(hostPort) }),
        ...(grant && { [NAMES_ANNOTATION]: namesText(grant) }),
      },
    },
    spec: {
      replicas,
      serviceName: headlessServiceName(name),
      podManagementPolicy: 'Parallel',
      updateStrategy: { type: 'OnDelete' },
      selector: { matchLabels: podSelector(name) },
      template: {
        metadata: {
          labels: { ...objectLabels(name), [NODE_FACTS_LABEL]: 'true' },
          annotations: { ...annotationsOf(model), [REVISION_ANNOTATION]: revisionOf(model, clusterDomain) },
        },
        spec: preferringNodes(podSpec(model), formerNodes),
      },
      volumeClaimTemplates: [claimTemplate(model)],
    },
  };
}

/** Changes with all that a broker reads when it starts. It is the same for all of them, however many there are. */
export const revisionOf = (model: RedpandaModel, clusterDomain: string): string =>
  hashOf({
    spec: podSpec(model),
    annotations: annotationsOf(model),
    config: brokerConfig(model, 0, clusterDomain),
  });

/** Whatever the pods are to be told first, where clients are told addresses. */
function annotationsOf({ podAnnotations, external }: RedpandaModel): Record<string, string> {
  const type = external && !external.names ? external.addressType : undefined;
  return { ...podAnnotations, ...(type !== undefined && { [PREFERRED_ADDRESS_ANNOTATION]: type }) };
}

/** What the settings of the cluster are compared by. */
export const bootstrapHash = ({ bootstrap }: Pick<RedpandaModel, 'bootstrap'>): string => hashOf(bootstrap);

function claimTemplate({ name, storage }: RedpandaModel): object {
  const { size, storageClass } = storage;
  return {
    metadata: { name: DATA_VOLUME, labels: objectLabels(name) },
    spec: {
      accessModes: ['ReadWriteOnce'],
      ...(storageClass !== undefined && { storageClassName: storageClass }),
      resources: { requests: { storage: size } },
    },
  };
}

/** Two brokers on one node would go together. */
const apart = (name: string) => ({
  podAntiAffinity: {
    requiredDuringSchedulingIgnoredDuringExecution: [
      { labelSelector: { matchLabels: podSelector(name) }, topologyKey: 'kubernetes.io/hostname' },
    ],
  },
});

function podSpec(model: RedpandaModel): PodSpec {
  const { name, developerMode, pod } = model;
  const isTold = placeNeedOf(model.external) === 'nodeAddress';
  return {
    serviceAccountName: serviceAccountName(name),
    automountServiceAccountToken: false,
    enableServiceLinks: false,
    terminationGracePeriodSeconds: GRACE_SECONDS,
    securityContext: {
      ...CONFINED_POD.securityContext,
      runAsUser: REDPANDA_USER,
      runAsGroup: REDPANDA_USER,
      fsGroup: REDPANDA_USER,
    },
    ...(!developerMode && { affinity: apart(name) }),
    ...pod,
    initContainers: [configurator(model)],
    containers: [container(model)],
    volumes: [
      { name: 'source', configMap: { name: configMapName(name) } },
      { name: 'config', emptyDir: {} },
      { name: 'tmp', emptyDir: {} },
      ...(isTold ? [POD_VOLUME] : []),
      ...tlsVolumes(model).map(({ volume, secretName }) => ({ name: volume, secret: { secretName } })),
    ],
  };
}

const CONFINED_CONTAINER = { allowPrivilegeEscalation: false, capabilities: { drop: ['ALL'] } };

const fieldEnv = (name: string, fieldPath: string) => ({ name, valueFrom: { fieldRef: { fieldPath } } });

/** What a pod is told about its node, which may come after the pod has started. */
const POD_VOLUME = {
  name: 'pod',
  downwardAPI: { items: [{ path: 'annotations', fieldRef: { fieldPath: 'metadata.annotations' } }] },
};

function configurator({ image, external }: RedpandaModel): object {
  const need = placeNeedOf(external);
  return {
    name: 'redpanda-configurator',
    image,
    command: ['/bin/sh', '-c', configureScript(need)],
    env: [
      fieldEnv('POD_NAME', 'metadata.name'),
      ...(need === 'hostIP' ? [fieldEnv('HOST_IP', 'status.hostIP')] : []),
    ],
    securityContext: CONFINED_CONTAINER,
    volumeMounts: [
      { name: 'source', mountPath: SOURCE_DIRECTORY, readOnly: true },
      { name: 'config', mountPath: CONFIG_DIRECTORY },
      ...(need === 'nodeAddress'
        ? [{ name: POD_VOLUME.name, mountPath: POD_DIRECTORY, readOnly: true }]
        : []),
    ],
  };
}

function container(model: RedpandaModel): object {
  const { image, admin, rpcPort, external, resources } = model;
  const named = (name: string, containerPort: number) => ({ name, containerPort, protocol: 'TCP' });
  return {
    name: CONTAINER,
    image,
    command: ['/usr/bin/rpk'],
    args: [
      'redpanda',
      'start',
      '--check=false',
      ...Object.entries(model.arguments).map(([name, value]) => `--${name}=${value}`),
    ],
    env: [
      { name: 'REDPANDA_ENVIRONMENT', value: 'kubernetes' },
      fieldEnv('POD_NAME', 'metadata.name'),
      fieldEnv('POD_NAMESPACE', 'metadata.namespace'),
      fieldEnv('POD_IP', 'status.podIP'),
    ],
    ports: [
      named(admin.name, admin.port),
      named('rpc', rpcPort),
      ...clientListeners(model).map(({ name, port }) => named(name, port)),
      ...(external ? [{ ...named(external.name, external.port), hostPort: external.hostPort }] : []),
    ],
    readinessProbe: {
      httpGet: { path: '/v1/status/ready', port: admin.port },
      periodSeconds: 5,
      timeoutSeconds: 5,
      failureThreshold: 3,
    },
    resources,
    securityContext: CONFINED_CONTAINER,
    volumeMounts: [
      { name: DATA_VOLUME, mountPath: DATA_DIRECTORY },
      { name: 'config', mountPath: CONFIG_DIRECTORY },
      { name: 'tmp', mountPath: '/tmp' },
      ...tlsVolumes(model).map(({ volume, mountPath }) => ({ name: volume, mountPath, readOnly: true })),
    ],
  };
}

/** The Secrets of listeners, and where they are mounted. */
const tlsVolumes = ({ kafka, external }: RedpandaModel) =>
  [...kafka, ...(external ? [external] : [])].flatMap(({ name, tls }) => [
    ...(tls ? [{ volume: `tls-${name}`, secretName: tls.secret, mountPath: tlsDirectory(name) }] : []),
    ...(tls?.clientCa !== undefined
      ? [{ volume: `ca-${name}`, secretName: tls.clientCa, mountPath: clientCaDirectory(name) }]
      : []),
  ]);

interface LiveSpec {
  replicas?: number;
  template?: {
    spec?: { containers?: { name?: string; image?: string; ports?: { hostPort?: number }[] }[] };
  };
  volumeClaimTemplates?: {
    spec?: { storageClassName?: string; resources?: { requests?: { storage?: string } } };
  }[];
}

/** The port of the nodes that its pods have now. */
export function hostPortIn(statefulSet: AnyObject | undefined): number | undefined {
  const { template } = (statefulSet?.['spec'] ?? {}) as LiveSpec;
  const ports = (template?.spec?.containers ?? []).flatMap((one) => one.ports ?? []);
  return ports.find(({ hostPort }) => hostPort)?.hostPort;
}

/** A pod as its StatefulSet makes it. */
export function podOf({ metadata, spec }: AnyObject, name: string): AnyObject {
  const { template } = spec as { template: { metadata: object; spec: { volumes?: object[] } } };
  const claim = { name: DATA_VOLUME, persistentVolumeClaim: { claimName: `${DATA_VOLUME}-${name}` } };
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { ...template.metadata, name, namespace: metadata.namespace },
    spec: { ...template.spec, volumes: [...(template.spec.volumes ?? []), claim] },
  } as AnyObject;
}

/** What a StatefulSet that is there says of its cluster. */
export function runningOf({ spec }: AnyObject, hasRun: boolean): Running {
  const { replicas = 0, template, volumeClaimTemplates = [] } = (isJsonObject(spec) ? spec : {}) as LiveSpec;
  const image = template?.spec?.containers?.find(({ name }) => name === CONTAINER)?.image ?? '';
  const claim = volumeClaimTemplates[0]?.spec;
  return {
    replicas,
    storage: { size: claim?.resources?.requests?.storage ?? '', storageClass: claim?.storageClassName },
    version: image.slice(image.lastIndexOf(':') + 1),
    hasRun,
  };
}
