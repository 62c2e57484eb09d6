/** From a Cluster to the brokers that are to run, or what keeps them from it. Pure. */
import type { KubeObject } from '../../../kube/object.ts';
import { bytesOf } from '../../../resources/common/quantity.ts';
import type { RedpandaCluster } from '../../../resources/redpanda/cluster.ts';
import { isWarning } from '../faults.ts';
import type { Fault } from '../faults.ts';
import type { RedpandaModel, Storage } from '../model.ts';
import { MANAGED_ANNOTATION, podName } from '../names.ts';
import { argumentsOf } from './arguments.ts';
import type { ExternalWish } from './external.ts';
import { listenersOf } from './listeners.ts';
import { settingsOf } from './settings.ts';

/** Whether a Cluster asks to be run by this operator. */
export const isManaged = ({ metadata }: Pick<KubeObject, 'metadata'>): boolean =>
  metadata.annotations?.[MANAGED_ANNOTATION] === 'true';

/** What there is of the cluster already. */
export interface Running {
  replicas: number;
  storage: Storage;
  version: string;
  /** Whether a broker was ready once: there may be data. */
  hasRun: boolean;
}

export interface Reading {
  /** Undefined where something is refused: what runs goes on as it is. */
  model: RedpandaModel | undefined;
  /** What is asked for of outside; the model has it once it has a port. */
  external: ExternalWish | undefined;
  faults: Fault[];
}

const DEFAULT_IMAGE = 'docker.redpanda.com/redpandadata/redpanda';
const DEFAULT_SIZE = '100Gi';

export function fromCluster(cluster: RedpandaCluster, running: Running | undefined): Reading {
  const { metadata, spec } = cluster;
  const { listeners, external, faults: listenerFaults } = listenersOf(cluster);
  const { settings, bootstrap, faults: settingFaults } = settingsOf(spec);
  const { replicas = 1, version = '', image = DEFAULT_IMAGE, podDisruptionBudget } = spec;
  const storage = storageOf(spec, running?.storage);
  const faults = [
    ...nameFaults(metadata.name),
    ...countFaults(replicas, running),
    ...versionFaults(version, running),
    ...storageFaults(storage, running?.storage),
    ...budgetFaults(podDisruptionBudget),
    ...listenerFaults,
    ...settingFaults,
    ...otherFaults(spec),
  ];
  if (faults.some((fault) => !isWarning(fault))) return { model: undefined, external, faults };
  const model: RedpandaModel = {
    namespace: metadata.namespace,
    name: metadata.name,
    uid: metadata.uid ?? '',
    replicas,
    image: `${image}:${version}`,
    version,
    storage,
    arguments: argumentsOf(spec),
    developerMode: spec.configuration.developerMode ?? false,
    ...listeners,
    external: undefined,
    settings,
    bootstrap,
    disruptionBudget: budgetOf(podDisruptionBudget),
    ...podWishes(spec),
  };
  return { model, external, faults };
}

function podWishes(
  spec: RedpandaCluster['spec'],
): Pick<RedpandaModel, 'resources' | 'podAnnotations' | 'pod'> {
  const { annotations = {}, nodeSelector, tolerations, priorityClassName } = spec;
  const { requests, limits } = spec.resources ?? {};
  return {
    resources: { ...(requests && { requests }), ...(limits && { limits }) },
    podAnnotations: annotations,
    pod: {
      ...(nodeSelector && { nodeSelector }),
      ...(tolerations && { tolerations }),
      ...(priorityClassName !== undefined && { priorityClassName }),
    },
  };
}

const refusal = (reason: Fault['reason'], field: string, message: string): Fault => ({
  reason,
  path: field.split('.'),
  message: `${field}: ${message}`,
});

/** Names of pods and Services are labels of DNS names. */
const LABEL = /^[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
const LONG_ORDINAL = 10_000;

function nameFaults(name: string): Fault[] {
  if (LABEL.test(podName(name, LONG_ORDINAL)) && LABEL.test(`${name}-cluster`)) return [];
  const message = 'begin with a letter, use at most 55 lower-case letters, digits and dashes, and no dots';
  return [refusal('Invalid', 'metadata.name', message)];
}

function countFaults(replicas: number, running: Running | undefined): Fault[] {
  if (replicas < 1) return [refusal('Invalid', 'spec.replicas', 'there has to be at least one broker')];
  if (running?.hasRun && replicas < running.replicas)
    return [
      refusal(
        'ChangeNotPossible',
        'spec.replicas',
        `brokers cannot be taken away yet, since their data would have to be moved first; go back to ${running.replicas}`,
      ),
    ];
  if (replicas % 2 === 1) return [];
  const message = `${replicas} brokers survive no more failures than ${replicas - 1}; an odd number is better`;
  return [refusal('Layout', 'spec.replicas', message)];
}

const TAG = /^[A-Za-z0-9_][A-Za-z0-9_.-]{0,127}$/;

/** Year and feature release, in which the data on disks may change. */
function releaseOf(version: string): number | undefined {
  const [, year, feature] = /^v?(\d{1,4})\.(\d{1,4})\.\d/.exec(version) ?? [];
  return year === undefined ? undefined : Number(year) * 10_000 + Number(feature);
}

function versionFaults(version: string, running: Running | undefined): Fault[] {
  if (!TAG.test(version))
    return [refusal('Invalid', 'spec.version', 'name the tag of the image, e.g. v25.2.1')];
  const [wanted, had] = [releaseOf(version), releaseOf(running?.version ?? '')];
  if (!running?.hasRun || wanted === undefined || had === undefined || wanted >= had) return [];
  const message = `Redpanda cannot go back from ${running.version} to ${version}: its data may have another form; go back to ${running.version}`;
  return [refusal('ChangeNotPossible', 'spec.version', message)];
}

/** As it was written first, where it means the same: the claims of a StatefulSet cannot be changed. */
function storageOf({ storage }: RedpandaCluster['spec'], had: Storage | undefined): Storage {
  const { capacity = DEFAULT_SIZE, storageClassName } = storage ?? {};
  const size = String(capacity);
  const isSame = had !== undefined && bytesOf(size) === bytesOf(had.size);
  return { size: isSame ? had.size : size, storageClass: storageClassName || undefined };
}

function storageFaults({ size, storageClass }: Storage, had: Storage | undefined): Fault[] {
  if (!had) return [];
  const field = 'spec.storage';
  return [
    ...(size === had.size ? [] : [refusal('ChangeNotPossible', `${field}.capacity`, `disks keep the size that they were made with; go back to ${had.size}, and let the PersistentVolumeClaims grow by hand if their class can`)]), // prettier-ignore
    ...(storageClass === had.storageClass ? [] : [refusal('ChangeNotPossible', `${field}.storageClassName`, `disks cannot change their class; go back to ${had.storageClass ?? 'none'}`)]), // prettier-ignore
  ];
}

type Budget = RedpandaCluster['spec']['podDisruptionBudget'];

function budgetFaults(budget: Budget): Fault[] {
  if (budget?.minAvailable === undefined || budget.maxUnavailable === undefined) return [];
  return [refusal('Invalid', 'spec.podDisruptionBudget', 'remove minAvailable or maxUnavailable: only one can count')]; // prettier-ignore
}

function budgetOf(budget: Budget): RedpandaModel['disruptionBudget'] {
  const { enabled = true, minAvailable, maxUnavailable = 1 } = budget ?? {};
  if (!enabled) return undefined;
  return minAvailable === undefined ? { maxUnavailable } : { minAvailable };
}

/** Fields of Redpanda's operator that mean much, and would be missed. */
const REFUSED = ['nodePools', 'cloudStorage', 'clusterConfiguration'] as const;
/** Those that a cluster can do without. */
const IGNORED = ['sidecars', 'licenseRef', 'restartConfig', 'initialValidationForVolume', 'serviceAccount'] as const; // prettier-ignore

function otherFaults(spec: RedpandaCluster['spec']): Fault[] {
  return [
    ...REFUSED.flatMap((field) =>
      isSet(spec[field]) ? [refusal('NotSupported', `spec.${field}`, 'is not supported; remove it')] : [],
    ),
    ...IGNORED.flatMap((field) =>
      isSet(spec[field]) ? [refusal('FieldIgnored', `spec.${field}`, 'has no effect')] : [],
    ),
  ];
}

/** An empty list or object, or one that is switched off, asks for nothing. */
function isSet(value: unknown): boolean {
  if (value === undefined || value === null || value === false || value === '') return false;
  if (typeof value !== 'object') return true;
  return Object.keys(value).length > 0 && (value as { enabled?: unknown }).enabled !== false;
}
