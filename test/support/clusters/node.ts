/** One node of a cluster: containerd, kubelet and kube-proxy on a machine of its own. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { NodeTools } from '../install/node-tools.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import type { Server } from '../../../src/store/embedded/process.ts';
import { ALL_POD_NETWORKS, OUTSIDE } from './addresses.ts';
import type { NodeAddresses } from './addresses.ts';
import { makeCgroup, removeCgroup } from './cgroups.ts';
import type { ControlPlane } from './control-plane.ts';
import { portOf } from './hub.ts';
import type { Hub } from './hub.ts';
import { ended, startMachine } from './machine.ts';
import type { Machine } from './machine.ts';
import type { Namespace } from './namespaces.ts';
import { cniConfig, containerdConfig, kubeProxyConfig, kubeletConfig, nodeRules } from './node-files.ts';
import type { KubeProxyMode, NodeFacts } from './node-files.ts';
import type { Run } from './run.ts';

export interface NodePrograms {
  kubelet: string;
  kubeProxy: string;
  pause: string;
  tools: NodeTools;
}

export interface Node {
  readonly name: string;
  readonly addresses: NodeAddresses;
  readonly isUp: boolean;
  /** When it was last started, to the second, as Kubernetes tells time. */
  readonly startedAt: number;
  /** Folder on this machine that the node has as /var/lib. */
  readonly libraryFolder: string;
  /** Starts the node, with what it had on its disk when it was killed. Returns before it is Ready. */
  start(): Promise<void>;
  /** Power cut: the line goes dead and everything on the node ends. */
  kill(): Promise<void>;
  /** Makes the image in the archive known to the node, for as long as it has its disk. */
  importImage(archive: string): Promise<void>;
  /** Its network, which is another one each time it is started. */
  readonly network: Namespace;
  servers(): Server[];
}

/** All that a node is made of. */
export interface NodePlan {
  run: Run;
  hub: Hub;
  programs: NodePrograms;
  controlPlane: ControlPlane;
  name: string;
  /** 1 for the first node of its cluster. */
  number: number;
  addresses: NodeAddresses;
  kubeProxyMode: KubeProxyMode;
  /** Archives of the images without which no pod starts. */
  images: readonly string[];
  logs: string;
}

function factsOf(plan: NodePlan): NodeFacts {
  const { run, controlPlane, name, kubeProxyMode, addresses, programs, logs } = plan;
  return {
    name,
    kubeProxyMode,
    addresses,
    cluster: controlPlane.addresses,
    folder: join(run.directory, name),
    pki: controlPlane.pki,
    podLogs: join(logs, 'pods'),
    cgroup: `/${run.name}/${name}`,
    cniPlugins: programs.tools.cni,
  };
}

async function writeFiles(facts: NodeFacts, controlPlane: ControlPlane): Promise<void> {
  const { name, addresses, folder } = facts;
  const serving = await controlPlane.authority.issue({
    commonName: name,
    dns: [name],
    ips: [addresses.internal, '127.0.0.1'],
  });
  const files = {
    'cni/10-bridge.conflist': cniConfig(facts),
    'containerd.toml': containerdConfig(facts),
    'kubelet.yaml': kubeletConfig(facts),
    'kube-proxy.yaml': kubeProxyConfig(facts),
    'kubelet.crt': serving.certPem,
    'kubelet.key': serving.keyPem,
    'kubelet.kubeconfig': await controlPlane.kubeconfigFor(`system:node:${name}`, ['system:nodes']),
    'kube-proxy.kubeconfig': await controlPlane.kubeconfigFor('system:kube-proxy'),
    'resolv.conf': `nameserver ${OUTSIDE.dns}\n`,
  };
  await mkdir(join(folder, 'cni'), { recursive: true });
  await mkdir(facts.podLogs, { recursive: true });
  for (const [file, text] of Object.entries(files))
    await writeFile(join(folder, file), text, { mode: 0o600 });
}

/** The node's line to its cluster, and its ways to the pods of the cluster's other nodes. */
async function makeNetwork(plan: NodePlan): Promise<Namespace> {
  const { hub, controlPlane, programs, name, number, addresses } = plan;
  const { addresses: cluster } = controlPlane;
  const network = await hub.attach(name, portOf(cluster.index, number), addresses.internal, cluster);
  const others = cluster.nodes.filter((node) => node.internal !== addresses.internal);
  await network.ip(...others.map((node) => `route add ${node.podNetwork} via ${node.internal}`));
  const { nft, env } = programs.tools;
  await network.run([nft, '-f', '-'], { stdin: nodeRules(cluster, ALL_POD_NETWORKS), env });
  return network;
}

async function startContainerd(machine: Machine, folder: string): Promise<void> {
  const containerd = machine.serve('containerd', ['containerd', '--config', join(folder, 'containerd.toml')]);
  const answers = () => machine.run(['ctr', 'version']).then(Boolean, () => false);
  await waitFor('containerd', answers, { abort: () => ended(containerd), everyMs: 250 });
}

/** kubelet is started again should it crash, which it has been seen to do just after its start (a race of its own). */
function startKubernetes(machine: Machine, { programs, addresses, name }: NodePlan, folder: string): void {
  const kubelet = [
    programs.kubelet,
    `--config=${folder}/kubelet.yaml`,
    `--kubeconfig=${folder}/kubelet.kubeconfig`,
    `--hostname-override=${name}`,
    `--node-ip=${addresses.internal}`,
    '--cloud-provider=external', // which here is cloud.ts
    '--v=2',
  ];
  machine.serve('kubelet', kubelet, { again: true });
  machine.serve('kube-proxy', [programs.kubeProxy, `--config=${folder}/kube-proxy.yaml`], { again: true });
}

/** A node that is not started yet. */
export async function createNode(plan: NodePlan): Promise<Node> {
  const { run, hub, programs, controlPlane, name, addresses, logs } = plan;
  const facts = factsOf(plan);
  const { folder } = facts;
  await writeFiles(facts, controlPlane);
  const imported = new Set<string>();
  let up: { machine: Machine; network: Namespace } | undefined;
  let startedAt = 0;
  const running = () => {
    if (up) return up;
    throw new Error(`${name} is down`);
  };
  const node: Node = {
    name,
    addresses,
    libraryFolder: join(folder, 'root/var/lib'),
    get isUp() {
      return up !== undefined;
    },
    get startedAt() {
      return startedAt;
    },
    async start() {
      if (up) return;
      startedAt = Math.floor(Date.now() / 1000) * 1000;
      await makeCgroup(run.name, name);
      const network = await makeNetwork(plan);
      const { pause, tools } = programs;
      up = { network, machine: await startMachine({ name, network, folder, logs, pause, env: tools.env }) };
      await startContainerd(up.machine, folder);
      for (const archive of plan.images) await node.importImage(archive);
      startKubernetes(up.machine, plan, folder);
    },
    async kill() {
      if (!up) return;
      const { machine, network } = up;
      up = undefined;
      // Each of these is done, last one first, also when another fails.
      await using steps = new AsyncDisposableStack();
      steps.defer(() => removeCgroup(facts.cgroup));
      steps.defer(() => network.remove());
      steps.defer(() => machine.powerOff());
      steps.defer(() => hub.detach(portOf(controlPlane.addresses.index, plan.number)));
    },
    async importImage(archive) {
      if (imported.has(archive)) return;
      await running().machine.run(['ctr', '--namespace=k8s.io', 'images', 'import', archive]);
      imported.add(archive);
    },
    get network() {
      return running().network;
    },
    servers: () => up?.machine.servers() ?? [],
  };
  return node;
}
