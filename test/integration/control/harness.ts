/** An operator on a real API server, with what tests of the proxy road ask of it. */
import assert from 'node:assert/strict';
import { startOperator } from '../../../src/control/operator.ts';
import type { Operator, OperatorOptions } from '../../../src/control/operator.ts';
import { proxyChecks } from '../../../src/store/proxy-checks.ts';
import { createClient } from '../../../src/kube/http/client.ts';
import type { Client } from '../../../src/kube/http/client.ts';
import { connectionOf, parseKubeconfig } from '../../../src/kube/http/kubeconfig.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import { createLog } from '../../../src/ops/log.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';

export const log = createLog(process.env['ISTHMUS_LOG'] ? 'debug' : 'silent');

export async function runOperator(
  plane: ControlPlane,
  options: Partial<OperatorOptions> = {},
): Promise<Operator> {
  return startOperator({
    roads: ['proxy'],
    kubeconfig: plane.kubeconfig,
    namespace: 'default',
    managementHost: '127.0.0.1',
    managementPort: 0,
    proxyImage: 'isthmus:test',
    checks: proxyChecks,
    log,
    ...options,
  });
}

export function adminOf(plane: ControlPlane): Client {
  return createClient(connectionOf(parseKubeconfig(plane.kubeconfigText, 'test')));
}

/** The text of /metrics. A connection that is kept may be closed by the server in the moment in which it is used again. */
export async function metrics({ managementPort }: Operator): Promise<string> {
  const options = { headers: { connection: 'close' } };
  return (await fetch(`http://127.0.0.1:${managementPort}/metrics`, options)).text();
}

/** A number of /metrics, summed over its label sets, or those of one controller. */
export async function metric(operator: Operator, name: string, controller?: string): Promise<number> {
  const of = controller === undefined ? '[ {]' : `\\{controller="${controller}"[,}]`;
  const lines = (await metrics(operator))
    .split('\n')
    .filter((line) => new RegExp(`^${name}${of}`).test(line));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

export async function apply(plane: ControlPlane, ...documents: (string | object)[]): Promise<void> {
  const text = documents.map((one) => (typeof one === 'string' ? one : JSON.stringify(one))).join('\n---\n');
  const { code, stderr } = await plane.kubectl(['apply', '-f', '-'], { stdin: text });
  assert.equal(code, 0, stderr);
}

interface Condition {
  type: string;
  status: string;
  reason: string;
  message: string;
}

export interface WithStatus extends AnyObject {
  status?: {
    conditions?: Condition[];
    ingresses?: { name: string; bootstrap?: string; conditions: Condition[] }[];
    [field: string]: unknown;
  };
}

const TYPES: Record<string, { group: string; version: string }> = {
  KafkaProxy: { group: 'kroxylicious.io', version: 'v1alpha1' },
  KafkaProxyIngress: { group: 'kroxylicious.io', version: 'v1alpha1' },
  VirtualKafkaCluster: { group: 'kroxylicious.io', version: 'v1alpha1' },
  KafkaClusterRef: { group: 'kroxylicious.io', version: 'v1alpha1' },
  KafkaProtocolFilter: { group: 'filter.kroxylicious.io', version: 'v1alpha1' },
  Service: { group: '', version: 'v1' },
  Secret: { group: '', version: 'v1' },
  ConfigMap: { group: '', version: 'v1' },
  Deployment: { group: 'apps', version: 'v1' },
  Pod: { group: '', version: 'v1' },
  Route: { group: 'route.openshift.io', version: 'v1' },
  TLSRoute: { group: 'gateway.networking.k8s.io', version: 'v1' },
  Gateway: { group: 'gateway.networking.k8s.io', version: 'v1' },
  DNSEndpoint: { group: 'externaldns.k8s.io', version: 'v1alpha1' },
  PodMonitor: { group: 'monitoring.coreos.com', version: 'v1' },
  Kafka: { group: 'kafka.strimzi.io', version: 'v1' },
  KafkaUser: { group: 'kafka.strimzi.io', version: 'v1' },
  StrimziPodSet: { group: 'core.strimzi.io', version: 'v1' },
  KafkaAnchor: { group: 'isthmus.dev', version: 'v1alpha1' },
};

export const typeOfKind = (kind: string) => ({ ...TYPES[kind]!, kind });

export function get(
  client: Client,
  kind: string,
  name: string,
  namespace = 'default',
): Promise<WithStatus | undefined> {
  return client.get<WithStatus>(typeOfKind(kind), { name, namespace });
}

/** What has failed some times is tried again only after minutes. */
const PATIENT = { timeoutMs: 300_000 };

/** Waits until a condition of an object has a status (and reason), and returns the object. */
export async function waitForCondition(
  client: Client,
  [kind, name]: readonly [string, string],
  [type, status, reason]: readonly [string, string, string?],
  namespace = 'default',
): Promise<WithStatus> {
  let last: unknown;
  try {
    const isSo = async () => {
      const object = await get(client, kind, name, namespace);
      last = object?.status;
      const found = object?.status?.conditions?.find((one) => one.type === type);
      const fits = found?.status === status && (reason === undefined || found.reason === reason);
      return fits ? object : undefined;
    };
    return await waitFor(`${kind} ${name}: ${type}=${status}`, isSo, PATIENT);
  } catch (cause) {
    throw new Error(`${String(cause)}; status: ${JSON.stringify(last, null, 1)}`, { cause });
  }
}

/** The configuration that was last written for a proxy. */
export async function configOf(client: Client, proxy: string): Promise<ConfigDocument | undefined> {
  const secret = await get(client, 'Secret', `${proxy}-config`);
  const text = (secret?.['data'] as Record<string, string> | undefined)?.['proxy.yaml'];
  return text === undefined
    ? undefined
    : (JSON.parse(Buffer.from(text, 'base64').toString('utf8')) as ConfigDocument);
}

export interface ConfigDocument {
  virtualClusters: { name: string; gateways: object[]; targetCluster: { bootstrapServers: string } }[];
  filterDefinitions: { name: string; config: unknown }[];
}

/** Writes into a status, as whoever is responsible for the object would, when it is there. */
export async function patchStatus(client: Client, kind: string, name: string, status: object): Promise<void> {
  await waitFor(`${kind} ${name}`, () => get(client, kind, name));
  const options = { subresource: 'status' };
  await client.mergePatch(typeOfKind(kind), { name, namespace: 'default' }, { status }, options);
}
