/** Two Kafkas that want the same names: the first grant decides, over restarts, until its owner is gone or may no longer have it. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { PATIENCE, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';

const SUBDOMAIN = 'kafka.example.test';
const exposed = (configuration: object = {}) => ({
  listeners: [
    { name: 'plain', port: 9092, type: 'internal', tls: false },
    {
      name: 'ext',
      port: 9094,
      type: 'hostport',
      tls: true,
      configuration: { subdomain: SUBDOMAIN, ...configuration },
    },
  ],
});

const POLICY = {
  apiVersion: 'isthmus.dev/v1alpha1',
  kind: 'NamePolicy',
  metadata: { name: 'closed' },
  spec: { zone: 'example.test', namespaces: { matchLabels: { team: 'nobody' } } },
};

describe('names of two Kafkas', () => {
  let bed: Bed;
  before(async () => {
    bed = await startBed({ nodes: ['a', 'b'].map((name) => ({ name })) });
  });
  after(() => bed?.[Symbol.asyncDispose]());

  const grants = async (name: string) => {
    const { names = [] } = ((await bed.get('KafkaAnchor', name))?.['spec'] ?? {}) as {
      names?: { pattern: string; since?: string }[];
    };
    return names;
  };
  const records = async (name: string) => {
    const found = await bed.client.get(
      { group: 'externaldns.k8s.io', version: 'v1alpha1', kind: 'DNSEndpoint' },
      { namespace: 'default', name: `${name}-kafka-ext` },
    );
    const { endpoints = [] } = (found?.['spec'] ?? {}) as { endpoints?: { dnsName: string }[] };
    return endpoints.map(({ dnsName }) => dnsName).toSorted();
  };
  const untilReason = (name: string, reason: string) =>
    waitFor(
      `${name} says ${reason}`,
      async () => (await bed.condition(name, 'Ready'))?.reason === reason,
      PATIENCE,
    );

  test('the first has them, the second is told so and has no records', async () => {
    await bed.apply(kafka('first', exposed()), nodePool('first', 'dual'));
    await bed.untilReady('first');
    assert.deepEqual(await records('first'), [`0.${SUBDOMAIN}`, `bootstrap.${SUBDOMAIN}`]);
    await bed.apply(kafka('second', exposed()), nodePool('second', 'pool'));
    await untilReason('second', 'HostNameTaken');
    const { message } = (await bed.condition('second', 'Ready'))!;
    assert.match(
      message,
      /belongs to Kafka "first" in namespace "default".*\$\(id\)\.\$\(cluster\)\.\$\(subdomain\)/,
    );
    assert.deepEqual([await grants('second'), await records('second')], [[], []]);
  });

  test('a restart changes nothing: the grant is written down', async () => {
    const before = await grants('first');
    assert.ok(before[0]?.since);
    await bed.restartOperator();
    await waitFor(
      'the second has a pod',
      async () => (await bed.podUid('second-pool-0')) !== undefined,
      PATIENCE,
    );
    await bed.untilReady('first');
    await untilReason('second', 'HostNameTaken');
    assert.deepEqual([await grants('first'), await grants('second')], [before, []]);
  });

  test('the second gets names by the pattern that was proposed', async () => {
    await bed.apply(kafka('second', exposed({ hostPattern: '$(id).$(cluster).$(subdomain)' })));
    await bed.untilReady('second');
    assert.deepEqual(await records('second'), [`0.second.${SUBDOMAIN}`, `bootstrap.second.${SUBDOMAIN}`]);
  });

  test('a NamePolicy takes records away, and restarts nobody; without it they are back', async () => {
    const before = await bed.podUid('first-dual-0');
    await bed.apply(POLICY);
    await untilReason('first', 'HostNameNotAllowed');
    await waitFor('no records', async () => (await records('first')).length === 0, PATIENCE);
    assert.equal((await bed.plane.kubectl(['delete', 'namepolicy', 'closed'])).code, 0);
    await bed.untilReady('first');
    assert.equal((await records('first')).length, 2);
    assert.equal(await bed.podUid('first-dual-0'), before);
  });

  test('who is gone has no names: the second gets them', async () => {
    await bed.plane.kubectl(['delete', 'kafka', 'first']);
    await bed.apply(kafka('second', exposed()));
    const hasThem = async () => (await grants('second'))[0]?.pattern === `$(id).${SUBDOMAIN}`;
    await waitFor('the second has the names', hasThem, PATIENCE);
  });
});
