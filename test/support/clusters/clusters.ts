/**
 * Whole Kubernetes clusters side by side on this machine, each in network namespaces of its own, with an outside.
 * Needs root. Nothing of it is left when it is stopped; what a killed test left is cleared by the next start.
 *
 *     await using clusters = await startClusters(2, { routed: true });
 *     const [central, remote] = clusters.list;
 *     await central.apply(yaml);
 *     await clusters.cut(central, remote);
 */
import { join } from 'node:path';
import { ensureImage } from '../images/images.ts';
import type { ImageName } from '../images/images.ts';
import { ensurePause } from '../images/small.ts';
import { ensureEtcd } from '../install/etcd.ts';
import { ensureKubernetes } from '../install/kubernetes.ts';
import { ensureNodeTools } from '../install/node-tools.ts';
import { requireTools } from '../../../src/store/embedded/cache.ts';
import { workspace } from '../workspace.ts';
import { addCoreDns } from './addons/coredns.ts';
import { MAX_CLUSTERS, MAX_NODES, clusterAddresses } from './addresses.ts';
import type { ClusterAddresses } from './addresses.ts';
import { welcomeNodes } from './cloud.ts';
import { createCluster } from './cluster.ts';
import type { Cluster } from './cluster.ts';
import { createControlPlane } from './control-plane.ts';
import type { ControlPlanePrograms } from './control-plane.ts';
import { keepPodLogs, writeState } from './evidence.ts';
import { createFaults, zonesOf } from './faults.ts';
import type { Faults } from './faults.ts';
import { startForwarding } from './forward.ts';
import type { Forwarding } from './forward.ts';
import { makeHub } from './hub.ts';
import type { Hub } from './hub.ts';
import { createNode } from './node.ts';
import type { KubeProxyMode } from './node-files.ts';
import type { Node, NodePrograms } from './node.ts';
import { startOutside } from './outside.ts';
import type { Outside } from './outside.ts';
import { clearLeftovers, closeRun, openRun } from './run.ts';
import type { Run } from './run.ts';
import { startProvisioner, storageClass } from './volumes.ts';

export interface ClustersOptions {
  /** Names of the clusters; c1, c2, … if there are none. */
  names?: readonly string[];
  /** Nodes of each cluster. */
  nodes?: number;
  /** Whether pods of one cluster reach pods of another by their addresses. */
  routed?: boolean;
  /** Images that pods will run, besides busybox. */
  images?: readonly ImageName[];
  /** How kube-proxy works: the first node of each cluster in the first of these modes, and so on, over and over; nftables everywhere if left out. */
  kubeProxyModes?: readonly KubeProxyMode[];
}

export interface Clusters extends AsyncDisposable, Omit<Faults, 'stop'> {
  readonly list: readonly Cluster[];
  readonly outside: Outside;
  /** Folder of all logs: of every component, and of every pod. */
  readonly logs: string;
  /** Loads rules into the packet filter of the router between clusters. For stand-ins. */
  router(rules: string): Promise<void>;
  /** Cuts the power of a whole cluster; its disks keep what they had. */
  stop(cluster: Cluster): Promise<void>;
  /** Switches a cluster on again and waits until its nodes are Ready. */
  start(cluster: Cluster): Promise<void>;
  /** Cuts the power of a node. */
  killNode(node: Node): Promise<void>;
  /** Switches a node on again and waits until it is Ready. */
  startNode(node: Node): Promise<void>;
  /** Ends everything and removes every trace but the logs. */
  stopAll(): Promise<void>;
}

interface Programs extends NodePrograms, ControlPlanePrograms {
  kubectl: string;
}

const BASE_IMAGES: readonly ImageName[] = ['pause', 'coredns', 'busybox'];
const UTIL_LINUX = 'it is in the package util-linux';
const TOOLS = {
  ip: 'it is in the package iproute2',
  nsenter: UTIL_LINUX,
  unshare: UTIL_LINUX,
  setpriv: UTIL_LINUX,
};

async function ensurePrograms(): Promise<Programs> {
  if (process.getuid?.() !== 0)
    throw new Error(
      'clusters of the testbed are made of kernel namespaces, which only root may make: run this as root',
    );
  requireTools(TOOLS);
  const control = ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler', 'kubectl'] as const;
  const built = await ensureKubernetes([...control, 'kubelet', 'kube-proxy']);
  return {
    etcd: await ensureEtcd(),
    apiServer: built['kube-apiserver'],
    controllerManager: built['kube-controller-manager'],
    scheduler: built['kube-scheduler'],
    kubectl: built.kubectl,
    kubelet: built.kubelet,
    kubeProxy: built['kube-proxy'],
    pause: await ensurePause(),
    tools: await ensureNodeTools(),
  };
}

/** Everything that the clusters of a run share. */
interface Ground {
  run: Run;
  hub: Hub;
  forwarding: Forwarding;
  faults: Faults;
  outside: Outside;
  programs: Programs;
  logs: string;
  /** Archives of the images that every node is given. */
  images: readonly string[];
  kubeProxyModes: readonly KubeProxyMode[];
  addresses: Readonly<Record<string, ClusterAddresses>>;
}

async function layGround(
  stack: AsyncDisposableStack,
  names: readonly string[],
  options: ClustersOptions,
): Promise<Ground> {
  const programs = await ensurePrograms();
  const images: string[] = [];
  for (const image of [...BASE_IMAGES, ...(options.images ?? [])]) images.push(await ensureImage(image));
  await clearLeftovers();
  const logs = workspace('clusters');
  const addresses = Object.fromEntries(
    names.map((name, i) => [name, clusterAddresses(i + 1, options.nodes ?? 1)]),
  );
  const run = await openRun();
  stack.defer(() => closeRun(run));
  const hub = await makeHub(run, programs.tools, Object.values(addresses), options.routed ?? false);
  const forwarding = startForwarding(hub.namespace);
  stack.defer(() => forwarding.stop());
  const outside = await startOutside(run, hub.outside, logs);
  stack.defer(() => outside.stop());
  const faults = createFaults(hub, zonesOf(addresses), logs);
  stack.defer(() => faults.stop());
  const { kubeProxyModes = ['nftables'] } = options;
  return { run, hub, forwarding, faults, outside, programs, logs, images, kubeProxyModes, addresses };
}

const nodeLogs = (logs: string, cluster: string, node: number) => join(logs, cluster, `node-${node + 1}`);

async function buildCluster(ground: Ground, name: string): Promise<Cluster> {
  const { run, hub, programs, kubeProxyModes: modes } = ground;
  const addresses = ground.addresses[name] as ClusterAddresses;
  const controlPlane = await createControlPlane({
    ...ground,
    cluster: name,
    addresses,
    logs: join(ground.logs, name),
  });
  const nodes = await Promise.all(
    addresses.nodes.map((each, i) =>
      createNode({
        run,
        hub,
        programs,
        controlPlane,
        name: `${name}-node-${i + 1}`,
        number: i + 1,
        addresses: each,
        kubeProxyMode: modes[i % modes.length]!,
        images: ground.images,
        logs: nodeLogs(ground.logs, name, i),
      }),
    ),
  );
  return createCluster(name, controlPlane, nodes, { kubectl: programs.kubectl, directory: run.directory });
}

async function powerOn({ controlPlane, nodes }: Cluster): Promise<void> {
  await all([controlPlane.start(), ...nodes.map((node) => node.start())]);
}

async function powerOff({ controlPlane, nodes }: Cluster): Promise<void> {
  await all([controlPlane.stop(), ...nodes.map((node) => node.kill())]);
}

/** Starts a cluster for the first time and gives it what every cluster has. */
async function furnish(cluster: Cluster): Promise<void> {
  await powerOn(cluster);
  await cluster.apply(storageClass);
  await welcomeNodes(cluster);
  await cluster.nodesReady();
  await addCoreDns(cluster);
}

function namesOf(count: number, { names, nodes = 1 }: ClustersOptions): string[] {
  if (count > MAX_CLUSTERS || nodes > MAX_NODES) throw new Error('there are no addresses for so many');
  const chosen = names ?? Array.from({ length: count }, (_, i) => `c${i + 1}`);
  const isGood = chosen.every(
    (name) => /^[a-z][a-z0-9-]{0,20}$/.test(name) && !['hub', 'outside'].includes(name),
  );
  if (chosen.length !== count || !isGood)
    throw new Error(`${chosen.join(', ')}: not ${count} names for clusters`);
  return [...chosen];
}

/** Fetches and builds what every cluster needs, and these images, so that no test waits for it. */
export async function ensureClusters(images: readonly ImageName[] = []): Promise<void> {
  await ensurePrograms();
  for (const image of [...BASE_IMAGES, ...images]) await ensureImage(image);
}

/** Waits for the end of each, also when one has failed: what comes next must not meet the others on their way. */
async function all(work: readonly Promise<void>[]): Promise<void> {
  const failed = (await Promise.allSettled(work)).find((result) => result.status === 'rejected');
  if (failed) throw failed.reason;
}

function handle(
  { faults, outside, logs, hub }: Ground,
  list: readonly Cluster[],
  stack: AsyncDisposableStack,
): Clusters {
  return {
    ...faults,
    list,
    outside,
    logs,
    router: (rules) => hub.nft(rules),
    stop: powerOff,
    async start(cluster) {
      await powerOn(cluster);
      await cluster.nodesReady();
    },
    killNode: (node) => node.kill(),
    async startNode(node) {
      await node.start();
      await list.find(({ nodes }) => nodes.includes(node))?.nodesReady();
    },
    stopAll: () => stack.disposeAsync(),
    [Symbol.asyncDispose]: () => stack.disposeAsync(),
  };
}

/** Starts clusters, one node each unless told otherwise, and waits until all are ready for work. */
export async function startClusters(count: number, options: ClustersOptions = {}): Promise<Clusters> {
  const names = namesOf(count, options);
  await using stack = new AsyncDisposableStack();
  const ground = await layGround(stack, names, options);
  const { logs } = ground;
  const list = await Promise.all(names.map((name) => buildCluster(ground, name)));
  stack.defer(() => all(list.map(powerOff)));
  for (const cluster of list) stack.use(startProvisioner(cluster.controlPlane.api, cluster.nodes));
  stack.use(keepPodLogs(list.flatMap(({ name, nodes }) => nodes.map((_, i) => nodeLogs(logs, name, i)))));
  stack.defer(() => all(list.map((cluster) => writeState(cluster, logs))));
  await all(list.map(furnish));
  return handle(ground, list, stack.move());
}
