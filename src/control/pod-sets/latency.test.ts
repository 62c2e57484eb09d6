import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { once } from 'node:events';
import { suite, test } from 'node:test';
import { PEERS_ANNOTATION, readPeers } from '../shared/peers.ts';
import { observeLatency, planLatency, withSamples } from './latency.ts';
import type { LatencyActed } from './latency.ts';
import { measurePeers } from './measure.ts';
import type { PodSetViews } from './watches.ts';
import type { AnyObject } from '../../kube/object.ts';

const PEERS = { west: ['events-west-2.west.events-kafka-brokers.kafka.svc.clusterset.local:9091'] };

const OWN = '1.4.2';

function views(latencies: object[] = [], peers: object = PEERS, controllerVersion?: string): PodSetViews {
  const anchor = {
    apiVersion: 'isthmus.dev/v1alpha1',
    kind: 'KafkaAnchor',
    metadata: { name: 'events', namespace: 'kafka' },
    spec: {
      clusterId: 'MkU3OEVBNTcwNTJENDM2Qg',
      epoch: 1,
      holder: 'isthmus',
      kafka: { name: 'events', uid: 'u' },
    },
    status: { latencies, ...(controllerVersion !== undefined && { controllerVersion }) },
  } as unknown as AnyObject;
  const set = {
    metadata: { name: 'events-east', annotations: { [PEERS_ANNOTATION]: JSON.stringify(peers) } },
  } as unknown as AnyObject;
  const viewOf = (object: AnyObject) => ({ find: () => [object], list: () => [object], get: () => object });
  return { anchors: viewOf(anchor), podSets: viewOf(set) } as unknown as PodSetViews;
}

const plan = (seen: PodSetViews, measured: LatencyActed | undefined, now = 0) =>
  planLatency(observeLatency(seen, 'kafka/events', measured, OWN, now));
const samples = (...all: number[]): LatencyActed => ({
  at: 0,
  since: -1,
  measured: new Map([['west', all]]),
});

suite('how far away other clusters are', () => {
  test('is measured every ten seconds, and said once enough is known', () => {
    assert.deepEqual(plan(views(), undefined).actions, [{ peers: PEERS }]);
    const early = plan(views(), samples(2, 3), 4000);
    assert.deepEqual([early.actions, early.statuses, early.lookAgainInMs], [[], [], 6000]);
    const known = plan(views(), samples(2, 3, 40), 10_000);
    assert.deepEqual(known.statuses.map(({ status }) => status), [{ latencies: [{ name: 'west', p50Ms: 3, p99Ms: 40 }], controllerVersion: OWN }]); // prettier-ignore
    assert.equal(known.actions.length, 1);
  });

  test('is not said again for noise, and forgotten where nobody is to be measured any more', () => {
    const said = [{ name: 'west', p50Ms: 3, p99Ms: 40 }];
    assert.deepEqual(plan(views(said), samples(3.4, 3.6, 44)).statuses, []);
    assert.equal(plan(views(said), samples(3, 3, 80)).statuses.length, 1);
    assert.deepEqual(
      plan(views(said, PEERS, OWN), undefined).statuses,
      [],
      'a new process knows nothing better',
    );
    assert.deepEqual(plan(views(said, {}), undefined).statuses.map(({ status }) => status), [{ latencies: [] }]); // prettier-ignore
  });

  test('the version of the program is said with it, and once by itself, though nobody may keep it', () => {
    const said = [{ name: 'west', p50Ms: 3, p99Ms: 40 }];
    const statusesOf = (measured: LatencyActed | undefined, version?: string) =>
      plan(views(said, PEERS, version), measured).statuses.map(({ status }) => status);
    const told = [{ latencies: said, controllerVersion: OWN }];
    assert.deepEqual(statusesOf(undefined), told);
    const first = { ...samples(3), since: 0 };
    assert.deepEqual(statusesOf(first, '1.4.1'), told, 'an upgrade');
    assert.deepEqual(statusesOf(first, OWN), []);
    assert.deepEqual(statusesOf(samples(3)), []);
    assert.deepEqual(plan(views([], {}), undefined).statuses, [], 'a Kafka in one cluster');
  });

  test('ten minutes of it are kept', () => {
    const full = withSamples(new Map([['west', Array.from({ length: 60 }, (_, n) => n)]]), PEERS, new Map([['west', 7]])); // prettier-ignore
    assert.deepEqual([full.get('west')?.length, full.get('west')?.at(-1), full.get('west')?.[0]], [60, 7, 1]);
  });

  test('what an annotation has that is no address is no peer', () => {
    assert.deepEqual(readPeers('{"a":["x.y:1","http://z","-"],"b":3}'), { a: ['x.y:1'] });
    assert.deepEqual([readPeers('no'), readPeers('[]'), readPeers(undefined)], [{}, {}, {}]);
  });

  test('a connection takes a round trip; nodes that are not reached are passed over', async () => {
    const server = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    try {
      const { port } = server.address() as AddressInfo;
      const peers = { near: ['127.0.0.1:1', `127.0.0.1:${port}`], gone: ['127.0.0.1:1'] };
      const found = await measurePeers(peers, new AbortController().signal);
      assert.deepEqual([...found.keys()], ['near']);
      assert.ok(found.get('near')! < 3000);
    } finally {
      server.close();
    }
  });
});
