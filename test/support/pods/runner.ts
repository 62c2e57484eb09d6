/**
 * Stands in for scheduler and kubelets over a real API server: integration tests have neither, and brokers that the operator makes
 * have to run there all the same. End-to-end tests have the real ones. Pods are bound to nodes that the runner makes, and their
 * commands really run (see container.ts), with their volumes, probes, restarts and graceful ends; status is written as a kubelet does.
 *
 *     await using runner = await startPodRunner(plane, { nodes: [{ name: 'a', zone: 'z1' }] });
 *
 * Other than in a cluster: pods share the machine's network and have an address of 127.0.0.0/8 each, so `://0.0.0.0:` in a mounted
 * `server.config` becomes the pod's address; names come from a hosts file (see hosts.ts); the root file system is always read-only;
 * heaps are small; a container that crashes is started again after seconds. Not there: startup probes, probes by HTTPS, preStop hooks,
 * `envFrom`, forwarding of host ports, eviction from lost nodes. What a pod asks for beyond that is refused in its status.
 */
import { mkdir } from 'node:fs/promises';
import type { LookupFunction } from 'node:net';
import { join } from 'node:path';
import { apiOfKubeconfig, startLoop } from '../clusters/api.ts';
import type { Api } from '../clusters/api.ts';
import type { Description } from '../control-plane.ts';
import { workspace } from '../workspace.ts';
import { createAddresses } from './addresses.ts';
import type { Addresses } from './addresses.ts';
import { bindPods } from './bind.ts';
import { createClaims } from './claims.ts';
import type { Claims } from './claims.ts';
import { clusterSetNamesOf, createHosts, joined, namesOf } from './hosts.ts';
import type { Hosts, Names } from './hosts.ts';
import { ensurePodImages } from './images.ts';
import type { ImageChoice } from './images.ts';
import { createKubelet } from './kubelet.ts';
import type { Kubelet } from './kubelet.ts';
import { HEARTBEAT_MS, beat, declareLost, register, revive, setUnschedulable } from './nodes.ts';
import type { NodeRequest, RunnerNode } from './nodes.ts';
import type { Claim, ConfigMap, Node, Pod, Secret, Service } from './types.ts';

export interface PodRunnerOptions extends ImageChoice {
  nodes: readonly NodeRequest[];
  /** What the cluster is called among others whose pods have names of each other, as exported Services would give them. */
  clusterSet?: { id: string; names: ClusterSetNames };
}

/** By cluster: the names that others know its pods by. Shared by the runners of all of them. */
export type ClusterSetNames = Map<string, Names>;

export interface PodRunner extends AsyncDisposable {
  readonly nodes: readonly RunnerNode[];
  /** The address of a pod, `namespace/name`; undefined if it does not run. */
  addressOf(pod: string): string | undefined;
  /** What its containers have written, over all restarts. */
  logsOf(pod: string): Promise<string>;
  /** For sockets of Node: the names of the cluster's pods and Services. */
  readonly lookup: LookupFunction;
  /** For Java's `-Djdk.net.hosts.file`: the same names, kept up to date. */
  readonly hostsFile: string;
  /** The folder that is the disk of a claim, `namespace/name`, which a pod has used. */
  diskOf(claim: string): string;
  /** Empties the disk of a claim, `namespace/name`, for whoever mounts it next. */
  loseDisk(claim: string): Promise<void>;
  /** Ends all that runs on a node, as if the power had failed: nobody there says anything any more. */
  killNode(node: string): Promise<void>;
  /** The node is back, and starts again what is still meant to run there. */
  reviveNode(node: string): Promise<void>;
  cordon(node: string, unschedulable?: boolean): Promise<void>;
  /** Gives a node another ExternalIP, and one of IPv6 (`::1`) beside it, or in its place; pods stay where they are. */
  readdress(node: string, families: 'v4' | 'both' | 'v6'): Promise<void>;
  stop(): Promise<void>;
}

/** How soon a change is seen. */
const EVERY_MS = 200;

/** All that is looked at. */
const followAll = (api: Api) => ({
  pods: api.follow<Pod>('/api/v1/pods'),
  nodes: api.follow<Node>('/api/v1/nodes'),
  services: api.follow<Service>('/api/v1/services'),
  claims: api.follow<Claim>('/api/v1/persistentvolumeclaims'),
  configMaps: api.follow<ConfigMap>('/api/v1/configmaps'),
  secrets: api.follow<Secret>('/api/v1/secrets'),
});

/** Undefined while the server does not answer. */
async function observe(followed: ReturnType<typeof followAll>) {
  const [pods, nodes, services, claims, configMaps, secrets] = await Promise.all([
    followed.pods.items(),
    followed.nodes.items(),
    followed.services.items(),
    followed.claims.items(),
    followed.configMaps.items(),
    followed.secrets.items(),
  ]);
  if (!pods || !nodes || !services || !claims || !configMaps || !secrets) return undefined;
  return { pods, nodes, services, claims, contents: { configMaps, secrets } };
}

async function makeNodes(
  api: Api,
  requests: readonly NodeRequest[],
  addresses: Addresses,
): Promise<RunnerNode[]> {
  const nodes: RunnerNode[] = [];
  for (const request of requests) {
    const [internal, external] = [await addresses.take(), await addresses.take()];
    const node = { ...request, internal, external, more: [] };
    await register(api, node);
    nodes.push(node);
  }
  return nodes;
}

interface Parts {
  api: Api;
  followed: ReturnType<typeof followAll>;
  nodes: readonly RunnerNode[];
  hosts: Hosts;
  claims: Claims;
  kubelet: Kubelet;
  addresses: Addresses;
  clusterSet: PodRunnerOptions['clusterSet'];
}

async function settle({ api, followed, hosts, claims, kubelet, clusterSet }: Parts): Promise<void> {
  const seen = await observe(followed);
  if (!seen) return; // what runs goes on while nobody answers
  await bindPods(api, seen.pods, seen.nodes);
  const placed = seen.pods.filter(({ spec }) => spec.nodeName);
  await claims.settle(seen.claims, placed);
  await kubelet.settle(placed, seen.contents);
  const names = namesOf(placed, seen.services);
  clusterSet?.names.set(clusterSet.id, clusterSetNamesOf(placed, seen.services, clusterSet.id));
  await hosts.set(joined([names, ...(clusterSet?.names.values() ?? [])]));
}

function runnerOf(
  { api, nodes, hosts, claims, kubelet, addresses }: Parts,
  stop: () => Promise<void>,
): PodRunner {
  const named = (name: string) => {
    const node = nodes.find((each) => each.name === name);
    if (!node) throw new Error(`the pod runner has no node ${name}`);
    return node;
  };
  return {
    nodes,
    addressOf: (pod) => kubelet.addressOf(pod),
    logsOf: (pod) => kubelet.logsOf(pod),
    lookup: hosts.lookup,
    hostsFile: hosts.file,
    diskOf: (claim) => claims.diskOf(claim),
    loseDisk: (claim) => claims.lose(claim),
    async killNode(name) {
      await kubelet.lose(named(name).name);
      await declareLost(api, named(name));
    },
    async reviveNode(name) {
      await revive(api, named(name));
      kubelet.regain(name);
    },
    async readdress(name, families) {
      const node = named(name);
      const four = families === 'v6' ? [] : [await addresses.take()];
      const [external = '', ...more] = [...four, ...(families === 'v4' ? [] : [await addresses.takeSix()])];
      Object.assign(node, { external, more });
      await beat(api, node);
    },
    cordon: (name, unschedulable = true) => setUnschedulable(api, named(name), unschedulable),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

/** Starts the stand-in with nodes of its own; pods that are there already are run, too. */
export async function startPodRunner(
  { kubeconfigText }: Pick<Description, 'kubeconfigText'>,
  options: PodRunnerOptions,
): Promise<PodRunner> {
  const roots = await ensurePodImages(options);
  const api = apiOfKubeconfig(kubeconfigText);
  const addresses = createAddresses();
  const home = workspace('pods');
  for (const folder of ['names', 'claims', 'pods']) await mkdir(join(home, folder));
  const nodes = await makeNodes(api, options.nodes, addresses);
  const claims = createClaims(api, join(home, 'claims'));
  const kubelet = createKubelet({
    api,
    home,
    nodes,
    newAddress: () => addresses.take(),
    rootOf: (image) => roots.get(image),
    claimFolder: (namespace, name) => claims.folderOf(namespace, name),
  });
  const { clusterSet } = options;
  const followed = followAll(api);
  const hosts = await createHosts(join(home, 'names'));
  const parts = { api, followed, nodes, hosts, claims, kubelet, addresses, clusterSet };
  const beatAll = async () => {
    for (const node of nodes) if (kubelet.isUp(node.name)) await beat(api, node);
  };
  const loops = [startLoop(() => settle(parts), EVERY_MS), startLoop(beatAll, HEARTBEAT_MS)];
  return runnerOf(parts, async () => {
    for (const loop of loops) await loop.stop();
    for (const list of Object.values(followed)) list.stop();
    await kubelet.stop();
    await addresses.release();
  });
}
