/**
 * Stands in for OpenShift's router, which no registry has: the CRDs are OpenShift's own, haproxy carries the traffic
 * (TLS passed through by server name) on port 443 of the cluster's first node, and Routes are given what OpenShift gives
 * them: a host name where they name none, and an `Admitted` entry in status.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { debianEnvironment, ensureDebianTree } from '../../install/debian-tree.ts';
import { ensureOpenShiftCrds } from '../../install/openshift.ts';
import { startServer } from '../../../../src/store/embedded/process.ts';
import type { Server } from '../../../../src/store/embedded/process.ts';
import { disposable, startLoop } from '../api.ts';
import type { Api, Loop } from '../api.ts';
import { hasCondition } from '../cluster.ts';
import type { Cluster } from '../cluster.ts';
import type { Clusters } from '../clusters.ts';
import type { Namespace } from '../namespaces.ts';
import type { Node } from '../node.ts';

const CONTROLLERS = 'openshift-ingress-operator';

interface Route {
  metadata: { name: string; namespace: string; generation?: number; creationTimestamp: string };
  spec: { host?: string; subdomain?: string; to: { name: string }; port?: { targetPort: string | number } };
  status?: { ingress?: { routerName: string; host: string }[] };
}

interface EndpointSlice {
  metadata: { namespace: string; labels?: Record<string, string> };
  ports: { name?: string; port?: number }[] | null;
  endpoints: { addresses: string[]; conditions: { ready?: boolean } }[] | null;
}

/** The addresses of the pods that a Route leads to. */
function targets(route: Route, slices: readonly EndpointSlice[]): string[] {
  const wanted = route.spec.port?.targetPort;
  return slices
    .filter(({ metadata }) => metadata.namespace === route.metadata.namespace)
    .filter(({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === route.spec.to.name)
    .flatMap(({ ports, endpoints }) => {
      const port = (ports ?? []).find(
        (each) => wanted === undefined || each.name === wanted || each.port === wanted,
      );
      const ready = (endpoints ?? []).filter(({ conditions }) => conditions.ready !== false);
      return port?.port === undefined
        ? []
        : ready.flatMap(({ addresses }) => addresses.map((ip) => `${ip}:${port.port}`));
    });
}

/** The host name of a Route: its own, or what it asks for below the router's domain, or one that is made up for it. */
function hostOf({ metadata, spec }: Route, domain: string): string {
  return spec.host ?? `${spec.subdomain ?? `${metadata.name}-${metadata.namespace}`}.${domain}`;
}

/** haproxy's configuration: the server name of a TLS greeting chooses the Route; without one the connection ends. */
export function haproxyConfig(
  routes: readonly Route[],
  slices: readonly EndpointSlice[],
  domain: string,
): string {
  const choices = routes.map(
    (route, i) => `  use_backend route${i} if { req.ssl_sni -i ${hostOf(route, domain)} }`,
  );
  const backends = routes.flatMap((route, i) => [
    `backend route${i}`,
    ...targets(route, slices).map((target, j) => `  server s${j} ${target}`),
  ]);
  return [
    'defaults',
    '  mode tcp',
    '  timeout connect 5s',
    '  timeout client 1h',
    '  timeout server 1h',
    'frontend tls',
    '  bind :443',
    '  tcp-request inspect-delay 5s',
    '  tcp-request content accept if { req.ssl_hello_type 1 }',
    ...choices,
    ...backends,
    '',
  ].join('\n');
}

async function admit(api: Api, route: Route, domain: string): Promise<void> {
  const { name, namespace, creationTimestamp } = route.metadata;
  const path = `/apis/route.openshift.io/v1/namespaces/${namespace}/routes/${name}`;
  const host = hostOf(route, domain);
  // Only a name that was made up is written down: what becomes of a subdomain differs from router to router.
  if (route.spec.host === undefined && route.spec.subdomain === undefined) {
    const annotations = { 'openshift.io/host.generated': 'true' };
    await api.ask('PATCH', path, { metadata: { annotations }, spec: { host } });
  }
  if (route.status?.ingress?.some((each) => each.routerName === 'default' && each.host === host)) return;
  const admitted = { type: 'Admitted', status: 'True', lastTransitionTime: creationTimestamp };
  const router = { routerName: 'default', routerCanonicalHostname: `router-default.${domain}` };
  const ingress = [{ host, ...router, wildcardPolicy: 'None', conditions: [admitted] }];
  await api.ask('PATCH', `${path}/status`, { status: { ingress } });
}

/** haproxy in the network of a node: reloaded without breaking connections, started anew when the node was. */
function createProxy(
  node: Node,
  config: string,
  logFile: string,
  tree: string,
): { load(text: string): Promise<void>; stop(): Promise<void> } {
  let running: { server: Server; network: Namespace } | undefined;
  let loaded = '';
  return {
    async load(text) {
      if (!node.isUp || (text === loaded && running?.network === node.network && running.server.running))
        return;
      await writeFile(config, text);
      loaded = text;
      if (running?.network === node.network && running.server.running) {
        process.kill(running.server.pid, 'SIGUSR2');
        return;
      }
      await running?.server.stop('SIGKILL');
      const { network } = node;
      const [program, ...args] = network.enter([join(tree, 'usr/sbin/haproxy'), '-W', '-f', config]);
      const server = startServer('router', program, args, { logFile, env: debianEnvironment(tree) });
      running = { network, server };
    },
    stop: async () => running?.server.stop('SIGTERM'),
  };
}

/** Makes the cluster an OpenShift as far as Routes go. Host names end in `apps.<cluster>.test`, which the internet knows. */
export async function startOpenShiftRouter(clusters: Clusters, cluster: Cluster): Promise<Loop> {
  const { api } = cluster.controlPlane;
  const domain = `apps.${cluster.name}.test`;
  const [node] = cluster.nodes as [Node];
  const tree = await ensureDebianTree('haproxy', ['haproxy']);
  const proxy = createProxy(
    node,
    join(clusters.logs, `${cluster.name}-router.cfg`),
    join(clusters.logs, `${cluster.name}-router.log`),
    tree,
  );
  await cluster.apply(await readFile(await ensureOpenShiftCrds(), 'utf8'));
  for (const kind of ['routes.route.openshift.io', 'ingresscontrollers.operator.openshift.io'])
    await cluster.waitFor(`crd/${kind}`, hasCondition('Established'));
  const controller = { apiVersion: 'operator.openshift.io/v1', kind: 'IngressController' };
  await cluster.apply([
    { apiVersion: 'v1', kind: 'Namespace', metadata: { name: CONTROLLERS } },
    { ...controller, metadata: { name: 'default', namespace: CONTROLLERS }, spec: {} },
  ]);
  const status = JSON.stringify({ status: { domain, selector: '', availableReplicas: 1 } });
  const where = [`--namespace=${CONTROLLERS}`, '--subresource=status', '--type=merge'];
  await cluster.kubectl('patch', 'ingresscontroller/default', ...where, `--patch=${status}`);
  await clusters.outside.setName(`*.${domain}`, [node.addresses.public]);
  const loop = startLoop(async () => {
    const routes = await api.list<Route>('/apis/route.openshift.io/v1/routes');
    const slices = await api.list<EndpointSlice>('/apis/discovery.k8s.io/v1/endpointslices');
    if (!routes || !slices) return; // what was served stays so while nobody answers
    await proxy.load(haproxyConfig(routes, slices, domain));
    for (const route of routes) await admit(api, route, domain);
  });
  return disposable(async () => {
    await loop.stop();
    await proxy.stop();
  });
}
