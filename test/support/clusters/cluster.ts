/** One cluster as tests see it. */
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { ensureImage } from '../images/images.ts';
import type { ImageName } from '../images/images.ts';
import { run as runCommand, waitFor } from '../../../src/store/embedded/process.ts';
import type { Finished } from '../../../src/store/embedded/process.ts';
import { messageOf } from '../../../src/ops/errors.ts';
import type { ClusterAddresses } from './addresses.ts';
import type { ControlPlane } from './control-plane.ts';
import type { Node } from './node.ts';

export interface Where {
  namespace?: string;
  timeoutMs?: number;
}

export interface Cluster {
  readonly name: string;
  readonly addresses: ClusterAddresses;
  readonly nodes: readonly Node[];
  readonly controlPlane: ControlPlane;
  /** Path of an administrator's kubeconfig for programs on this machine. */
  readonly kubeconfig: string;
  /** Text of an administrator's kubeconfig for pods of any cluster. */
  readonly remoteKubeconfig: string;
  /** Runs kubectl and returns what it printed; a non-zero code throws, unless it passes when tried again. */
  kubectl(...args: string[]): Promise<string>;
  /** Runs kubectl; a non-zero code is a result. */
  tryKubectl(args: readonly string[], options?: { stdin?: string; timeoutMs?: number }): Promise<Finished>;
  /** Applies YAML text, an object, or several; with `clientSide` as `kubectl apply -f -` does it for people. */
  apply(manifest: Manifest, options?: { clientSide?: boolean }): Promise<void>;
  /** Deletes what the manifest names, and waits until it is gone. */
  remove(manifest: Manifest): Promise<void>;
  /** One object, or undefined if there is none: `get('deployment/web', { namespace: 'shop' })`. */
  get<T = KubeObject>(resource: string, where?: Where): Promise<T | undefined>;
  /** Waits until the object is as it should be, and returns it. */
  waitFor<T = KubeObject>(resource: string, check: (object: T) => boolean, where?: Where): Promise<T>;
  /** Waits until a Deployment, StatefulSet or DaemonSet has all its pods ready. */
  rolledOut(resource: string, where?: Where): Promise<void>;
  /** Runs a command in a pod (or `deployment/web`), to its end. A non-zero code is a result. */
  exec(pod: string, command: readonly string[], options?: ExecOptions): Promise<Finished>;
  /** Makes images known to all nodes. */
  load(...images: ImageName[]): Promise<void>;
  /** Waits until all nodes that are up are Ready, take pods, and have told what became of the pods they had. */
  nodesReady(): Promise<void>;
}

export type Manifest = string | object | readonly object[];

export interface ExecOptions extends Where {
  container?: string;
  stdin?: string;
}

export interface KubeObject {
  metadata: {
    name: string;
    namespace?: string;
    uid: string;
    generation?: number;
    annotations?: Record<string, string>;
  };
  spec: Record<string, unknown>;
  status?: Record<string, unknown> & { conditions?: Condition[] };
}

export interface Condition {
  type: string;
  status: string;
  reason?: string;
  message?: string;
  observedGeneration?: number;
  lastHeartbeatTime?: string;
}

interface RunningPod {
  status: { containerStatuses?: { state: { running?: { startedAt: string } } }[] };
}

/** Has the object this condition? For `waitFor`. */
export function hasCondition(type: string, status = 'True'): (object: KubeObject) => boolean {
  return (object) =>
    object.status?.conditions?.some((each) => each.type === type && each.status === status) ?? false;
}

/** kubectl reads a list of objects in one document. */
export function manifestText(manifest: Manifest): string {
  if (typeof manifest === 'string') return manifest;
  const items = Array.isArray(manifest) ? (manifest as object[]) : [manifest];
  return JSON.stringify({ apiVersion: 'v1', kind: 'List', items });
}

const inNamespace = ({ namespace }: Where) => (namespace === undefined ? [] : [`--namespace=${namespace}`]);

/** Twenty times what anything takes on an idle machine: whoever waits for less tests the machine. */
const PATIENCE_MS = 300_000;

/** A server that is busy or a connection that broke, as kubectl tells it; and what a new CRD or namespace still lacks. */
const PASSING = new RegExp(
  [
    'Unable to connect to the server',
    'The connection to the server',
    'error dialing backend',
    'TLS handshake timeout',
    'i/o timeout',
    'connection re(fused|set)',
    'unexpected EOF',
    'http2: ',
    'etcdserver: ',
    'watch closed',
    'Error from server \\((Timeout|ServerTimeout|ServiceUnavailable|TooManyRequests|Conflict)\\)',
    'no matches for kind',
    'could not find the requested resource',
    'error looking up service account',
  ].join('|'),
);

/** Complaints about a command in a pod that was not even begun. */
const NOT_BEGUN =
  /^(Unable to connect to the server|The connection to the server|Error from server: error dialing backend|error: unable to upgrade connection|error: Internal error occurred: )/m;

/** Runs a command again while it ends with a complaint of this kind. */
async function persist(
  command: () => Promise<Finished>,
  complaint: RegExp,
  timeoutMs = 60_000,
): Promise<Finished> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const finished = await command();
    if (finished.code === 0 || !complaint.test(finished.stderr) || performance.now() > deadline)
      return finished;
    await delay(1000);
  }
}

type Kubectl = Pick<Cluster, 'kubectl' | 'tryKubectl'>;

function createKubectl(program: string, kubeconfig: string, cache: string): Kubectl {
  const tryKubectl: Cluster['tryKubectl'] = (args, { stdin, timeoutMs = PATIENCE_MS } = {}) =>
    runCommand(program, [`--kubeconfig=${kubeconfig}`, `--cache-dir=${cache}`, ...args], {
      stdin,
      timeoutMs,
    });
  return {
    tryKubectl,
    async kubectl(...args) {
      const { code, stdout, stderr } = await persist(() => tryKubectl(args), PASSING);
      if (code !== 0)
        throw new Error(`kubectl ${args.join(' ')} failed with code ${code}: ${stderr || stdout}`);
      return stdout;
    },
  };
}

/** What a waiting test would want to see. */
const describe = (object: unknown) =>
  JSON.stringify((object as KubeObject | undefined)?.status ?? object ?? null);

function createQuestions({ kubectl, tryKubectl }: Kubectl): Pick<Cluster, 'get' | 'waitFor' | 'rolledOut'> {
  const get: Cluster['get'] = async <T>(resource: string, where: Where = {}) => {
    const text = await kubectl('get', resource, '--output=json', '--ignore-not-found', ...inNamespace(where));
    return text === '' ? undefined : (JSON.parse(text) as T);
  };
  return {
    get,
    async waitFor<T>(resource: string, check: (object: T) => boolean, where: Where = {}) {
      let last: T | undefined;
      let trouble = '';
      const ask = () =>
        get<T>(resource, where).catch((error: unknown) => {
          trouble = `; ${messageOf(error)}`; // perhaps its kind is not known yet
          return undefined;
        });
      const isSo = async () => {
        last = await ask();
        return last !== undefined && check(last) ? last : undefined;
      };
      try {
        return await waitFor(resource, isSo, { timeoutMs: where.timeoutMs ?? PATIENCE_MS, everyMs: 500 });
      } catch (error) {
        throw new Error(`${messageOf(error)}; last seen: ${describe(last)}${trouble}`, { cause: error });
      }
    },
    async rolledOut(resource, where = {}) {
      const timeoutMs = where.timeoutMs ?? PATIENCE_MS;
      const args = ['rollout', 'status', resource, `--timeout=${timeoutMs}ms`, ...inNamespace(where)];
      const status = () => tryKubectl(args, { timeoutMs: timeoutMs + 10_000 });
      const { code, stderr } = await persist(status, PASSING, timeoutMs);
      if (code === 0) return;
      const pods = await tryKubectl(['get', 'pods', '--output=wide', ...inNamespace(where)]);
      throw new Error(`${resource} is not rolled out: ${stderr}\n${pods.stdout}`);
    },
  };
}

/**
 * For a while after a node was started, the API still shows what was true before: the node Ready, its pods running. A
 * node also becomes Ready before the taint is taken away that kept pods off it.
 */
async function nodeReady(cluster: Cluster, { name, startedAt }: Node): Promise<void> {
  const isSince = (time = '') => Date.parse(time) >= startedAt;
  const isReady = ({ status, spec }: KubeObject) =>
    spec['taints'] === undefined &&
    (status?.conditions ?? []).some(
      (each) => each.type === 'Ready' && each.status === 'True' && isSince(each.lastHeartbeatTime),
    );
  await cluster.waitFor(`node/${name}`, isReady);
  const path = `/api/v1/pods?fieldSelector=spec.nodeName=${name}`;
  const isNews = ({ status }: RunningPod) =>
    (status.containerStatuses ?? []).every(({ state }) => !state.running || isSince(state.running.startedAt));
  const isAllNews = async () =>
    (await cluster.controlPlane.api.list<RunningPod>(path))?.every(isNews) ?? false;
  await waitFor(`news of the pods on ${name}`, isAllNews, { timeoutMs: PATIENCE_MS, everyMs: 250 });
}

async function writeKubeconfig(controlPlane: ControlPlane, path: string): Promise<void> {
  const text = await controlPlane.kubeconfigFor('testbed', ['system:masters'], controlPlane.localUrl);
  await writeFile(`${path}.new`, text, { mode: 0o600 });
  await rename(`${path}.new`, path);
}

/** A cluster around a control plane and nodes. */
export async function createCluster(
  name: string,
  controlPlane: ControlPlane,
  nodes: readonly Node[],
  { kubectl: program, directory }: { kubectl: string; directory: string },
): Promise<Cluster> {
  const kubeconfig = join(directory, `${name}.kubeconfig`);
  await writeKubeconfig(controlPlane, kubeconfig);
  const kubectl = createKubectl(program, kubeconfig, join(directory, name, 'kubectl'));
  const feed = async (verb: readonly string[], manifest: Manifest) => {
    const options = { stdin: manifestText(manifest) };
    const command = () => kubectl.tryKubectl([...verb, '--filename=-'], options);
    const { code, stderr } = await persist(command, PASSING);
    if (code !== 0) throw new Error(`kubectl ${verb[0]} failed: ${stderr}`);
  };
  const cluster: Cluster = {
    name,
    addresses: controlPlane.addresses,
    nodes,
    controlPlane,
    kubeconfig,
    remoteKubeconfig: await controlPlane.kubeconfigFor('testbed', ['system:masters']),
    ...kubectl,
    ...createQuestions(kubectl),
    apply: (manifest, { clientSide = false } = {}) =>
      feed(['apply', ...(clientSide ? [] : ['--server-side', '--force-conflicts'])], manifest),
    remove: (manifest) => feed(['delete', '--ignore-not-found', '--timeout=240s'], manifest),
    exec(pod, command, { container, stdin, timeoutMs, ...where } = {}) {
      const from = container === undefined ? [] : [`--container=${container}`];
      const input = stdin === undefined ? [] : ['--stdin'];
      const args = ['exec', pod, ...from, ...input, ...inNamespace(where), '--', ...command];
      const options = {
        ...(stdin === undefined ? {} : { stdin }),
        ...(timeoutMs === undefined ? {} : { timeoutMs }),
      };
      return persist(() => kubectl.tryKubectl(args, options), NOT_BEGUN);
    },
    async load(...images) {
      for (const image of images) {
        const archive = await ensureImage(image);
        await Promise.all(nodes.map((node) => node.importImage(archive)));
      }
    },
    async nodesReady() {
      await Promise.all(nodes.filter((node) => node.isUp).map((node) => nodeReady(cluster, node)));
    },
  };
  return cluster;
}
