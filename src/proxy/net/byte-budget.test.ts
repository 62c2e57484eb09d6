import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import fc from 'fast-check';
import { MemoryAccount, ProcessBudget, ROOM_WAIT_MS } from './byte-budget.ts';

const LIMITS = {
  maxBufferedBytes: 100,
  maxBufferedBytesPerVirtualCluster: 75,
  maxBufferedBytesPerConnection: 50,
};

function budget() {
  const process = new ProcessBudget();
  const woken: string[] = [];
  const clusters = new Map<
    string,
    { process: ProcessBudget; used: { value: number }; waits: { value: number } }
  >();
  const open = (cluster: string, name = cluster) => {
    const own = clusters.get(cluster) ?? { process, used: { value: 0 }, waits: { value: 0 } };
    clusters.set(cluster, own);
    return new MemoryAccount(own, LIMITS, () => void woken.push(name));
  };
  return { process, woken, clusters, open };
}

test('a connection, a virtual cluster and the process each have a limit', () => {
  const { process, clusters, open } = budget();
  const [one, two, neighbour] = [open('a'), open('a'), open('b')];
  assert.equal(one.most, 50);
  assert.ok(one.take(50));
  assert.ok(!one.take(1), 'more than a connection may have');
  assert.ok(!two.take(26), 'more than the virtual cluster may have');
  assert.ok(two.take(25));
  assert.ok(!neighbour.take(26), 'more than the process may have');
  assert.ok(neighbour.take(25), 'a tenant never has so much that nothing is left to another');
  assert.equal(process.used, 100);
  assert.equal(clusters.get('a')!.waits.value, 2);
});

test('whoever waits is told, in order, when something has become free', async () => {
  const { woken, open } = budget();
  const [one, second, third] = [open('a', 'one'), open('b', 'second'), open('c', 'third')];
  one.charge(100);
  assert.ok(!second.take(10) && !third.take(10) && !second.take(10));
  one.give(50);
  one.give(50);
  assert.deepEqual(woken, [], 'not within the work that frees it');
  await turn();
  assert.deepEqual(woken, ['second', 'third']);
  third.close();
});

test('a connection that waits too long is overdue; one that has got what it wanted is not', () => {
  const { open } = budget();
  const [one, waiting] = [open('a'), open('b')];
  one.charge(100);
  waiting.take(10);
  const late = performance.now() + ROOM_WAIT_MS + 1;
  assert.ok(!waiting.isOverdue(performance.now()) && waiting.isOverdue(late));
  one.close();
  assert.ok(waiting.take(10) && !waiting.isOverdue(late));
});

test('whatever is done, a closed connection holds nothing', () => {
  const step = fc.tuple(fc.nat(2), fc.constantFrom('take', 'charge', 'give', 'close'), fc.nat(60));
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
      const { process, clusters, open } = budget();
      const accounts = [open('a'), open('a'), open('b')];
      for (const [i, what, bytes] of steps) {
        const account = accounts[i]!;
        if (what === 'give') account.give(Math.min(bytes, account.held));
        else if (what === 'close') account.close();
        else account[what](bytes);
        assert.equal(
          process.used,
          accounts.reduce((sum, { held }) => sum + held, 0),
        );
      }
      for (const account of accounts) account.close();
      assert.deepEqual(
        [process.used, clusters.get('a')!.used.value, clusters.get('b')!.used.value],
        [0, 0, 0],
      );
    }),
  );
});
