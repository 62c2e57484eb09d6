/** A live Pod, as the roller needs it. The one file here that knows what a Kubernetes object looks like. */
import type { AnyObject } from '../../../kube/object.ts';
import { VERSION_ANNOTATION } from '../model/names.ts';

/** What keeps a pod from running until somebody changes something. */
export const STUCK_REASONS = [
  'CrashLoopBackOff',
  'ImagePullBackOff',
  'ErrImagePull',
  'InvalidImageName',
  'CreateContainerConfigError',
  'CreateContainerError',
  'RunContainerError',
  'Unschedulable',
] as const;
export type StuckReason = (typeof STUCK_REASONS)[number];

export type PodPhase = 'Pending' | 'Running' | 'Succeeded' | 'Failed' | 'Unknown';

export interface PodFacts {
  uid: string;
  ready: boolean;
  /** Since when it is ready, or is not: milliseconds, by the kubelet's clock; undefined where nothing says so. */
  readyChangedAt: number | undefined;
  phase: PodPhase;
  /** Whether Kafka's own container runs at this moment. */
  running: boolean;
  /** Since when it does, by the kubelet's clock. */
  runningSince: number | undefined;
  deleting: boolean;
  stuck: StuckReason | undefined;
  /** Why the scheduler finds no node for it, in its own words. */
  unplaced: string | undefined;
  restarts: number;
  /** How Kafka's container ended the last time. */
  lastExit: { code: number; message: string } | undefined;
  nodeName: string | undefined;
  createdAt: number | undefined;
  /** The annotations whose name begins with `strimzi.io/` or `isthmus.dev/`. */
  annotations: Readonly<Record<string, string>>;
}

const KAFKA = 'kafka';
const READ_ANNOTATIONS = /^(strimzi\.io|isthmus\.dev)\//;
const MAX_MESSAGE = 1024;

interface ContainerStatus {
  name?: string;
  restartCount?: number;
  state?: { waiting?: { reason?: string }; running?: { startedAt?: string }; terminated?: Terminated };
  lastState?: { terminated?: Terminated };
}

interface Terminated {
  exitCode?: number;
  message?: string;
  reason?: string;
}

interface PodStatus {
  phase?: PodPhase;
  conditions?: {
    type?: string;
    status?: string;
    reason?: string;
    message?: string;
    lastTransitionTime?: string;
  }[];
  containerStatuses?: ContainerStatus[];
  initContainerStatuses?: ContainerStatus[];
}

/** The version of Kafka that each pod runs. */
export const runningVersions = (pods: readonly AnyObject[]): string[] =>
  pods.flatMap(({ metadata }) => metadata.annotations?.[VERSION_ANNOTATION] ?? []);

function timeOf(text: string | undefined): number | undefined {
  const time = Date.parse(text ?? '');
  return Number.isNaN(time) ? undefined : time;
}

/** What the scheduler says of a pod that it finds no node for. */
function unplacedOf({ conditions }: PodStatus): string | undefined {
  const scheduled = conditions?.find(({ type }) => type === 'PodScheduled');
  if (scheduled?.status !== 'False' || scheduled.reason !== 'Unschedulable') return undefined;
  return (scheduled.message ?? '').trim().slice(0, MAX_MESSAGE);
}

function stuckOf(status: PodStatus): StuckReason | undefined {
  if (unplacedOf(status) !== undefined) return 'Unschedulable';
  const all = [...(status.initContainerStatuses ?? []), ...(status.containerStatuses ?? [])];
  const reasons = new Set(all.map(({ state }) => state?.waiting?.reason));
  return STUCK_REASONS.find((stuck) => reasons.has(stuck));
}

/** What the process said last, cut short: it goes into status and events. */
function lastExitOf(kafka: ContainerStatus | undefined): PodFacts['lastExit'] {
  const ended = kafka?.state?.terminated ?? kafka?.lastState?.terminated;
  if (ended?.exitCode === undefined) return undefined;
  const message = (ended.message ?? ended.reason ?? '').trim();
  return { code: ended.exitCode, message: message.slice(0, MAX_MESSAGE) };
}

function annotationsOf(pod: AnyObject): Record<string, string> {
  const all = Object.entries(pod.metadata.annotations ?? {});
  return Object.fromEntries(all.filter(([name]) => READ_ANNOTATIONS.test(name)));
}

/** Reads a Pod; what is missing from it reads as the worse case. `container` is the broker's. */
export function podFacts(pod: AnyObject, container = KAFKA): PodFacts {
  const { metadata } = pod;
  const status = (pod['status'] ?? {}) as PodStatus;
  const spec = (pod['spec'] ?? {}) as { nodeName?: string };
  const kafka = status.containerStatuses?.find(({ name }) => name === container);
  const ready = status.conditions?.find(({ type }) => type === 'Ready');
  return {
    uid: metadata.uid ?? '',
    ready: ready?.status === 'True' && metadata.deletionTimestamp === undefined,
    readyChangedAt: timeOf(ready?.lastTransitionTime),
    phase: status.phase ?? 'Unknown',
    // A pod of which nobody can say whether its process runs counts as one that does.
    running: kafka?.state === undefined ? status.phase !== 'Pending' : kafka.state.running !== undefined,
    runningSince: timeOf(kafka?.state?.running?.startedAt),
    deleting: metadata.deletionTimestamp !== undefined,
    stuck: stuckOf(status),
    unplaced: unplacedOf(status),
    restarts: kafka?.restartCount ?? 0,
    lastExit: lastExitOf(kafka),
    nodeName: spec.nodeName,
    createdAt: timeOf(metadata.creationTimestamp),
    annotations: annotationsOf(pod),
  };
}
