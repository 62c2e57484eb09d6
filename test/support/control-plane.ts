/**
 * A real Kubernetes control plane on loopback: etcd and kube-apiserver with RBAC, and, where asked for, the controller
 * manager, the scheduler and kwok (which plays nodes). As many at once as a test wants clusters.
 *
 *     await using plane = await startControlPlane();
 *     await plane.kubectl(['get', 'namespaces']);
 *
 * In a run of many test files one of the usual kind is kept for the next file (shared/keeper.ts), which finds nothing of what was
 * done to it.
 */
import { readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  FILES,
  apiServerArgs,
  controllerManagerArgs,
  etcdArgs,
  kwokArgs,
  schedulerArgs,
} from './control-plane/commands.ts';
import type { Place } from './control-plane/commands.ts';
import { getAsAdmin, kubectlOf, takeControlPlane } from './control-plane/access.ts';
import { applyCrds } from './control-plane/crds.ts';
import { kubeconfigText, writeFiles } from './control-plane/files.ts';
import type { Identity } from './control-plane/files.ts';
import type { Renewable } from './control-plane/renew.ts';
import { ensureEtcd } from './install/etcd.ts';
import { ensureKubernetes } from './install/kubernetes.ts';
import { ensureKwok } from './install/kwok.ts';
import { reservePorts } from '../../src/store/embedded/ports.ts';
import type { Ports } from '../../src/store/embedded/ports.ts';
import { residentMegabytes, startServer, waitFor } from '../../src/store/embedded/process.ts';
import type { Finished, Server } from '../../src/store/embedded/process.ts';
import { workspace } from './workspace.ts';

export interface ControlPlaneOptions {
  /** Whether there is one; or the only controllers that it runs. */
  controllerManager?: boolean | readonly string[];
  scheduler?: boolean;
  kwok?: boolean;
  /** Appended to kube-apiserver's arguments: the last of two equal flags counts. */
  apiServerArgs?: readonly string[];
}

/** What can be told of a control plane to another process. */
export interface Description {
  url: string;
  caPem: string;
  /** Path of a kubeconfig for an administrator, certificates embedded. */
  kubeconfig: string;
  kubeconfigText: string;
  /** Everything of this control plane: logs, keys, kubeconfigs. */
  directory: string;
  /** Path of the program. */
  kubectlProgram: string;
}

export interface ControlPlane extends AsyncDisposable, Readonly<Description> {
  kubectl(args: readonly string[], options?: { stdin?: string; kubeconfig?: string }): Promise<Finished>;
  /** Path of a new kubeconfig with a client certificate for this user. */
  userKubeconfig(user: string, groups?: readonly string[]): Promise<string>;
  /** Ends kube-apiserver at once, as a crash would. */
  killApiServer(): Promise<void>;
  /** Starts kube-apiserver again, on the same port and etcd, and waits until it is ready. */
  startApiServer(): Promise<void>;
  stopEtcd(): Promise<void>;
  startEtcd(): Promise<void>;
  /** Resident memory of each server, in MB. */
  memory(): Promise<Record<string, number>>;
  stop(): Promise<void>;
}

/** One whose servers are children of this process. */
export interface OwnControlPlane extends ControlPlane, Renewable {
  readonly description: Description;
  /** Has its servers stand still, so that they cost nothing, until `resume`. */
  pause(): void;
  resume(): void;
}

interface Programs {
  etcd: string;
  apiServer: string;
  controllerManager: string | undefined;
  scheduler: string | undefined;
  kubectl: string;
  kwok: { program: string; stages: string } | undefined;
}

const ATTEMPTS = 3;
/** A machine that is busy with other tests takes its time. */
const START = { timeoutMs: 240_000 };

async function programs(options: ControlPlaneOptions): Promise<Programs> {
  const wanted = ['kube-apiserver', 'kubectl'] as const;
  const controllerManager = options.controllerManager ? (['kube-controller-manager'] as const) : [];
  const scheduler = options.scheduler ? (['kube-scheduler'] as const) : [];
  const built: Partial<Record<string, string>> & Record<(typeof wanted)[number], string> =
    await ensureKubernetes([...wanted, ...controllerManager, ...scheduler]);
  return {
    etcd: await ensureEtcd(),
    apiServer: built['kube-apiserver'],
    kubectl: built.kubectl,
    controllerManager: built['kube-controller-manager'],
    scheduler: built['kube-scheduler'],
    kwok: options.kwok ? await ensureKwok() : undefined,
  };
}

/** Thrown when a server ended before it was ready. */
async function failure(server: Server): Promise<Error> {
  const log = await readFile(server.logFile, 'utf8').catch(() => '');
  const end = log.trimEnd().split('\n').slice(-5).join('\n');
  return new Error(`${server.name} ended before it was ready (log: ${server.logFile}):\n${end}`);
}

/**
 * Ready means: serves, and has made what every cluster has. The namespace `default` comes a moment after /readyz. Without etcd the
 * API server would only give up after a while, and not say why.
 */
async function ready(url: string, identity: Identity, needed: readonly Server[]): Promise<void> {
  const isThere = async (path: string) => (await getAsAdmin(`${url}${path}`, identity))?.status === 200;
  const serves = async () => (await isThere('/readyz')) && isThere('/api/v1/namespaces/default');
  const gone = () => needed.find((server) => !server.running);
  await waitFor(`kube-apiserver at ${url}`, async () => gone() !== undefined || (await serves()), START);
  const ended = gone();
  if (ended) throw await failure(ended);
}

function placeOf(directory: string, { numbers }: Ports): Place {
  const [
    apiPort = 0,
    etcdPort = 0,
    etcdPeerPort = 0,
    controllerManagerPort = 0,
    schedulerPort = 0,
    kwokPort = 0,
  ] = numbers;
  return { directory, apiPort, etcdPort, etcdPeerPort, controllerManagerPort, schedulerPort, kwokPort };
}

/** The servers of one control plane by name, in the order in which they were first started. */
function serversIn(directory: string) {
  const servers = new Map<string, Server>();
  return {
    start(name: string, program: string, args: readonly string[]): Server {
      const server = startServer(name, program, args, { logFile: join(directory, `${name}.log`) });
      servers.set(name, server);
      return server;
    },
    named: (name: string): Server[] => [servers.get(name) ?? []].flat(),
    kill: async (name: string) => servers.get(name)?.stop('SIGKILL'),
    /** Killed rather than asked: nothing of it is needed again, and kube-apiserver takes seconds to say goodbye. */
    async killAll(): Promise<void> {
      for (const server of [...servers.values()].toReversed()) await server.stop('SIGKILL');
    },
    signal(signal: NodeJS.Signals): void {
      for (const { running, pid } of servers.values()) if (running) process.kill(pid, signal);
    },
    isRunning: () => [...servers.values()].every(({ running }) => running),
    async memory(): Promise<Record<string, number>> {
      const running = [...servers.values()].filter((server) => server.running);
      const sizes = running.map(async ({ name, pid }) => [name, await residentMegabytes(pid)] as const);
      return Object.fromEntries(await Promise.all(sizes));
    },
  };
}

type Servers = ReturnType<typeof serversIn>;

function describe(place: Place, programs: Programs, identity: Identity, url: string): Description {
  return {
    url,
    caPem: identity.authority.certPem,
    kubeconfig: join(place.directory, FILES.admin),
    kubeconfigText: identity.adminKubeconfig,
    directory: place.directory,
    kubectlProgram: programs.kubectl,
  };
}

function planeOf(
  place: Place,
  programs: Programs,
  options: ControlPlaneOptions,
  { identity, servers, url }: { identity: Identity; servers: Servers; url: string },
): Omit<OwnControlPlane, 'stop' | typeof Symbol.asyncDispose> {
  const description = describe(place, programs, identity, url);
  const { directory, caPem } = description;
  let users = 0;
  return {
    ...description,
    description,
    etcdUrl: `http://127.0.0.1:${place.etcdPort}`,
    async read(path, accept) {
      const answer = await getAsAdmin(`${url}${path}`, identity, accept);
      if (answer?.status !== 200) throw new Error(`GET ${path}: ${answer?.status ?? 'no answer'}`);
      return JSON.parse(answer.text) as unknown;
    },
    isRunning: servers.isRunning,
    pause: () => servers.signal('SIGSTOP'),
    resume: () => servers.signal('SIGCONT'),
    kubectl: kubectlOf(description),
    async userKubeconfig(user, groups = []) {
      users += 1;
      const path = join(directory, `user-${users}.kubeconfig`);
      const pair = await identity.authority.issue({ commonName: user, organizations: groups });
      await writeFile(path, kubeconfigText(url, caPem, pair), { mode: 0o600 });
      return path;
    },
    killApiServer: () => servers.kill('kube-apiserver'),
    async startApiServer() {
      const hasManager = programs.controllerManager !== undefined;
      const args = apiServerArgs(place, hasManager, options.apiServerArgs ?? []);
      const server = servers.start('kube-apiserver', programs.apiServer, args);
      await ready(url, identity, [...servers.named('etcd'), server]);
    },
    stopEtcd: () => servers.kill('etcd'),
    async startEtcd() {
      servers.start('etcd', programs.etcd, etcdArgs(place));
    },
    memory: () => servers.memory(),
  };
}

async function start(
  programs: Programs,
  options: ControlPlaneOptions,
  ports: Ports,
): Promise<OwnControlPlane> {
  const directory = workspace('control-plane');
  const place = placeOf(directory, ports);
  const url = `https://127.0.0.1:${place.apiPort}`;
  const identity = await writeFiles(directory, url);
  const servers = serversIn(directory);
  const plane = planeOf(place, programs, options, { identity, servers, url });
  const stop = async () => {
    await servers.killAll();
    await rm(join(directory, FILES.etcdData), { recursive: true, force: true });
    await ports.release();
  };
  const { controllerManager, scheduler, kwok } = programs;
  try {
    await plane.startEtcd();
    await plane.startApiServer();
    if (controllerManager)
      servers.start('kube-controller-manager', controllerManager, [
        ...controllerManagerArgs(place),
        ...(Array.isArray(options.controllerManager)
          ? [`--controllers=${options.controllerManager.join()}`]
          : []),
      ]);
    if (scheduler) servers.start('kube-scheduler', scheduler, schedulerArgs(place));
    if (kwok) servers.start('kwok', kwok.program, kwokArgs(place, kwok.stages));
    return { ...plane, stop, [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Starts a control plane for this process alone and waits until it serves. */
export async function startOwnControlPlane(options: ControlPlaneOptions = {}): Promise<OwnControlPlane> {
  const found = await programs(options);
  for (let attempt = 1; ; attempt++) {
    try {
      return await start(found, options, await reservePorts(6));
    } catch (error) {
      // Between the choice of a port and its use a stranger may have taken it.
      if (attempt === ATTEMPTS || !String(error).includes('address already in use')) throw error;
    }
  }
}

/** A control plane that serves and is as good as new: one that is kept for such as us, or one of our own. */
export async function startControlPlane(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const isUsual = Object.keys(options).length === 0;
  return (isUsual ? await takeControlPlane('control-plane') : undefined) ?? startOwnControlPlane(options);
}

/** The same, with all CRDs of this project. */
export async function startControlPlaneWithCrds(options: ControlPlaneOptions = {}): Promise<ControlPlane> {
  const isUsual = Object.keys(options).length === 0;
  const kept = isUsual ? await takeControlPlane('control-plane-with-crds') : undefined;
  if (kept) return kept;
  const plane = await startOwnControlPlane(options);
  try {
    await applyCrds(plane);
    return plane;
  } catch (error) {
    await plane.stop();
    throw error;
  }
}
