/**
 * Two clusters that want the same names, while no broker has a place yet, so that nothing is published: the first grant decides, over
 * restarts and from an operator of former times on, until its owner is gone. Also where one of the two is a Kafka.
 */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { PATIENCE, kafka, nodePool } from '../brokers/fixture.ts';
import type { Bed } from '../brokers/fixture.ts';
import { cluster, podUids, startPlane, startRedpandaBed, untilCondition, untilQuiescent } from './fixture.ts';

const SUBDOMAIN = 'panda.example.test';
const SHARED = 'shared.example.test';
const NODES = ['a', 'b', 'c', 'd'];
const STATEFUL_SET = { group: 'apps', version: 'v1', kind: 'StatefulSet' };
const ANCHOR = { group: 'isthmus.dev', version: 'v1alpha1', kind: 'RedpandaAnchor' };
const DNS_ENDPOINT = { group: 'externaldns.k8s.io', version: 'v1alpha1', kind: 'DNSEndpoint' };

interface Grant {
  name: string;
  pattern: string;
  since?: string;
}

describe('names of two clusters', () => {
  let bed: Bed;
  before(async () => {
    bed = await startRedpandaBed(await startPlane(), { operator: { roads: ['kafka', 'redpanda', 'pod-sets'] } }); // prettier-ignore
  });
  after(() => bed?.[Symbol.asyncDispose]());

  const panda = (name: string, external: object = {}) =>
    cluster(
      name,
      { replicas: 1 },
      { kafkaApi: [{ port: 9092 }, { external: { enabled: true, subdomain: SUBDOMAIN, ...external } }] },
    );
  const cordon = (isClosed: boolean) => Promise.all(NODES.map((node) => bed.runner.cordon(node, isClosed)));
  const grants = async (name: string, kind = 'RedpandaAnchor') => {
    const { names = [] } = ((await bed.get(kind, name))?.['spec'] ?? {}) as { names?: Grant[] };
    return names;
  };
  const published = async (name: string) => {
    const found = await bed.client.get(DNS_ENDPOINT, { namespace: 'default', name });
    const { endpoints = [] } = (found?.['spec'] ?? {}) as { endpoints?: { dnsName: string }[] };
    return endpoints.map(({ dnsName }) => dnsName).toSorted();
  };
  const records = (name: string) => published(`${name}-external`);
  const untilPublished = (name: string, expected: readonly string[]) =>
    waitFor(`records ${name}`, async () => (await published(name)).join() === expected.join(), PATIENCE);
  const untilTaken = (name: string) =>
    untilCondition(bed, name, 'OperatorQuiescent', ({ reason }) => reason === 'HostNameTaken');
  const untilGranted = (name: string, pattern: string) =>
    waitFor(`${name} has ${pattern}`, async () => (await grants(name))[0]?.pattern === pattern, PATIENCE);
  const remove = async (kind: string, name: string) =>
    assert.equal((await bed.plane.kubectl(['delete', kind, name])).code, 0);

  /** Those of two that were refused, and those that were not. */
  let [winner, loser] = ['', ''];

  test('that are applied together, while no node takes their brokers: one has the names, the other is told so', async () => {
    await cordon(true);
    await bed.apply(panda('one'), panda('two'));
    const hasOne = async () => (await Promise.all([grants('one'), grants('two')])).flat().length > 0;
    await waitFor('one of them has names', hasOne, PATIENCE);
    [winner, loser] = (await grants('one')).length > 0 ? ['one', 'two'] : ['two', 'one'];
    const { conditions } = await untilTaken(loser);
    assert.match(
      JSON.stringify(conditions),
      new RegExp(`belongs to Redpanda cluster \\\\"${winner}\\\\" in namespace \\\\"default\\\\"`),
    );
    assert.deepEqual(await grants(loser), []);
    assert.deepEqual([await records(winner), await records(loser)], [[], []]);
    assert.doesNotMatch(JSON.stringify(await bed.get('ConfigMap', `${loser}-base`)), /example\.test/);
  });

  test('a restart changes nothing: the grant is written down, though there are no records', async () => {
    const before = await grants(winner);
    assert.ok(before[0]?.since);
    await bed.restartOperator();
    await untilTaken(loser);
    assert.deepEqual([await grants(winner), await grants(loser)], [before, []]);
    await cordon(false);
    await untilQuiescent(bed, winner);
    await untilPublished(`${winner}-external`, [`0.${SUBDOMAIN}`, `bootstrap.${SUBDOMAIN}`]);
    await untilTaken(loser);
    assert.deepEqual(await records(loser), []);
  });

  test('the other one gets names by the pattern that was proposed', async () => {
    await bed.apply(panda(loser, { hostPattern: '$(id).$(cluster).$(subdomain)' }));
    await untilGranted(loser, `$(id).${loser}.${SUBDOMAIN}`);
    await untilPublished(`${loser}-external`, [`0.${loser}.${SUBDOMAIN}`, `bootstrap.${loser}.${SUBDOMAIN}`]);
    await untilQuiescent(bed, loser);
  });

  test('names that are on the StatefulSet alone, as in former times, are taken over, and nobody is restarted', async () => {
    const before = await Promise.all([winner, loser].map((name) => podUids(bed, name, 1)));
    const name = { namespace: 'default', name: winner };
    const former = async () => {
      const names = JSON.stringify({ broker: `$(id).${SUBDOMAIN}`, bootstrap: `bootstrap.${SUBDOMAIN}` });
      const annotations = { 'isthmus.dev/host-names': names };
      await bed.client.mergePatch(STATEFUL_SET, name, { metadata: { annotations } });
      await bed.client.mergePatch(ANCHOR, name, { spec: { names: null } });
      await bed.apply(panda(loser));
    };
    await bed.restartOperator({}, former);
    await untilGranted(winner, `$(id).${SUBDOMAIN}`);
    assert.ok((await grants(winner))[0]?.since);
    await untilTaken(loser);
    await untilGranted(loser, `$(id).${loser}.${SUBDOMAIN}`);
    assert.deepEqual(await Promise.all([winner, loser].map((one) => podUids(bed, one, 1))), before);
    assert.deepEqual(await records(winner), [`0.${SUBDOMAIN}`, `bootstrap.${SUBDOMAIN}`]);
  });

  test('who is gone has no names: the other one gets them', async () => {
    await remove('clusters.redpanda.vectorized.io', winner);
    await untilGranted(loser, `$(id).${SUBDOMAIN}`);
    await untilPublished(`${loser}-external`, [`0.${SUBDOMAIN}`, `bootstrap.${SUBDOMAIN}`]);
    await remove('clusters.redpanda.vectorized.io', loser);
  });

  test('a Kafka and a Redpanda cluster that are applied together: one has the names, and keeps them when the other is told so', async () => {
    await cordon(true);
    const listeners = [
      { name: 'plain', port: 9092, type: 'internal', tls: false },
      { name: 'ext', port: 9094, type: 'hostport', tls: true, configuration: { subdomain: SHARED } },
    ];
    await bed.apply(kafka('events', { listeners }), nodePool('events', 'dual'), panda('red', { subdomain: SHARED })); // prettier-ignore
    const held = async () => ({
      kafka: await grants('events', 'KafkaAnchor'),
      redpanda: await grants('red'),
    });
    const hasOne = async () => Object.values(await held()).flat().length > 0;
    await waitFor('one of them has names', hasOne, PATIENCE);
    const isKafkas = (await held()).kafka.length > 0;
    const untilRefused = () =>
      isKafkas
        ? untilTaken('red')
        : waitFor('HostNameTaken', async () => (await bed.condition('events', 'Ready'))?.reason === 'HostNameTaken', PATIENCE); // prettier-ignore
    await untilRefused();
    const only = await held();
    assert.equal(Object.values(only).flat().length, 1, JSON.stringify(only));
    await cordon(false);
    const [first, second] = ['events-kafka-ext', 'red-external'].toSorted((a) =>
      (a === 'events-kafka-ext') === isKafkas ? -1 : 1,
    );
    await untilPublished(first!, [`0.${SHARED}`, `bootstrap.${SHARED}`]);
    await untilRefused();
    assert.deepEqual(await published(second!), []);
    if (isKafkas) await remove('kafka', 'events');
    else await remove('clusters.redpanda.vectorized.io', 'red');
    await untilPublished(second!, [`0.${SHARED}`, `bootstrap.${SHARED}`]);
  });
});
