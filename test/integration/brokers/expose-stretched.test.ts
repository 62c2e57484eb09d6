/** The one port of the nodes that exposed brokers of several clusters have, agreed on by real API servers. No pod runs here. */
import assert from 'node:assert/strict';
import { after, before, suite, test } from 'node:test';
import type { Operator } from '../../../src/control/operator.ts';
import type { Client } from '../../../src/kube/http/client.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import type { OwnControlPlane } from '../../support/control-plane.ts';
import { adminOf, apply, runOperator } from '../control/harness.ts';
import { PATIENCE, annotated, kafka, nodePool } from './fixture.ts';
import { joinSecret, startPlane } from './remote.ts';

const RANGE = ['--service-node-port-range=30100-30104'];
/** The only number that is free in the other cluster. */
const FREE = 30_103;
const SERVICE = { group: '', version: 'v1', kind: 'Service' };
const ANCHOR = { group: 'isthmus.dev', version: 'v1alpha1', kind: 'KafkaAnchor' };
const EXT = { name: 'ext', port: 9094, type: 'hostport', tls: true, configuration: { subdomain: 'kafka.example.test' } }; // prettier-ignore

const occupied = (nodePort: number) => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: `taken-${nodePort}`, namespace: 'default' },
  spec: { type: 'NodePort', ports: [{ port: 80, nodePort }] },
});

suite('a port of the nodes of two clusters', { timeout: 900_000 }, () => {
  let central: OwnControlPlane;
  let east: OwnControlPlane;
  let operator: Operator | undefined;
  const clients: Client[] = [];
  before(async () => {
    [central, east] = await Promise.all([startPlane(RANGE), startPlane(RANGE)]);
    for (const port of [30_100, 30_101, 30_102, 30_104]) await apply(east, occupied(port));
    operator = await runOperator(central, {
      roads: ['kafka'],
      targets: { central: 'hub', remotes: [], isStretching: true, networkPolicies: true },
    });
  });
  after(async () => {
    await operator?.stop();
    for (const client of clients) await client.close();
    await Promise.all([central?.stop(), east?.stop()]);
  });

  test('is one that both have free', async () => {
    await apply(central, joinSecret('east', east.kubeconfigText));
    const exposed = kafka('events', { listeners: [EXT] });
    const stretched = annotated(exposed, { 'strimzi.io/cross-cluster-type': 'isthmus' });
    await apply(
      central,
      stretched,
      nodePool('events', 'hub'),
      nodePool('events', 'east', { cluster: 'east' }),
    );
    for (const plane of [central, east]) clients.push(adminOf(plane));
    type Spec = { ports?: { port?: number; nodePort?: number }[] };
    const specOf = async (client: Client, type: typeof SERVICE, name: string) =>
      ((await client.get(type, { namespace: 'default', name }))?.['spec'] ?? {}) as Spec;
    let seen: unknown;
    const isAgreed = async () => {
      const all = clients.map(async (client) => [
        (await specOf(client, ANCHOR, 'events')).ports?.[0]?.port,
        (await specOf(client, SERVICE, 'events-kafka-ext-hostport')).ports?.[0]?.nodePort,
      ]);
      seen = (await Promise.all(all)).flat();
      return (seen as unknown[]).every((port) => port === FREE);
    };
    await waitFor('both keep the number', isAgreed, PATIENCE).catch((error: unknown) =>
      assert.fail(`${String(error)}: ${JSON.stringify(seen)}`),
    );
  });
});
