/** The control plane of a cluster: etcd, API server, controller manager and scheduler on a machine of their own. */
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  FILES,
  apiServerArgs,
  controllerManagerArgs,
  etcdArgs,
  schedulerArgs,
} from '../control-plane/commands.ts';
import type { Place } from '../control-plane/commands.ts';
import { kubeconfigText, writeFiles } from '../control-plane/files.ts';
import type { Identity } from '../control-plane/files.ts';
import type { Authority } from '../pki.ts';
import { startServer, waitFor } from '../../../src/store/embedded/process.ts';
import type { Server } from '../../../src/store/embedded/process.ts';
import { API_PORT } from './addresses.ts';
import type { ClusterAddresses } from './addresses.ts';
import { createApi } from './api.ts';
import type { Api } from './api.ts';
import type { Forwarding } from './forward.ts';
import { portOf } from './hub.ts';
import type { Hub } from './hub.ts';
import { ended } from './machine.ts';
import type { Namespace } from './namespaces.ts';
import type { Run } from './run.ts';

export interface ControlPlanePrograms {
  etcd: string;
  apiServer: string;
  controllerManager: string;
  scheduler: string;
}

export interface ControlPlane {
  readonly addresses: ClusterAddresses;
  /** Folder of the certificates that nodes need. */
  readonly pki: string;
  readonly authority: Authority;
  /** The API server as the cluster's own machines, and other clusters, reach it. */
  readonly url: string;
  /** The same, as this machine reaches it. */
  readonly localUrl: string;
  /** Text of a kubeconfig with a new client certificate. */
  kubeconfigFor(user: string, groups?: readonly string[], url?: string): Promise<string>;
  readonly api: Api;
  start(): Promise<void>;
  /** Ends all four at once; what was written is kept. */
  stop(): Promise<void>;
  servers(): Server[];
}

export interface ControlPlanePlan {
  run: Run;
  hub: Hub;
  forwarding: Forwarding;
  programs: ControlPlanePrograms;
  cluster: string;
  addresses: ClusterAddresses;
  logs: string;
}

/** Its own namespace, so the usual ports. */
const placeIn = (directory: string): Place => ({
  directory,
  apiPort: API_PORT,
  etcdPort: 2379,
  etcdPeerPort: 2380,
  controllerManagerPort: 10257,
  schedulerPort: 10259,
  kwokPort: 0,
});

/** A node is given up after seconds instead of most of a minute: tests wait for it. */
const NODE_MONITOR = ['--node-monitor-period=2s', '--node-monitor-grace-period=20s'];

/** What an API server with real nodes needs beyond one without; webhooks are called by pod address, as it runs no kube-proxy. */
function extraArgs(directory: string, { controlPlane }: ClusterAddresses): string[] {
  return [
    '--bind-address=0.0.0.0',
    `--advertise-address=${controlPlane.internal}`,
    '--endpoint-reconciler-type=lease',
    '--enable-admission-plugins=NodeRestriction',
    '--enable-aggregator-routing=true',
    '--kubelet-preferred-address-types=InternalIP',
    `--kubelet-certificate-authority=${join(directory, FILES.ca)}`,
    `--kubelet-client-certificate=${join(directory, 'pki/kubelet-client.crt')}`,
    `--kubelet-client-key=${join(directory, 'pki/kubelet-client.key')}`,
  ];
}

async function writeCertificates(
  directory: string,
  identity: Identity,
  { controlPlane }: ClusterAddresses,
): Promise<void> {
  const service = ['kubernetes', 'kubernetes.default', 'kubernetes.default.svc'];
  const server = await identity.authority.issue({
    commonName: 'kube-apiserver',
    dns: ['localhost', ...service, 'kubernetes.default.svc.cluster.local'],
    ips: ['127.0.0.1', '10.96.0.1', controlPlane.internal, controlPlane.public],
  });
  const client = await identity.authority.issue({
    commonName: 'kube-apiserver',
    organizations: ['system:masters'],
  });
  const files = {
    [FILES.apiServer]: server.certPem,
    [FILES.apiServerKey]: server.keyPem,
    'pki/kubelet-client.crt': client.certPem,
    'pki/kubelet-client.key': client.keyPem,
  };
  for (const [file, text] of Object.entries(files))
    await writeFile(join(directory, file), text, { mode: 0o600 });
}

/** Starts all four, waiting for the one that the others need. What was started is in `servers`, also after a failure. */
async function startServers(
  { programs, cluster, addresses, logs }: ControlPlanePlan,
  {
    directory,
    network,
    api,
    servers,
  }: { directory: string; network: Namespace; api: Api; servers: Server[] },
): Promise<void> {
  const place = placeIn(directory);
  const serve = (name: string, command: readonly string[]) => {
    const [program, ...args] = network.enter(command);
    const server = startServer(`${cluster} ${name}`, program, args, { logFile: join(logs, `${name}.log`) });
    servers.push(server);
    return server;
  };
  serve('etcd', [programs.etcd, ...etcdArgs(place)]);
  const args = apiServerArgs(place, true, extraArgs(directory, addresses));
  const apiServer = serve('kube-apiserver', [programs.apiServer, ...args]);
  const isReady = async () =>
    (await api.ask('GET', '/readyz'))?.status === 200 &&
    (await api.ask('GET', '/api/v1/namespaces/default'))?.status === 200;
  const patience = { abort: () => ended(apiServer), everyMs: 100, timeoutMs: 300_000 };
  await waitFor(`API server of ${cluster}`, isReady, patience);
  const manager = [programs.controllerManager, ...controllerManagerArgs(place), ...NODE_MONITOR];
  serve('kube-controller-manager', manager);
  serve('kube-scheduler', [programs.scheduler, ...schedulerArgs(place)]);
}

/** A control plane that is not started yet. */
export async function createControlPlane(plan: ControlPlanePlan): Promise<ControlPlane> {
  const { run, hub, forwarding, cluster, addresses, logs } = plan;
  const directory = join(run.directory, cluster);
  const url = `https://${addresses.controlPlane.internal}:${API_PORT}`;
  await mkdir(directory, { recursive: true });
  await mkdir(logs, { recursive: true });
  const identity = await writeFiles(directory, url);
  const { authority } = identity;
  await writeCertificates(directory, identity, addresses);
  const localUrl = `https://127.0.0.1:${await forwarding.open(addresses.controlPlane.internal, API_PORT)}`;
  const api = createApi(localUrl, identity);
  const port = portOf(addresses.index, 0);
  let network: Namespace | undefined;
  let servers: Server[] = [];
  return {
    addresses,
    pki: join(directory, 'pki'),
    authority,
    url,
    localUrl,
    api,
    async kubeconfigFor(user, groups = [], server = url) {
      const pair = await authority.issue({ commonName: user, organizations: groups });
      return kubeconfigText(server, authority.certPem, pair);
    },
    async start() {
      if (network) return;
      network = await hub.attach(cluster, port, addresses.controlPlane.internal, addresses);
      await network.ip(...addresses.nodes.map((node) => `route add ${node.podNetwork} via ${node.internal}`));
      await startServers(plan, { directory, network, api, servers });
    },
    async stop() {
      if (!network) return;
      const [gone, ending] = [network, servers];
      [network, servers] = [undefined, []];
      // Each of these is done, last one first, also when another fails.
      await using steps = new AsyncDisposableStack();
      steps.defer(() => gone.remove());
      for (const server of ending) steps.defer(() => server.stop('SIGKILL'));
      steps.defer(() => hub.detach(port));
    },
    servers: () => servers,
  };
}
