import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { KafkaClient } from '../client.ts';
import { openConnections } from './connections.ts';
import type { Address } from './connections.ts';

/** Connections that are only counted: the real ones are tested in test/integration/kafka. */
function counting() {
  const open = new Map<number, { lose(): void }>();
  let most = 0;
  let made = 0;
  const connect = async ({ port }: Address): Promise<KafkaClient> => {
    if (port === 0) throw new Error('refused');
    let isOpen = true;
    const close = () => {
      isOpen = false;
      open.delete(port);
    };
    open.set(port, { lose: close });
    made++;
    most = Math.max(most, open.size);
    return { isOpen: () => isOpen, close } as unknown as KafkaClient;
  };
  return { connect, open, made: () => made, most: () => most };
}

const at = (port: number) => ({ host: 'h', port });
const nothing = () => Promise.resolve();

suite('connections', () => {
  test('one an address, however many use it', async () => {
    const { connect, made } = counting();
    const connections = openConnections(connect, 3);
    await Promise.all([1, 1, 1, 2].map((port) => connections.use(at(port), nothing)));
    await connections.use(at(1), nothing);
    assert.equal(made(), 2);
  });

  test('the one that was idle for longest gives way', async () => {
    const { connect, open } = counting();
    const connections = openConnections(connect, 2);
    for (const port of [1, 2, 1, 3]) await connections.use(at(port), nothing);
    assert.deepEqual([...open.keys()], [1, 3]);
  });

  test('never more than allowed; who finds all of them busy waits', async () => {
    const { connect, most } = counting();
    const connections = openConnections(connect, 2);
    const served: number[] = [];
    const work = (port: number) => async () => {
      await new Promise((resolve) => setImmediate(resolve));
      served.push(port);
    };
    await Promise.all([1, 2, 3, 4, 5, 1].map((port) => connections.use(at(port), work(port))));
    assert.deepEqual(
      served.toSorted((a, b) => a - b),
      [1, 1, 2, 3, 4, 5],
    );
    assert.equal(most(), 2);
  });

  test('a lost one is made again, and a failed attempt is not remembered', async () => {
    const { connect, open, made } = counting();
    const connections = openConnections(connect, 1);
    await connections.use(at(1), nothing);
    open.get(1)!.lose();
    await connections.use(at(1), nothing);
    assert.equal(made(), 2);
    await assert.rejects(connections.use(at(0), nothing), /refused/);
    await connections.use(at(2), nothing);
    assert.deepEqual([...open.keys()], [2]);
  });

  test('all are closed, also those that somebody waits for', async () => {
    const { connect, open } = counting();
    const connections = openConnections(connect, 1);
    const hold = Promise.withResolvers<void>();
    const first = connections.use(at(1), () => hold.promise);
    const second = connections.use(at(2), nothing);
    await new Promise((resolve) => setImmediate(resolve));
    connections.close();
    await assert.rejects(second, /was closed/);
    hold.resolve();
    await first;
    assert.equal(open.size, 0);
    await assert.rejects(connections.use(at(1), nothing), /was closed/);
  });
});
