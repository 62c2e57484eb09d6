/**
 * An operator of the proxy road on a real API server, for a suite. There is no kubelet, so pods are written by the tests, and
 * what they answer is made up (`askPod`).
 */
import { after, before, beforeEach } from 'node:test';
import type { Operator } from '../../../src/control/operator.ts';
import type { PodAnswer } from '../../../src/control/proxy/pods/pod-client.ts';
import type { Client } from '../../../src/kube/http/client.ts';
import type { AnyObject } from '../../../src/kube/object.ts';
import { readManifests } from '../../fixtures/documents.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { createAuthority } from '../../support/pki.ts';
import type { Authority } from '../../support/pki.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startControlPlaneWithCrds } from '../../support/control-plane.ts';
import { adminOf, get, patchStatus, runOperator, typeOfKind, waitForCondition } from './harness.ts';
import type { WithStatus } from './harness.ts';

/** Manifests of the design document, by their numbers. */
export const printed = (...numbers: string[]) =>
  numbers.map((number) => readManifests().find(({ name }) => name.startsWith(`proxy/${number}-`))!.yaml);

export const named = (kind: string, name: string, rest: object, group = 'kroxylicious.io/v1alpha1') => ({
  apiVersion: group,
  kind,
  metadata: { name, namespace: 'default' },
  ...rest,
});

export const FILTER = named(
  'KafkaProtocolFilter',
  'encryption',
  { spec: { type: 'protocol-logger' } },
  'filter.kroxylicious.io/v1alpha1',
);

export interface Road {
  plane: ControlPlane;
  client: Client;
  operator: Operator;
  /** What all pods answer; undefined: that they have the newest that the operator wants. */
  answer: PodAnswer | undefined;
  restart(meanwhile?: () => Promise<void>): Promise<void>;
  owned(kind: string): Promise<AnyObject[]>;
  /** A Secret with a certificate for these names, good for `days=N`. */
  certificate(name: string, ...dns: string[]): Promise<object>;
  /** A pod as the Deployment would have it, running and ready. */
  startPod(): Promise<void>;
  /** Waits until a virtual cluster is ready. */
  ready(name?: string): Promise<WithStatus>;
}

const RESOURCES = [
  'VirtualKafkaCluster',
  'KafkaProxyIngress',
  'KafkaProxy',
  'KafkaClusterRef',
  'Kafka',
  'KafkaProtocolFilter',
];

/** Starts it before the tests of a suite, clears up before each, and stops it after all. */
export function useRoad(): Road {
  const road = {} as Road;
  let authority: Authority;

  async function askPod(): Promise<PodAnswer> {
    if (road.answer) return road.answer;
    const { status } = (await get(road.client, 'KafkaProxy', 'myproxy')) ?? {};
    const hash = status?.['configVersion'];
    return typeof hash === 'string' ? { hash } : {};
  }

  async function deleteAll(kind: string): Promise<void> {
    const { items } = await road.client.list(typeOfKind(kind), { namespace: 'default' });
    for (const { metadata } of items) await road.client.delete(typeOfKind(kind), metadata);
  }

  before(async () => {
    road.plane = await startControlPlaneWithCrds();
    road.client = adminOf(road.plane);
    authority = await createAuthority('test');
    road.operator = await runOperator(road.plane, { askPod });
  });
  after(async () => {
    await road.operator.stop();
    await road.client.close();
    await road.plane.stop();
  });
  beforeEach(async () => {
    road.answer = undefined;
    for (const kind of RESOURCES) await deleteAll(kind);
    // Whatever the test before had made goes when its proxy goes.
    for (const kind of ['Service', 'Deployment', 'Route', 'TLSRoute', 'DNSEndpoint'])
      await waitFor(`${kind}s to be gone`, async () => (await road.owned(kind)).length === 0);
    for (const kind of ['Secret', 'Pod']) await deleteAll(kind);
  });

  return Object.assign(road, {
    answer: undefined,
    async restart(meanwhile = async () => {}) {
      await road.operator.stop();
      await meanwhile();
      road.operator = await runOperator(road.plane, { askPod });
    },
    async owned(kind: string) {
      const selection = { namespace: 'default', labelSelector: 'kroxylicious.io/proxy' };
      return (await road.client.list(typeOfKind(kind), selection)).items;
    },
    async certificate(name: string, ...dns: string[]) {
      const [days] = dns.flatMap((word) => (word.startsWith('days=') ? Number(word.slice(5)) : []));
      const names = dns.filter((word) => !word.startsWith('days='));
      const request = { commonName: name, dns: names, ...(days !== undefined && { days }) };
      const { certPem, keyPem } = await authority.issue(request);
      const stringData = { 'tls.crt': certPem, 'tls.key': keyPem };
      return named('Secret', name, { type: 'kubernetes.io/tls', stringData }, 'v1');
    },
    async startPod() {
      const labels = { 'kroxylicious.io/proxy': 'myproxy', 'app.kubernetes.io/managed-by': 'isthmus' };
      const metadata = { name: 'myproxy-1', namespace: 'default', labels };
      const spec = { containers: [{ name: 'proxy', image: 'isthmus:test' }] };
      await road.client.create({ apiVersion: 'v1', kind: 'Pod', metadata, spec });
      const podIPs = [{ ip: '192.0.2.1' }];
      const conditions = [{ type: 'Ready', status: 'True' }];
      const status = { phase: 'Running', podIP: '192.0.2.1', podIPs, conditions };
      await patchStatus(road.client, 'Pod', 'myproxy-1', status);
    },
    ready: (name = 'mycluster') =>
      waitForCondition(road.client, ['VirtualKafkaCluster', name], ['Ready', 'True']),
  });
}
