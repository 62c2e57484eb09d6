/** KafkaTopics and KafkaUsers of a cluster that the operator runs, as real Kafka takes them. */
import assert from 'node:assert/strict';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, describe, test } from 'node:test';
import { openAdmin } from '../../../src/kafka/admin/admin.ts';
import type { Admin, AdminOptions } from '../../../src/kafka/admin/admin.ts';
import type { Properties } from '../../../src/store/embedded/kafka-storage.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { javaConfig } from '../../support/clients/java.ts';
import { kafkaTool } from '../../support/kafka/tools.ts';
import type { KafkaTool } from '../../support/kafka/tools.ts';
import { workspace } from '../../support/workspace.ts';
import { PATIENCE, entity as entityOf, kafka, nodePool, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';

const LISTENERS = [
  { name: 'tls', port: 9093, type: 'internal', tls: true, authentication: { type: 'tls' } },
  { name: 'scram', port: 9094, type: 'internal', tls: false, authentication: { type: 'scram-sha-512' } },
];

const entity = (kind: string, name: string, spec: object) => entityOf(kind, name, 'shop', spec);

const mayAll = (name: string) => ({
  type: 'simple',
  acls: [{ resource: { type: 'topic', name, patternType: 'prefix' }, operations: ['All'] }],
});

const ADDRESS_OF: AdminOptions['addressOf'] = () => undefined;

describe('topics and users of a Kafka cluster', () => {
  let bed: Bed;
  before(async () => {
    bed = await startBed({ nodes: ['a', 'b'].map((name) => ({ name, zone: `zone-${name}` })) });
  });
  after(() => bed?.[Symbol.asyncDispose]());

  const readyOf = async (kind: string, name: string) => {
    const found = await bed.get(kind, name);
    const status = (found?.['status'] ?? {}) as {
      observedGeneration?: number;
      topicId?: string;
      username?: string;
      conditions?: { type: string; status: string; reason: string }[];
    };
    const isCurrent = found !== undefined && status.observedGeneration === found.metadata.generation;
    return isCurrent
      ? { ...status, ready: status.conditions?.find(({ type }) => type === 'Ready') }
      : undefined;
  };
  const until = (kind: string, name: string, reason = 'Ready') =>
    waitFor(
      `${kind} ${name} is ${reason}`,
      async () => {
        const status = await readyOf(kind, name);
        return status?.ready?.reason === reason ? status : undefined;
      },
      PATIENCE,
    );
  const secret = (name: string, key: string) => bed.secret(name, key);
  /** A file with what a key of a Secret holds, as a pod would mount it. */
  const mounted = async (name: string, key: string) => {
    const file = join(workspace('secret'), key);
    await writeFile(file, await bed.secretBytes(name, key), { mode: 0o600 });
    return file;
  };
  /** What one of Kafka's own tools says to a user with these properties. */
  const javaTool = async (
    tool: KafkaTool,
    port: number,
    properties: Properties,
    args: string[],
    stdin?: string,
  ) => {
    const config = await javaConfig(properties);
    const at = ['--bootstrap-server', `shop-kafka-bootstrap.default.svc:${port}`, '--command-config', config];
    const options = { stdin, hostsFile: bed.runner.hostsFile, timeoutMs: 300_000 };
    return kafkaTool(tool, [...at, ...args], options);
  };
  const connect = async (port: number, options: Partial<AdminOptions>): Promise<Admin> => {
    const { status } = (await bed.get('Pod', 'shop-dual-0')) as unknown as { status: { podIP: string } };
    const servername = 'shop-kafka-bootstrap.default.svc';
    // The other broker is at an address that only pods resolve.
    return openAdmin({
      bootstrap: [{ host: status.podIP, port, servername }],
      addressOf: ADDRESS_OF,
      ...options,
    });
  };
  const withPassword = async (username: string) => {
    const password = await secret(username, 'password');
    return connect(9094, { sasl: { mechanism: 'SCRAM-SHA-512', username, password } });
  };
  const orders = async (admin: Admin) => {
    for await (const { value = [] } of admin.topics({ names: ['orders'] }))
      for (const topic of value) return topic;
    return undefined;
  };

  test('come with the cluster', async () => {
    await bed.apply(
      kafka(
        'shop',
        { listeners: LISTENERS, authorization: { type: 'simple' } },
        { entityOperator: { topicOperator: {}, userOperator: {} } },
      ),
      nodePool('shop', 'dual'),
      nodePool('shop', 'more', { roles: ['broker'] }),
      entity('KafkaTopic', 'orders', { partitions: 2, replicas: 1, config: { 'retention.ms': 3_600_000 } }),
      entity('KafkaUser', 'alice', {
        authentication: { type: 'scram-sha-512' },
        authorization: mayAll('orders'),
        quotas: { producerByteRate: 1_000_000 },
      }),
      entity('KafkaUser', 'bob', { authentication: { type: 'tls' }, authorization: mayAll('orders') }),
    );
    await bed.untilReady('shop');
    assert.ok((await until('KafkaTopic', 'orders')).topicId);
    assert.equal((await until('KafkaUser', 'alice')).username, 'alice');
    assert.equal((await until('KafkaUser', 'bob')).username, 'CN=bob');
  });

  test('a user logs in with what its Secret has, and may do what its ACLs say', async () => {
    const alice = await withPassword('alice');
    try {
      assert.equal((await orders(alice))?.partitions.length, 2);
      const [result] = await alice.createTopics([{ name: 'elsewhere', partitions: 1, replicationFactor: 1 }]);
      assert.equal(result?.error?.name, 'TOPIC_AUTHORIZATION_FAILED');
    } finally {
      alice.close();
    }
    const bob = await connect(9093, {
      tls: {
        ca: await secret('shop-cluster-ca-cert', 'ca.crt'),
        cert: await secret('bob', 'user.crt'),
        key: await secret('bob', 'user.key'),
      },
    });
    try {
      assert.equal((await orders(bob))?.partitions.length, 2);
    } finally {
      bob.close();
    }
  });

  test('Java programs log in with the files of Secrets as they are', async () => {
    const bob = {
      'security.protocol': 'SSL',
      'ssl.truststore.type': 'PKCS12',
      'ssl.keystore.type': 'PKCS12',
      'ssl.truststore.location': await mounted('shop-cluster-ca-cert', 'ca.p12'),
      'ssl.truststore.password': await secret('shop-cluster-ca-cert', 'ca.password'),
      'ssl.keystore.location': await mounted('bob', 'user.p12'),
      'ssl.keystore.password': await secret('bob', 'user.password'),
      'request.timeout.ms': 120_000,
      retries: 1000,
    };
    const written = await javaTool('kafka-console-producer', 9093, bob, ['--topic', 'orders'], 'one\ntwo\n');
    assert.deepEqual([written.code, written.stderr.includes(' ERROR ')], [0, false], written.stderr);
    const alice = {
      'security.protocol': 'SASL_PLAINTEXT',
      'sasl.mechanism': 'SCRAM-SHA-512',
      'sasl.jaas.config': await secret('alice', 'sasl.jaas.config'),
    };
    const { stdout, stderr } = await javaTool('kafka-get-offsets', 9094, alice, ['--topic', 'orders']);
    const ends = stdout
      .trim()
      .split('\n')
      .map((line) => Number(line.split(':')[2]));
    assert.equal(ends[0]! + ends[1]!, 2, stdout + stderr);
    const guess = alice['sasl.jaas.config'].replace(/password=".*"/, 'password="guess"');
    const mallory = { ...alice, 'sasl.jaas.config': guess };
    const refused = await javaTool('kafka-get-offsets', 9094, mallory, ['--topic', 'orders']);
    assert.match(refused.stderr, /SaslAuthenticationException/);
  });

  test('a topic grows, changes its configuration and its number of replicas', async () => {
    const alice = await withPassword('alice');
    try {
      // Not named by the resource, and so nobody's business.
      const resource = { type: 'topic', name: 'orders' } as const;
      await alice.alterConfigs([
        { resource, changes: [{ name: 'segment.ms', change: 'set', value: '600000' }] },
      ]);
      await bed.apply(
        entity('KafkaTopic', 'orders', {
          partitions: 3,
          replicas: 2,
          config: { 'cleanup.policy': 'compact' },
        }),
      );
      await until('KafkaTopic', 'orders');
      const topic = await waitFor(
        'all partitions have two replicas',
        async () => {
          const found = await orders(alice);
          return found?.partitions.every(({ isr }) => isr.length === 2) ? found : undefined;
        },
        PATIENCE,
      );
      assert.equal(topic.partitions.length, 3);
      const [described] = await alice.configs([resource]);
      const own = Object.entries(described!.configs).filter(([, { source }]) => source === 'topic');
      assert.deepEqual(Object.fromEntries(own.map(([key, { value }]) => [key, value])), {
        'cleanup.policy': 'compact',
        'segment.ms': '600000',
      });
      await bed.apply(
        entity('KafkaTopic', 'orders', {
          partitions: 1,
          replicas: 2,
          config: { 'cleanup.policy': 'compact' },
        }),
      );
      await until('KafkaTopic', 'orders', 'NotSupported');
    } finally {
      alice.close();
    }
  });

  test('what is deleted goes from Kafka, too', async () => {
    const alice = await withPassword('alice');
    const remove = (kind: string, name: string) =>
      bed.client.delete({ group: 'kafka.strimzi.io', version: 'v1', kind }, { namespace: 'default', name });
    const isGone = (kind: string, name: string) =>
      waitFor(`${kind} ${name} is gone`, async () => !(await bed.get(kind, name)) || undefined, PATIENCE);
    try {
      await remove('KafkaTopic', 'orders');
      await isGone('KafkaTopic', 'orders');
      await waitFor(
        'the topic is gone',
        async () => (await orders(alice))?.error?.name === 'UNKNOWN_TOPIC_OR_PARTITION' || undefined,
        PATIENCE,
      );
      const password = await secret('alice', 'password');
      await remove('KafkaUser', 'alice');
      await isGone('KafkaUser', 'alice');
      const isRefused = async () => {
        const again = await connect(9094, {
          sasl: { mechanism: 'SCRAM-SHA-512', username: 'alice', password },
        });
        return orders(again)
          .then(
            () => undefined,
            (error: unknown) => /invalid credentials/.test(String(error)) || undefined,
          )
          .finally(() => again.close());
      };
      await waitFor('nobody logs in as the user any more', isRefused, PATIENCE);
    } finally {
      alice.close();
    }
  });
});
