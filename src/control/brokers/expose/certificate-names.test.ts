/** Certificates of brokers whose clients are told the address of a node. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { clusterWith, exposed, namesIn } from '../../../../test/support/brokers/exposed-kafka.ts';
import type { MemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import { clusterWith as modelWith, poolWith } from '../../../../test/support/brokers/models.ts';
import { exposedNames } from './certificate-names.ts';

const POD = 'events-dual-1';
const versionOf = (memory: MemoryKafka) => memory.get('Secret', POD)!.metadata.resourceVersion;

suite('certificates with the address of a node', () => {
  test('stay as they are while the pod is away, and while nobody has said where the next one is', async () => {
    const memory = await clusterWith(exposed());
    const { placeOf } = memory;
    const signed = versionOf(memory);
    memory.keepsPods = false;
    memory.delete('Pod', POD);
    await memory.settle();
    assert.match(namesIn(memory, POD), /IP Address:192\.0\.2\.1(,|$)/, 'the pod is away');
    memory.placeOf = (pod) => (pod === POD ? undefined : placeOf(pod));
    memory.keepsPods = true;
    await memory.settle();
    assert.ok(memory.get('Pod', POD), 'there is a pod again');
    assert.equal(versionOf(memory), signed, 'nobody knows where it is');
    memory.placeOf = placeOf;
    await memory.step();
    await memory.settle();
    assert.equal(versionOf(memory), signed, 'it is back where it was');
  });

  test('of one that has moved is signed once, with where it is and without where it was', async () => {
    const memory = await clusterWith(exposed());
    const { placeOf } = memory;
    memory.placeOf = (pod) =>
      pod === POD
        ? { node: 'node-9', addresses: [{ type: 'ExternalIP', address: '192.0.2.9' }] }
        : placeOf(pod);
    memory.delete('Pod', POD);
    const seen = new Set([versionOf(memory)]);
    for (let step = 0; step < 10; step++) {
      await memory.step();
      seen.add(versionOf(memory));
    }
    assert.match(namesIn(memory, POD), /IP Address:192\.0\.2\.9(,|$)/);
    assert.doesNotMatch(namesIn(memory, POD), /192\.0\.2\.1(,|$)/);
    assert.equal(seen.size, 2, 'signed once');
  });
});

test('names that clients use are in the certificates of brokers, and only for listeners with TLS', () => {
  const listener = (name: string, tls: boolean, alternativeNames: string[]) => ({
    ...modelWith({}).listeners[0]!,
    name,
    tls,
    alternativeNames,
  });
  const cluster = modelWith({
    pools: [poolWith('b', [0], ['broker']), poolWith('c', [1], ['controller'])],
    listeners: [listener('tls', true, ['kafka.example.com', '192.0.2.1']), listener('plain', false, ['no'])],
  });
  assert.deepEqual(exposedNames(cluster, 'events-b-0', {}, []), ['kafka.example.com', '192.0.2.1']);
  assert.deepEqual(exposedNames(cluster, 'events-c-1', {}, []), []);
});
