/** Keeps the pods of all nodes as the API server has them: started, told of changes, ended, and their status written. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Api } from '../clusters/api.ts';
import { openHostPorts } from './host-ports.ts';
import type { HostPorts } from './host-ports.ts';
import type { RunnerNode } from './nodes.ts';
import { startPod } from './pod.ts';
import type { PodPlan, RunningPod } from './pod.ts';
import { mergeConditions, podStatus, timestamp } from './status.ts';
import { keyOf } from './types.ts';
import type { Contents, Pod } from './types.ts';

export interface KubeletOptions extends Pick<PodPlan, 'rootOf' | 'claimFolder'> {
  api: Api;
  /** Has the folders `names` and `pods`. */
  home: string;
  nodes: readonly RunnerNode[];
  newAddress: () => Promise<string>;
}

export interface Kubelet {
  settle(pods: readonly Pod[], contents: Contents): Promise<void>;
  isUp(node: string): boolean;
  addressOf(key: string): string | undefined;
  logsOf(key: string): Promise<string>;
  /** Ends all pods of a node, and is silent about them from then on. */
  lose(node: string): Promise<void>;
  regain(node: string): void;
  stop(): Promise<void>;
}

interface Running {
  pod: Pod;
  life: RunningPod;
  hostPorts: HostPorts;
  /** What was last written. */
  status: string;
  isEnding: boolean;
}

const pathOf = ({ metadata }: Pod) => `/api/v1/namespaces/${metadata.namespace}/pods/${metadata.name}`;
const isOver = ({ status }: Pod) => status?.phase === 'Succeeded' || status?.phase === 'Failed';

/** Takes the object of a pod away, which nobody but a kubelet does. */
async function remove(api: Api, pod: Pod): Promise<void> {
  await api.ask('DELETE', pathOf(pod), { gracePeriodSeconds: 0, preconditions: { uid: pod.metadata.uid } });
}

/** Writes what has changed. */
async function writeStatus(api: Api, running: Running): Promise<void> {
  const status = podStatus(running.pod, running.life.record, timestamp());
  const text = JSON.stringify(status);
  if (text === running.status) return;
  const answer = await api.ask('PATCH', `${pathOf(running.pod)}/status`, {
    metadata: { uid: running.pod.metadata.uid },
    status,
  });
  if (answer?.status === 200) running.status = text;
}

/** A pod whose node is lost is not ready, says the controller manager. */
async function declareUnready(api: Api, pod: Pod): Promise<void> {
  const unready = { type: 'Ready', status: 'False', reason: 'NodeNotReady' };
  const conditions = mergeConditions(pod.status?.conditions ?? [], [unready], timestamp());
  await api.ask('PATCH', `${pathOf(pod)}/status`, { status: { conditions } });
}

/** The kubelets of these nodes, in one. */
export function createKubelet({ api, home, nodes, newAddress, ...plan }: KubeletOptions): Kubelet {
  const running = new Map<string, Running>();
  const logs = new Map<string, string[]>();
  const down = new Set<string>();
  const nodeOf = ({ spec }: Pod) => nodes.find(({ name }) => name === spec.nodeName && !down.has(name));

  async function start(pod: Pod, contents: Contents): Promise<void> {
    const { uid } = pod.metadata;
    const folder = join(home, 'pods', uid);
    await mkdir(folder, { recursive: true });
    const podIP = await newAddress();
    const node = nodeOf(pod);
    if (!node) return; // lost meanwhile
    const place = { podIP, hostIP: node.internal };
    const hostPorts = await openHostPorts(node, pod, podIP);
    const former = pod.status?.containerStatuses?.[0]?.restartCount;
    const restarts = former === undefined ? 0 : former + 1;
    const life = startPod({ ...plan, place, folder, names: join(home, 'names') }, pod, contents, restarts);
    running.set(uid, { pod, life, hostPorts, status: '', isEnding: false });
    const known = logs.get(keyOf(pod.metadata)) ?? [];
    logs.set(keyOf(pod.metadata), [...known.filter((each) => each !== life.logFile), life.logFile]);
  }

  function end(its: Running, graceSeconds: number): void {
    its.isEnding = true;
    void its.life.stop(graceSeconds * 1000).then(async () => {
      its.hostPorts.close();
      running.delete(its.pod.metadata.uid);
      // On a node that was lost meanwhile nobody is there to take the object away.
      if (nodeOf(its.pod)) await remove(api, its.pod);
    });
  }

  async function settleOne(pod: Pod, contents: Contents): Promise<void> {
    const { uid, deletionTimestamp, deletionGracePeriodSeconds = 30 } = pod.metadata;
    const its = running.get(uid);
    if (!its && deletionTimestamp !== undefined) return remove(api, pod);
    if (!its) return isOver(pod) ? undefined : start(pod, contents);
    its.pod = pod;
    await its.hostPorts.settle();
    if (deletionTimestamp !== undefined && !its.isEnding) end(its, deletionGracePeriodSeconds);
    await its.life.update(pod, contents);
    if (running.get(uid) === its) await writeStatus(api, its); // else it has ended meanwhile
  }

  async function forget(lost: readonly Running[]): Promise<void> {
    for (const { pod, hostPorts } of lost) {
      running.delete(pod.metadata.uid);
      hostPorts.close();
    }
    await Promise.all(lost.map(({ life }) => life.kill()));
  }

  return {
    async settle(pods, contents) {
      const there = new Set(pods.map(({ metadata }) => metadata.uid));
      await forget([...running.values()].filter(({ pod }) => !there.has(pod.metadata.uid)));
      for (const pod of pods) if (nodeOf(pod)) await settleOne(pod, contents);
    },
    isUp: (node) => !down.has(node),
    addressOf: (key) =>
      [...running.values()].find(({ pod }) => keyOf(pod.metadata) === key)?.life.record.place.podIP,
    async logsOf(key) {
      const texts = (logs.get(key) ?? []).map((file) => readFile(file, 'utf8').catch(() => ''));
      return (await Promise.all(texts)).join('');
    },
    async lose(node) {
      down.add(node);
      const lost = [...running.values()].filter(({ pod }) => pod.spec.nodeName === node);
      await forget(lost);
      for (const { pod } of lost) await declareUnready(api, pod);
    },
    regain: (node) => void down.delete(node),
    stop: () => forget([...running.values()]),
  };
}
