/** One pod on a node: its volumes as folders, its containers as processes, and what is to be said of them. */
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { excerpt } from '../../../src/store/embedded/process.ts';
import type { ImageRoot } from '../images/root.ts';
import { startContainer } from './container.ts';
import type { Container, Mount } from './container.ts';
import type { PodImage } from './images.ts';
import { keepRunning } from './life.ts';
import type { NotYet } from './life.ts';
import { problemOf } from './probe.ts';
import { newRecord, timestamp } from './status.ts';
import type { ContainerRecord, PodRecord } from './status.ts';
import type { ContainerSpec, Contents, Pod, Volume } from './types.ts';
import { environmentOf, filesOf, openToGroup, ownAddressOnly, replaceFiles } from './volumes.ts';
import type { Place } from './volumes.ts';

/** Where the hosts file is, inside. */
const NAMES = '/run/testbed';
/** Small and quick to start: one processor, one compiler. The heap is that of a test, whatever the pod asks for. */
const HEAP = '-Xms64m -Xmx256m';
const JAVA = `-XX:ActiveProcessorCount=1 -XX:TieredStopAtLevel=1 -Djdk.net.hosts.file=${NAMES}/hosts`;

export interface PodPlan {
  place: Place;
  /** For what belongs to this pod alone. */
  folder: string;
  /** Folder of the hosts file. */
  names: string;
  /** The root file system of an image; undefined if nobody has it. */
  rootOf(image: string): PodImage | undefined;
  /** The folder of a claim; undefined if there is no such claim. */
  claimFolder(namespace: string, claim: string): string | undefined;
}

export interface RunningPod {
  readonly record: PodRecord;
  readonly logFile: string;
  /** Tells it of its object and what its volumes are made of, as they are now. */
  update(pod: Pod, contents: Contents): Promise<void>;
  /** Ends its containers within the grace. */
  stop(graceMs: number): Promise<void>;
  /** Ends its containers at once. */
  kill(): Promise<void>;
}

interface State {
  pod: Pod;
  contents: Contents;
  /** What was last written to each volume. */
  written: Map<string, string>;
  current: Set<Container>;
}

const folderOf = (plan: PodPlan, volume: string) => join(plan.folder, 'volumes', volume);

/** Writes the files of a volume if they are others than before; says what is missing. */
async function refresh(
  plan: PodPlan,
  { pod, contents, written }: State,
  volume: Volume,
): Promise<string | undefined> {
  const found = filesOf(volume, pod, plan.place, contents);
  if (!found) return undefined;
  if ('missing' in found) return found.missing;
  const files = ownAddressOnly(found.files, plan.place.podIP);
  const text = JSON.stringify([...files].map(([path, bytes]) => [path, bytes.toString('base64')]));
  if (written.get(volume.name) === text) return undefined;
  const folder = folderOf(plan, volume.name);
  await mkdir(folder, { recursive: true });
  await replaceFiles(folder, files, pod.spec.securityContext?.fsGroup);
  written.set(volume.name, text);
  return undefined;
}

/** The folder behind a volume, or what it waits for. */
async function folderFor(
  plan: PodPlan,
  state: State,
  volume: Volume,
): Promise<{ folder: string } | { missing: string }> {
  const { metadata, spec } = state.pod;
  const claim = volume.persistentVolumeClaim?.claimName;
  if (claim !== undefined) {
    const folder = plan.claimFolder(metadata.namespace, claim);
    if (folder === undefined) return { missing: `persistentvolumeclaim "${claim}" not found` };
    await openToGroup(folder, spec.securityContext?.fsGroup);
    return { folder };
  }
  const folder = folderOf(plan, volume.name);
  if (volume.emptyDir) {
    await mkdir(folder, { recursive: true });
    await openToGroup(folder, spec.securityContext?.fsGroup);
    return { folder };
  }
  const missing = await refresh(plan, state, volume);
  return missing === undefined ? { folder } : { missing };
}

/** All volumes of the pod have to be there before any of its containers starts. */
async function foldersOf(plan: PodPlan, state: State): Promise<Map<string, string> | NotYet> {
  const folders = new Map<string, string>();
  for (const volume of state.pod.spec.volumes ?? []) {
    const found = await folderFor(plan, state, volume);
    if ('missing' in found) return found;
    folders.set(volume.name, found.folder);
  }
  return folders;
}

function mountsOf(
  { spec }: Pod,
  { volumeMounts = [] }: ContainerSpec,
  folders: ReadonlyMap<string, string>,
): Mount[] {
  return volumeMounts.map(({ name, mountPath, readOnly = false, subPath = '' }) => {
    const volume = spec.volumes?.find((each) => each.name === name);
    const isWritable = volume?.emptyDir !== undefined || volume?.persistentVolumeClaim !== undefined;
    const source = join(folders.get(name) ?? '', subPath);
    return { source, path: mountPath.replace(/\/+$/, ''), readOnly: readOnly || !isWritable };
  });
}

function userOf({ spec }: Pod, container: ContainerSpec, root: ImageRoot) {
  const [uid = 0, gid = 0] = (root.image.user ?? '0:0').split(':').map(Number);
  const { fsGroup, supplementalGroups = [], runAsUser, runAsGroup } = spec.securityContext ?? {};
  return {
    uid: container.securityContext?.runAsUser ?? runAsUser ?? uid,
    gid: container.securityContext?.runAsGroup ?? runAsGroup ?? gid,
    groups: [...(fsGroup === undefined ? [] : [fsGroup]), ...supplementalGroups],
  };
}

async function start(
  plan: PodPlan,
  state: State,
  spec: ContainerSpec,
  logFile: string,
): Promise<Container | NotYet> {
  const { pod } = state;
  const problem = problemOf(spec);
  if (problem !== undefined) return { missing: problem, reason: 'CreateContainerConfigError' };
  const root = plan.rootOf(spec.image);
  if (!root) return { missing: `the pod runner has no image ${spec.image}`, reason: 'ImagePullBackOff' };
  const folders = await foldersOf(plan, state);
  if ('missing' in folders) return folders;
  const found = environmentOf(spec.env ?? [], pod, plan.place, state.contents);
  if ('missing' in found) return { ...found, reason: 'CreateContainerConfigError' };
  const folder = join(plan.folder, `${spec.name}-${process.hrtime.bigint()}`);
  await mkdir(folder);
  const { entrypoint, command = [] } = root.image;
  const container = await startContainer({
    name: `${pod.metadata.name} ${spec.name}`,
    hostname: pod.spec.hostname ?? pod.metadata.name,
    root,
    folder,
    mounts: [
      { source: plan.names, path: NAMES, readOnly: true },
      ...(root.quickStart ? [root.quickStart.mount] : []),
      ...mountsOf(pod, spec, folders),
    ],
    command: [...(spec.command ?? entrypoint), ...(spec.args ?? (spec.command ? [] : command))],
    env: {
      ...found.env,
      KAFKA_HEAP_OPTS: HEAP,
      JAVA_TOOL_OPTIONS: [found.env['JAVA_TOOL_OPTIONS'], JAVA, root.quickStart?.option]
        .filter((part) => part !== undefined)
        .join(' '),
    },
    ...userOf(pod, spec, root),
    logFile,
  });
  state.current.add(container);
  return container;
}

/** Runs a pod until it is stopped. Restarts before are counted on. */
export function startPod(plan: PodPlan, pod: Pod, contents: Contents, restarts = 0): RunningPod {
  const state: State = { pod, contents, written: new Map(), current: new Set() };
  const logFile = join(plan.folder, 'log');
  const over = new AbortController();
  const ending = { signal: over.signal, graceMs: 0 };
  const { containers, initContainers = [] } = pod.spec;
  const records = (specs: readonly ContainerSpec[]) =>
    specs.map(({ name, image }) => newRecord(name, image, restarts));
  const record: PodRecord = {
    place: plan.place,
    startTime: timestamp(),
    init: records(initContainers),
    containers: records(containers),
  };
  const run = (spec: ContainerSpec, its: ContainerRecord, runsOnce: boolean) =>
    keepRunning({
      spec,
      record: its,
      podIP: plan.place.podIP,
      ending,
      start: () => start(plan, state, spec, logFile),
      logTail: async () => excerpt(await readFile(logFile, 'utf8').catch(() => '')),
      runsOnce,
      isNeverRestarted: !runsOnce && state.pod.spec.restartPolicy === 'Never',
    });
  const life = (async () => {
    for (const [i, spec] of initContainers.entries()) await run(spec, record.init[i]!, true);
    await Promise.all(containers.map((spec, i) => run(spec, record.containers[i]!, false)));
  })();
  const stop = async (graceMs: number) => {
    ending.graceMs = graceMs;
    over.abort();
    await life;
  };
  return {
    record,
    logFile,
    async update(now, its) {
      Object.assign(state, { pod: now, contents: its });
      // Only what is there already: the others are made when a container starts.
      for (const volume of now.spec.volumes ?? [])
        if (state.written.has(volume.name)) await refresh(plan, state, volume);
    },
    stop,
    async kill() {
      await Promise.all([stop(0), ...[...state.current].map((container) => container.kill())]);
    },
  };
}
