import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { IsthmusError } from '../../ops/errors.ts';
import type { KafkaClient } from '../client.ts';
import type { Connections } from './connections.ts';
import { createSend } from './routing.ts';
import type { RoutingOptions } from './routing.ts';

/**
 * Nodes that do as a test says, because a real one loses answers when it likes to; test/integration/kafka has real ones.
 * Node n is at port n.
 */
type Node = (api: string) => object | 'refuses' | 'loses the answer' | 'lacks the API';

function cluster(nodes: Record<number, Node>, options: Partial<RoutingOptions> = {}) {
  const asked: string[] = [];
  const connections: Connections = {
    async use({ port }, work) {
      const node = nodes[port];
      if (!node || node('connect') === 'refuses') throw new IsthmusError('KAFKA_UNREACHABLE', `${port}`);
      const request = async (api: string) => {
        asked.push(`${api} ${port}`);
        const answer = node(api);
        if (answer === 'loses the answer') throw new IsthmusError('KAFKA_UNREACHABLE', `${port} lost`);
        return answer;
      };
      const versionOf = (api: string) => (node(api) === 'lacks the API' ? undefined : 1);
      return work({ request, versionOf } as unknown as KafkaClient);
    },
    close() {},
  };
  const send = createSend(connections, {
    bootstrap: [1, 2].map((port) => ({ host: 'h', port })),
    endpoints: 'brokers',
    addressOf: (_id, host, port) => ({ host, port }),
    callTimeoutMs: 60_000,
    ...options,
  });
  return { send, asked };
}

const fine = { errorCode: 0 };
const knowing = (controllerId: number, ...ids: number[]) => ({
  errorCode: 0,
  controllerId,
  brokers: ids.map((brokerId) => ({ brokerId, host: 'h', port: brokerId })),
});

suite('routing', () => {
  test('a node that cannot be reached is passed over, and the one that answered is asked first', async () => {
    const { send, asked } = cluster({ 2: () => fine });
    await send('CreateTopics', {});
    await send('CreateTopics', {});
    assert.deepEqual(asked, ['CreateTopics 2', 'CreateTopics 2']);
  });

  test('a question whose answer is lost is asked elsewhere; a change is not made twice', async () => {
    const { send, asked } = cluster({ 1: () => 'loses the answer', 2: () => fine });
    await send('ListPartitionReassignments', {});
    assert.deepEqual(asked, ['ListPartitionReassignments 1', 'ListPartitionReassignments 2']);
    const other = cluster({ 1: () => 'loses the answer', 2: () => fine });
    await assert.rejects(other.send('CreateTopics', {}), /1 lost/);
    assert.deepEqual(other.asked, ['CreateTopics 1']);
  });

  test('each request that is sent is told of, also one that is asked again or only finds nodes', async () => {
    const told: string[] = [];
    const options = { onRequest: (api: string) => void told.push(api) };
    const lossy = cluster({ 1: () => 'loses the answer', 2: () => fine }, options);
    await lossy.send('ListPartitionReassignments', {});
    const knows = cluster({ 1: () => knowing(1, 5), 5: () => fine }, options);
    await knows.send('DescribeLogDirs', {}, { node: 5 });
    await cluster({ 1: () => 'lacks the API' }, options).send('DescribeQuorum', {});
    assert.deepEqual(told, [
      'ListPartitionReassignments',
      'ListPartitionReassignments',
      'DescribeCluster',
      'DescribeLogDirs',
    ]);
  });

  test('an API that a node lacks is an error code', async () => {
    const { send } = cluster({ 1: () => 'lacks the API' });
    assert.equal((await send('DescribeQuorum', {})).error?.name, 'UNSUPPORTED_VERSION');
  });

  test('a given node is looked up, and looked up again when it is gone from where it was', async () => {
    let at = 7;
    const nodes: Record<number, Node> = {
      1: () => ({ errorCode: 0, brokers: [{ brokerId: 5, host: 'h', port: at }] }),
      7: () => fine,
    };
    const { send, asked } = cluster(nodes);
    await send('DescribeLogDirs', {}, { node: 5 });
    at = 8;
    nodes[8] = () => fine;
    delete nodes[7];
    await send('DescribeLogDirs', {}, { node: 5 });
    assert.deepEqual(asked, [
      'DescribeCluster 1',
      'DescribeLogDirs 7',
      'DescribeCluster 1',
      'DescribeLogDirs 8',
    ]);
    assert.equal((await send('DescribeLogDirs', {}, { node: 9 })).error?.name, 'BROKER_NOT_AVAILABLE');
  });

  test('a node is never connected to where only itself says that it is', async () => {
    const nodes: Record<number, Node> = { 1: () => knowing(1, 1, 6), 6: () => fine };
    const { send, asked } = cluster(nodes, {
      addressOf: (id, host) => (id === 6 ? undefined : { host, port: id }),
    });
    assert.equal((await send('DescribeLogDirs', {}, { node: 6 })).error?.name, 'BROKER_NOT_AVAILABLE');
    assert.deepEqual(asked, ['DescribeCluster 1']);
  });

  test('the coordinator of a group is found', async () => {
    const coordinators = [{ key: 'g', nodeId: 2, errorCode: 0 }];
    const one: Node = (api) => (api === 'FindCoordinator' ? { coordinators } : knowing(1, 1, 2));
    const { send, asked } = cluster({ 1: one, 2: () => fine });
    await send('DescribeGroups', {}, { group: 'g' });
    assert.deepEqual(asked, ['FindCoordinator 1', 'DescribeCluster 1', 'DescribeGroups 2']);
    const lost: Node = () => ({ coordinators: [{ key: 'g', nodeId: -1, errorCode: 15 }] });
    const none = await cluster({ 1: lost }).send('DescribeGroups', {}, { group: 'g' });
    assert.equal(none.error?.name, 'COORDINATOR_NOT_AVAILABLE');
  });

  test('of controllers, the one that leads is asked; one that does not lead has done nothing', async () => {
    let leader = 3;
    const controller =
      (id: number): Node =>
      (api) => {
        if (api === 'DescribeCluster') return knowing(leader, 1, 2, 3);
        return { topics: [{ name: 't', errorCode: id === leader ? 0 : 41 }] };
      };
    const nodes = { 1: controller(1), 2: controller(2), 3: controller(3) };
    const { send, asked } = cluster(nodes, { endpoints: 'controllers' });
    const { value } = await send('CreateTopics', {});
    assert.equal(value?.topics[0]?.errorCode, 0);
    assert.deepEqual(asked, ['CreateTopics 1', 'DescribeCluster 1', 'CreateTopics 3']);
    leader = 2;
    await send('CreateTopics', {});
    assert.deepEqual(asked.slice(3), ['CreateTopics 3', 'DescribeCluster 3', 'CreateTopics 2']);
  });

  test('an election that does not end is answered as it is', async () => {
    const undecided: Node = (api) => (api === 'DescribeCluster' ? knowing(-1, 1) : { errorCode: 41 });
    const { send } = cluster({ 1: undecided }, { endpoints: 'controllers', callTimeoutMs: 100 });
    assert.equal((await send('UnregisterBroker', { brokerId: 1 })).value?.errorCode, 41);
    const alone: Node = (api) => (api === 'DescribeCluster' ? 'loses the answer' : { errorCode: 41 });
    const other = cluster({ 1: alone }, { endpoints: 'controllers' });
    assert.equal((await other.send('UnregisterBroker', { brokerId: 1 })).value?.errorCode, 41);
  });
});
