/** A DNS server that follows real API servers, in this process, and a client that asks it. */
import assert from 'node:assert/strict';
import { Resolver } from 'node:dns/promises';
import { collectConfigured } from '../../../src/cli/dns-config.ts';
import { startDiscovery } from '../../../src/control/discover/discovery.ts';
import type { Discovery } from '../../../src/control/discover/discovery.ts';
import type { ReachMode } from '../../../src/control/discover/members/nodes.ts';
import { createCluster } from '../../../src/kube/cluster.ts';
import { createClusters } from '../../../src/kube/clusters.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { connectionOf, parseKubeconfig } from '../../../src/kube/http/kubeconfig.ts';
import { dnsConfigSchema } from '../../../src/dns/server/config.ts';
import { startDns } from '../../../src/dns/server/server.ts';
import type { DnsServer } from '../../../src/dns/server/server.ts';
import { createLog } from '../../../src/ops/log.ts';
import { createMetrics, metricsText } from '../../../src/ops/metrics.ts';
import { crdOf } from '../../../src/resources/crd.ts';
import { dnsEndpoint } from '../../../src/resources/external-dns/dns-endpoint.ts';
import { namePolicy } from '../../../src/resources/isthmus/name-policy.ts';
import { serviceExport } from '../../../src/resources/multicluster/service-export.ts';
import { serviceImport } from '../../../src/resources/multicluster/service-import.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { untilKindsAreServed } from '../../support/control-plane/served.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';

const log = createLog(process.env['ISTHMUS_LOG'] ? 'debug' : 'silent');

export interface Site extends AsyncDisposable {
  dns: DnsServer;
  discovery: Discovery;
  /** What a client is told, sorted; the error code of what it is not (ENOTFOUND is NXDOMAIN, ENODATA is no such type). */
  ask(name: string, type?: string): Promise<string[] | string>;
  /** Waits until it is told this. */
  expect(name: string, answer: string[] | string, type?: string): Promise<void>;
  metrics(): Promise<string>;
}

/** Serves the names of the first cluster, and of those it has been joined with. */
export async function startSite(
  joined: Record<string, ControlPlane>,
  {
    imports = false,
    wait = true,
    reach = 'pods',
    records = [],
    resolver = 'none',
    ...options
  }: {
    imports?: boolean;
    wait?: boolean;
    joinWaitMs?: number;
    reach?: ReachMode;
    /** Those of the configuration. */
    records?: { name: string; type: string; data: string }[];
    /** Whom it asks for the addresses of aliases that lead elsewhere. */
    resolver?: readonly string[] | 'none';
    /** Where grants of names are kept; they are not if left out. This site then writes them, as the leader does. */
    namespace?: string;
    importNamespace?: string;
    preferLocal?: boolean;
    forgetAfterMs?: number;
    objectOf?: (cluster: string) => KubeObject | undefined;
  } = {},
): Promise<Site> {
  const [[id, plane] = assert.fail('no cluster'), ...others] = Object.entries(joined);
  const metrics = createMetrics();
  const config = dnsConfigSchema.parse({
    listen: ['127.0.0.1:0'],
    zones: [{ name: 'xcc.test' }, { name: 'clusterset.local' }],
    records,
    resolver,
  });
  const configured = collectConfigured(config.zones);
  const dns = await startDns(config, { log, metrics, ready: false, onConfigured: configured.set });
  const connection = connectionOf(parseKubeconfig(plane.kubeconfigText, 'test'));
  const local = createCluster({ name: id, connection, log });
  const clusters = createClusters({ log });
  clusters.add(local);
  for (const [name, other] of others) clusters.set(name, other.kubeconfigText);
  const reachModes = { of: () => reach, subscribe: () => () => {} };
  const discovery = startDiscovery({
    local,
    clusters,
    reach,
    reachModes,
    sink: dns,
    configured,
    log,
    metrics,
    ...options,
  });
  if (wait) await discovery.ready.then(() => dns.settled());
  const stopped = new AbortController();
  const importing = imports ? discovery.importServices(stopped.signal) : Promise.resolve();
  const writing = discovery.writeGrants(stopped.signal);
  const ask = asking(dns.port);
  return {
    dns,
    discovery,
    ask,
    async expect(name, answer, type) {
      let last: unknown;
      const same = async () => JSON.stringify((last = await ask(name, type))) === JSON.stringify(answer);
      await waitFor(`${name} to be ${JSON.stringify(answer)}`, same).catch(() =>
        assert.deepEqual(last, answer, name),
      );
    },
    metrics: async () => metricsText([await metrics.snapshot()]),
    async [Symbol.asyncDispose]() {
      stopped.abort();
      await importing;
      await writing;
      await discovery.stop();
      await clusters.stop();
      await dns.close();
    },
  };
}

/** Asks a DNS server on loopback. */
export function asking(port: number): Site['ask'] {
  const resolver = new Resolver({ timeout: 2000, tries: 4 });
  resolver.setServers([`127.0.0.1:${port}`]);
  return async (name, type = 'A') => {
    try {
      const answer = await resolver.resolve(name, type);
      const words = [answer].flat().map((one) => (typeof one === 'string' ? one : inWords(one)));
      return words.toSorted();
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
}

function inWords(one: object): string {
  if (Array.isArray(one)) return one.join('');
  if ('port' in one && 'name' in one) return `${String(one.port)} ${String(one.name)}`;
  return JSON.stringify(one);
}

/** Makes the kinds known to an API server. */
export async function installKinds(plane: ControlPlane): Promise<void> {
  await apply(plane, ...[dnsEndpoint, serviceExport, serviceImport, namePolicy].map((kind) => crdOf(kind)));
  await untilKindsAreServed(plane);
}

export async function apply(plane: ControlPlane, ...documents: object[]): Promise<void> {
  const stdin = documents.map((one) => JSON.stringify(one)).join('\n---\n');
  const { code, stderr } = await plane.kubectl(['apply', '-f', '-'], { stdin });
  assert.equal(code, 0, stderr);
}

export async function remove(plane: ControlPlane, ...what: string[]): Promise<void> {
  const { code, stderr } = await plane.kubectl(['delete', ...what]);
  assert.equal(code, 0, stderr);
}

/** The reasons of the events about an object. */
export async function eventsOf(plane: ControlPlane, name: string): Promise<string[]> {
  const fields = `regarding.name=${name}`;
  const { stdout } = await plane.kubectl([
    'get',
    'events.v1.events.k8s.io',
    '-A',
    `--field-selector=${fields}`,
    '-o',
    'jsonpath={.items[*].reason}',
  ]);
  return stdout.split(' ').filter((reason) => reason !== '');
}

export async function expectEvent(plane: ControlPlane, name: string, reason: string): Promise<void> {
  await waitFor(`event ${reason} about ${name}`, async () => (await eventsOf(plane, name)).includes(reason), {
    everyMs: 250,
  });
}

/** Waits until a line is in the metrics. */
export async function expectMetric(site: Site, line: string): Promise<void> {
  const there = async () => (await site.metrics()).split('\n').includes(line);
  await waitFor(line, there, { everyMs: 100 });
}

const FQDN = 'connectivity.tanzu.vmware.com/fqdn';

export function service(name: string, fqdn: string | undefined, spec: object = {}): object {
  const annotations = fqdn === undefined ? {} : { [FQDN]: fqdn };
  const ports = [{ name: 'http', port: 80, protocol: 'TCP' }];
  return {
    apiVersion: 'v1',
    kind: 'Service',
    metadata: { name, namespace: 'default', annotations },
    spec: { ports, ...spec },
  };
}

export function endpointSlice(
  name: string,
  endpoints: object[],
  { of, annotations = {} }: { of?: string; annotations?: Record<string, string> } = {},
): object {
  const labels = of === undefined ? {} : { 'kubernetes.io/service-name': of };
  return {
    apiVersion: 'discovery.k8s.io/v1',
    kind: 'EndpointSlice',
    metadata: { name, namespace: 'default', labels, annotations },
    addressType: 'IPv4',
    endpoints,
    ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
  };
}

export function exportOf(name: string): object {
  return {
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
    kind: 'ServiceExport',
    metadata: { name, namespace: 'default' },
  };
}
