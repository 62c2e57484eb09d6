/** KafkaTopics and KafkaUsers of a cluster that the operator runs, as real Kafka takes them. */
import assert from 'node:assert/strict';
import { after, before, describe, test } from 'node:test';
import type { Admin } from '../../../src/kafka/admin/admin.ts';
import { required } from '../../../src/kafka/admin/answer.ts';
import { isFault, readCertificates, readPrivateKey } from '../../../src/pki/certificate-facts.ts';
import { issueLeaf } from '../../../src/pki/certificate.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { PATIENCE, annotated, startBed } from './fixture.ts';
import type { Bed } from './fixture.ts';
import {
  SHOP,
  asOperator,
  entity,
  javaTool,
  mayAll,
  mounted,
  untilReason,
  withCertificate,
  withPassword,
} from './shop.ts';

describe('topics and users of a Kafka cluster', () => {
  let bed: Bed;
  before(async () => {
    bed = await startBed({ nodes: ['a', 'b'].map((name) => ({ name })) });
  });
  after(() => bed?.[Symbol.asyncDispose]());

  const until = (kind: string, name: string, reason?: string) => untilReason(bed, kind, name, reason);
  const secret = (name: string, key: string) => bed.secret(name, key);
  const orders = async (admin: Admin) => {
    for await (const { value = [] } of admin.topics({ names: ['orders'] }))
      for (const topic of value) return topic;
    return undefined;
  };

  test('come with the cluster', async () => {
    await bed.apply(
      ...SHOP,
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

  test('what is done for them in Kafka is told of by events', async () => {
    const type = { group: 'events.k8s.io', version: 'v1', kind: 'Event' };
    const told = async () => {
      const { items } = await bed.client.list(type, { namespace: 'default' });
      const events = items as unknown as { regarding: { kind: string; name: string }; reason: string }[];
      return new Set(events.map(({ regarding, reason }) => `${regarding.kind} ${regarding.name}: ${reason}`));
    };
    const expected = ['KafkaTopic orders: TopicCreated', 'KafkaUser alice: PasswordSet', 'KafkaUser alice: AclsAdded', 'KafkaUser alice: QuotasChanged']; // prettier-ignore
    const areTold = async () => {
      const seen = await told();
      return expected.every((one) => seen.has(one));
    };
    await waitFor('events of what was done', areTold, PATIENCE);
  });

  test('a user logs in with what its Secret has, and may do what its ACLs say', async () => {
    const alice = await withPassword(bed, 'alice');
    try {
      assert.equal((await orders(alice))?.partitions.length, 2);
      const [result] = await alice.createTopics([{ name: 'elsewhere', partitions: 1, replicationFactor: 1 }]);
      assert.equal(result?.error?.name, 'TOPIC_AUTHORIZATION_FAILED');
    } finally {
      alice.close();
    }
    const identity = { cert: await secret('bob', 'user.crt'), key: await secret('bob', 'user.key') };
    const bob = await withCertificate(bed, identity);
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
      'ssl.truststore.location': await mounted(bed, 'shop-cluster-ca-cert', 'ca.p12'),
      'ssl.truststore.password': await secret('shop-cluster-ca-cert', 'ca.password'),
      'ssl.keystore.location': await mounted(bed, 'bob', 'user.p12'),
      'ssl.keystore.password': await secret('bob', 'user.password'),
      'request.timeout.ms': 120_000,
      retries: 1000,
    };
    const written = await javaTool(bed, 'kafka-console-producer', { port: 9093, properties: bob, args: ['--topic', 'orders'], stdin: 'one\ntwo\n' }); // prettier-ignore
    assert.deepEqual([written.code, written.stderr.includes(' ERROR ')], [0, false], written.stderr);
    const alice = {
      'security.protocol': 'SASL_PLAINTEXT',
      'sasl.mechanism': 'SCRAM-SHA-512',
      'sasl.jaas.config': await secret('alice', 'sasl.jaas.config'),
    };
    const { stdout, stderr } = await javaTool(bed, 'kafka-get-offsets', { port: 9094, properties: alice, args: ['--topic', 'orders'] }); // prettier-ignore
    const ends = stdout
      .trim()
      .split('\n')
      .map((line) => Number(line.split(':')[2]));
    assert.equal(ends[0]! + ends[1]!, 2, stdout + stderr);
    const guess = alice['sasl.jaas.config'].replace(/password=".*"/, 'password="guess"');
    const mallory = { ...alice, 'sasl.jaas.config': guess };
    const refused = await javaTool(bed, 'kafka-get-offsets', { port: 9094, properties: mallory, args: ['--topic', 'orders'] }); // prettier-ignore
    assert.match(refused.stderr, /SaslAuthenticationException/);
  });

  test('a password of the user’s own is Kafka’s, and so is the next one', async () => {
    const own = (password: string) => ({
      apiVersion: 'v1',
      kind: 'Secret',
      metadata: { name: 'brought', namespace: 'default' },
      stringData: { word: password },
    });
    const valueFrom = { secretKeyRef: { name: 'brought', key: 'word' } };
    const carol = entity('KafkaUser', 'carol', {
      authentication: { type: 'scram-sha-512', password: { valueFrom } },
      authorization: mayAll('orders'),
    });
    await bed.apply(carol);
    await until('KafkaUser', 'carol', 'SecretMissing');
    const isTaken = async (password: string) => {
      const admin = await withPassword(bed, 'carol', password);
      return orders(admin)
        .then(
          (topic) => topic?.partitions.length === 2,
          () => false,
        ) // prettier-ignore
        .finally(() => admin.close());
    };
    for (const password of ['the first of her own', 'the second, with = and "']) {
      await bed.apply(own(password));
      // A Secret that only a user names is looked at when the user is.
      await bed.apply(annotated(carol, { 'example.com/looked-at': String(password.length) }));
      await waitFor('Kafka takes it', () => isTaken(password), PATIENCE);
      await until('KafkaUser', 'carol');
      assert.equal(await secret('carol', 'password'), password);
    }
    assert.equal(await isTaken('the first of her own'), false);
  });

  test('a user brings a certificate, and no Secret is made for it', async () => {
    await bed.apply(
      entity('KafkaUser', 'dave', { authentication: { type: 'tls-external' }, authorization: mayAll('orders') }), // prettier-ignore
    );
    const { username, secret: made } = await until('KafkaUser', 'dave');
    assert.deepEqual([username, made], ['CN=dave', undefined]);
    assert.equal(await bed.get('Secret', 'dave'), undefined);
    // The authority is asked as its owner would, with its key.
    const certificates = readCertificates(await secret('shop-clients-ca-cert', 'ca.crt'));
    const key = readPrivateKey(await secret('shop-clients-ca', 'ca.key'));
    assert.ok(!isFault(certificates) && !isFault(key));
    const issue = (commonName: string) =>
      issueLeaf(
        { certificate: certificates[0]!, key },
        { subject: { commonName }, names: [], now: new Date(), validityMs: 3_600_000 },
      );
    for (const [name, partitions] of [
      ['dave', 2],
      ['mallory', undefined],
    ] as const) {
      // prettier-ignore
      const { chain, key: own } = await issue(name);
      const admin = await withCertificate(bed, { cert: chain, key: own });
      try {
        const topic = await orders(admin);
        assert.equal(topic?.error === undefined ? topic?.partitions.length : undefined, partitions, name);
      } finally {
        admin.close();
      }
    }
  });

  test('quotas and racks are as Kafka itself tells them', async () => {
    const admin = await asOperator(bed);
    try {
      const quotaOf = async (user: string) =>
        required(await admin.quotas({ user: { name: user } })).map(({ values }) => values);
      assert.deepEqual(await quotaOf('alice'), [{ producer_byte_rate: 1_000_000 }]);
      const quotas = { consumerByteRate: 2_000_000, requestPercentage: 55, controllerMutationRate: 10 };
      await bed.apply(entity('KafkaUser', 'bob', { authentication: { type: 'tls' }, quotas }));
      await until('KafkaUser', 'bob');
      // prettier-ignore
      assert.deepEqual(await quotaOf('CN=bob'), [
        { consumer_byte_rate: 2_000_000, request_percentage: 55, controller_mutation_rate: 10 },
      ]);
      await bed.apply(entity('KafkaUser', 'bob', { authentication: { type: 'tls' } }));
      await until('KafkaUser', 'bob');
      assert.deepEqual(await quotaOf('CN=bob'), [], 'what the resource no longer names goes');
      const { nodes } = required(await admin.cluster());
      assert.deepEqual(nodes.toSorted((a, b) => a.id - b.id).map(({ rack }) => rack), ['left', 'right']); // prettier-ignore
    } finally {
      admin.close();
    }
  });

  test('a topic grows, changes its configuration and its number of replicas', async () => {
    const alice = await withPassword(bed, 'alice');
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
    const alice = await withPassword(bed, 'alice');
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
        const again = await withPassword(bed, 'alice', password);
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
