/** As much of Kubernetes' kinds as the pod runner reads and writes. */

export interface Meta {
  name: string;
  namespace: string;
  uid: string;
  labels?: Record<string, string>;
  annotations?: Record<string, string>;
  finalizers?: string[];
  deletionTimestamp?: string;
  deletionGracePeriodSeconds?: number;
}

export interface KeyToPath {
  key: string;
  path: string;
  mode?: number;
}

interface ObjectSource {
  optional?: boolean;
  items?: KeyToPath[];
}

export interface FieldRef {
  fieldRef?: { fieldPath: string };
}

/** What a projected volume may have, and other volumes have one of. */
export interface VolumeSource {
  configMap?: ObjectSource & { name: string };
  secret?: ObjectSource & { secretName?: string; name?: string };
  downwardAPI?: { items?: ({ path: string } & FieldRef)[] };
}

export interface Volume extends VolumeSource {
  name: string;
  emptyDir?: object;
  projected?: { sources?: VolumeSource[] };
  persistentVolumeClaim?: { claimName: string; readOnly?: boolean };
}

interface KeyRef {
  name: string;
  key: string;
  optional?: boolean;
}

export interface EnvVar {
  name: string;
  value?: string;
  valueFrom?: FieldRef & { configMapKeyRef?: KeyRef; secretKeyRef?: KeyRef };
}

export interface Probe {
  tcpSocket?: { port: number | string };
  httpGet?: { path?: string; port: number | string };
  exec?: { command: string[] };
  initialDelaySeconds?: number;
  periodSeconds?: number;
  timeoutSeconds?: number;
  successThreshold?: number;
  failureThreshold?: number;
}

interface SecurityContext {
  runAsUser?: number;
  runAsGroup?: number;
}

export interface ContainerSpec {
  name: string;
  image: string;
  command?: string[];
  args?: string[];
  env?: EnvVar[];
  ports?: { name?: string; containerPort: number; hostPort?: number; protocol?: string }[];
  volumeMounts?: { name: string; mountPath: string; readOnly?: boolean; subPath?: string }[];
  readinessProbe?: Probe;
  livenessProbe?: Probe;
  securityContext?: SecurityContext;
  terminationMessagePolicy?: string;
}

export interface Requirement {
  key: string;
  operator: string;
  values?: string[];
}

export interface LabelSelector {
  matchLabels?: Record<string, string>;
  matchExpressions?: Requirement[];
}

export interface PodSpec {
  nodeName?: string;
  hostname?: string;
  subdomain?: string;
  containers: ContainerSpec[];
  initContainers?: ContainerSpec[];
  restartPolicy?: string;
  volumes?: Volume[];
  securityContext?: SecurityContext & { fsGroup?: number; supplementalGroups?: number[] };
  nodeSelector?: Record<string, string>;
  affinity?: {
    nodeAffinity?: {
      requiredDuringSchedulingIgnoredDuringExecution?: {
        nodeSelectorTerms: { matchExpressions?: Requirement[] }[];
      };
    };
    podAntiAffinity?: {
      requiredDuringSchedulingIgnoredDuringExecution?: {
        labelSelector?: LabelSelector;
        topologyKey: string;
      }[];
    };
  };
  tolerations?: { key?: string; operator?: string; value?: string; effect?: string }[];
  schedulingGates?: { name: string }[];
}

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  lastTransitionTime?: string;
}

export interface PodStatus {
  phase?: string;
  conditions?: Condition[];
  podIP?: string;
  containerStatuses?: { restartCount: number }[];
  [other: string]: unknown;
}

export interface Pod {
  metadata: Meta;
  spec: PodSpec;
  status?: PodStatus;
}

export interface Node {
  metadata: { name: string; labels?: Record<string, string> };
  spec?: { unschedulable?: boolean; taints?: { key: string; value?: string; effect: string }[] };
  status?: { conditions?: Condition[] };
}

export interface Service {
  metadata: Meta;
  spec: {
    type?: string;
    clusterIP?: string;
    selector?: Record<string, string>;
    publishNotReadyAddresses?: boolean;
  };
}

export interface Claim {
  metadata: Meta;
  spec: {
    volumeName?: string;
    accessModes?: string[];
    resources?: { requests?: { storage?: string } };
  };
  status?: { phase?: string; capacity?: { storage?: string } };
}

export interface ConfigMap {
  metadata: Meta;
  data?: Record<string, string>;
  binaryData?: Record<string, string>;
}

export interface Secret {
  metadata: Meta;
  data?: Record<string, string>;
}

/** What of a cluster the volumes and variables of pods are made of. */
export interface Contents {
  configMaps: readonly ConfigMap[];
  secrets: readonly Secret[];
}

export const keyOf = ({ namespace, name }: Pick<Meta, 'namespace' | 'name'>): string =>
  `${namespace}/${name}`;

/** Whether a condition of this type holds. */
export const holds = (conditions: readonly Condition[] | undefined, type: string): boolean =>
  (conditions ?? []).some((each) => each.type === type && each.status === 'True');
