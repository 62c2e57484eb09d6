/** What a kubelet writes about a pod: from records of its containers to `status`. Pure. */
import type { Condition, Pod, PodStatus } from './types.ts';
import type { Place } from './volumes.ts';

interface Terminated {
  exitCode: number;
  reason: string;
  message?: string;
  startedAt: string;
  finishedAt: string;
}

/** What is known of one container; kept up to date by whoever runs it. */
export interface ContainerRecord {
  readonly name: string;
  readonly image: string;
  state:
    | { waiting: { reason: string; message?: string } }
    | { running: { startedAt: string } }
    | { terminated: Terminated };
  lastState: { terminated?: Terminated };
  restartCount: number;
  ready: boolean;
}

export interface PodRecord {
  place: Place;
  startTime: string;
  init: readonly ContainerRecord[];
  containers: readonly ContainerRecord[];
}

/** Now, as exactly as the API server keeps it. */
export const timestamp = (): string => new Date().toISOString().replace(/\.\d+Z$/, 'Z');

/** Of a container that nobody has started yet. */
export function newRecord(name: string, image: string, restartCount = 0): ContainerRecord {
  const state = { waiting: { reason: 'ContainerCreating' } };
  return { name, image, state, lastState: {}, restartCount, ready: false };
}

/** How a run of a container ended. */
export function terminated(exitCode: number, message: string, startedAt: string): Terminated {
  const reason = exitCode === 0 ? 'Completed' : 'Error';
  return { exitCode, reason, ...(message === '' ? {} : { message }), startedAt, finishedAt: timestamp() };
}

const isDone = ({ state }: ContainerRecord) => 'terminated' in state && state.terminated.exitCode === 0;

const containerStatus = (record: ContainerRecord) => ({
  ...record,
  started: 'running' in record.state,
  imageID: record.image,
});

const condition = (type: string, holds: boolean, reason?: string): Condition => ({
  type,
  status: holds ? 'True' : 'False',
  ...(holds || reason === undefined ? {} : { reason }),
});

/** Conditions that others wrote stay, and those that say what they said before keep their time. */
export function mergeConditions(
  before: readonly Condition[],
  now: readonly Condition[],
  at: string,
): Condition[] {
  const timed = now.map((each) => {
    const former = before.find(({ type }) => type === each.type);
    const isSame = former?.status === each.status && former.lastTransitionTime !== undefined;
    return { ...each, lastTransitionTime: isSame ? former.lastTransitionTime! : at };
  });
  return [...before.filter(({ type }) => now.every((each) => each.type !== type)), ...timed];
}

/** Of a pod whose containers are not started again. */
function endOf({ spec }: Pod, containers: readonly ContainerRecord[]): 'Succeeded' | 'Failed' | undefined {
  const codes = containers.map(({ state }) =>
    'terminated' in state ? state.terminated.exitCode : undefined,
  );
  if (spec.restartPolicy !== 'Never' || codes.includes(undefined)) return undefined;
  return codes.every((code) => code === 0) ? 'Succeeded' : 'Failed';
}

/** The `status` of a pod that is on a node. */
export function podStatus(
  pod: Pod,
  { place, startTime, init, containers }: PodRecord,
  now: string,
): PodStatus {
  const isInitialized = init.every(isDone);
  const isReady = isInitialized && containers.every(({ ready }) => ready);
  const hasBegun = containers.some(({ state, restartCount }) => !('waiting' in state) || restartCount > 0);
  const unready = 'ContainersNotReady';
  const conditions = [
    condition('PodScheduled', true),
    condition('Initialized', isInitialized, 'ContainersNotInitialized'),
    condition('ContainersReady', isReady, unready),
    condition('Ready', isReady, unready),
  ];
  return {
    phase: endOf(pod, containers) ?? (isInitialized && hasBegun ? 'Running' : 'Pending'),
    hostIP: place.hostIP,
    hostIPs: [{ ip: place.hostIP }],
    podIP: place.podIP,
    podIPs: [{ ip: place.podIP }],
    startTime,
    conditions: mergeConditions(pod.status?.conditions ?? [], conditions, now),
    initContainerStatuses: init.map(containerStatus),
    containerStatuses: containers.map(containerStatus),
  };
}
