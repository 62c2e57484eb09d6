import assert from 'node:assert/strict';
import { createHash, X509Certificate } from 'node:crypto';
import { describe, test } from 'node:test';
import { createMemoryKafka } from '../../../../test/support/brokers/memory-kafka.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { referenceOf } from '../../../kube/write/apply-decision.ts';
import { kafkaUser } from '../../../resources/strimzi/kafka-user.ts';
import { kafka } from '../../../resources/strimzi/kafka.ts';
import { NOTHING_LEARNED } from '../../kernel/reconcile.ts';
import type { Learned } from '../../kernel/reconcile.ts';
import { read } from '../../kernel/read.ts';
import { clientsAuthority } from './credentials.ts';
import { passwordsFor, signCertificates } from './make.ts';
import { planUsers } from './plan-users.ts';
import type { ObservedUsers, UsersActed } from './plan-users.ts';

const KAFKA: AnyObject = {
  apiVersion: 'kafka.strimzi.io/v1',
  kind: 'Kafka',
  metadata: {
    name: 'events',
    namespace: 'kafka',
    uid: 'uid-kafka',
    annotations: { 'isthmus.dev/managed': 'true' },
  },
  spec: {
    kafka: { listeners: [{ name: 'plain', port: 9092, type: 'internal', tls: false }] },
    entityOperator: { userOperator: {} },
  },
};

const POOL: AnyObject = {
  apiVersion: 'kafka.strimzi.io/v1',
  kind: 'KafkaNodePool',
  metadata: { name: 'dual', namespace: 'kafka', uid: 'uid-pool', labels: { 'strimzi.io/cluster': 'events' } },
  spec: { replicas: 1, roles: ['controller', 'broker'], storage: { type: 'ephemeral' } },
};

const userWith = (authentication: object, rest: object = {}) =>
  read(kafkaUser, {
    apiVersion: 'kafka.strimzi.io/v1',
    kind: 'KafkaUser',
    metadata: { name: 'alice', namespace: 'kafka', uid: 'uid-alice', generation: 1 },
    spec: { authentication, ...rest },
  } as AnyObject).resource!;

const DAY_MS = 24 * 60 * 60 * 1000;

/** A cluster with its authorities, and one user whose Secret is written as it is planned. */
async function userBed(authentication: object, rest: object = {}) {
  const memory = createMemoryKafka();
  memory.put(KAFKA);
  memory.put(POOL);
  await memory.settle();
  const user = userWith(authentication, rest);
  const home = read(kafka, KAFKA).resource!;
  let secret: AnyObject | undefined;
  let acted: UsersActed | undefined;
  const brought = new Map<string, AnyObject>();

  const observe = (): ObservedUsers => ({
    namespace: 'kafka',
    cluster: 'events',
    home,
    users: [{ user, secret }],
    unreadable: [],
    authority: clientsAuthority(
      home,
      (name) => memory.get('Secret', name),
      memory.list('Pod'),
      user.spec.authentication?.type === 'tls' ? [{ name: 'alice', secret }] : [],
      new Date(memory.now),
      undefined,
    ),
    isUnclear: false,
    acted,
  });
  return {
    memory,
    brought,
    get secret() {
      return secret;
    },
    text: (key: string) =>
      Buffer.from(((secret?.['data'] ?? {}) as Record<string, string>)[key] ?? '', 'base64').toString(),
    plan: (learned: Learned<never> = NOTHING_LEARNED) => planUsers(observe(), learned),
    /** `isSeen`: whether the cache has the Secret that is written now. */
    async step({ isSeen = true } = {}) {
      const { targets, actions } = planUsers(observe(), NOTHING_LEARNED);
      const [written] = targets.flatMap(({ objects }) => objects);
      const [{ users, authority }] = actions as [(typeof actions)[number]];
      const now = new Date(memory.now);
      acted = {
        certificates: await signCertificates(users, authority, acted?.certificates ?? new Map(), now),
        passwords: await passwordsFor(users, acted?.passwords ?? new Map(), (_, name) =>
          Promise.resolve(brought.get(name)),
        ),
        given: new Map(),
        states: new Map([['uid-alice', { generation: 1, state: { is: 'judged', faults: [], fields: {} } }]]),
        isBusy: false,
        isReached: true,
      };
      if (written && isSeen) secret = written;
      return written;
    },
  };
}

const digest = (object: AnyObject | undefined) =>
  createHash('sha256').update(JSON.stringify(object?.['data'])).digest('hex');

describe('the Secret of a user', () => {
  test('has a certificate of the clients CA, which is signed again in time and not before', async () => {
    const bed = await userBed({ type: 'tls' });
    await bed.step();
    await bed.step();
    const keys = Object.keys(bed.secret?.['data'] as object).toSorted();
    assert.deepEqual(keys, ['ca.crt', 'user.crt', 'user.key', 'user.p12', 'user.password']);
    const certificate = new X509Certificate(bed.text('user.crt'));
    const authority = new X509Certificate(bed.text('ca.crt'));
    assert.equal(certificate.subject, 'CN=alice');
    assert.ok(certificate.verify(authority.publicKey));
    assert.equal(bed.secret?.metadata.labels?.['isthmus.dev/part'], 'user');
    assert.equal(bed.secret?.metadata.ownerReferences?.[0]?.uid, 'uid-alice');
    const before = digest(bed.secret);
    await bed.step();
    await bed.step();
    assert.equal(digest(bed.secret), before);
    bed.memory.now += 350 * DAY_MS;
    await bed.memory.settle();
    await bed.step();
    await bed.step();
    assert.notEqual(digest(bed.secret), before);
  });

  test('is signed anew by a new key of the clients CA, which the former outlives by the time that clients have', async () => {
    const bed = await userBed({ type: 'tls' });
    const { memory } = bed;
    const bothSteps = async () => {
      await bed.step();
      await bed.step();
      memory.put(bed.secret!);
      await memory.settle();
    };
    const issuer = () => new X509Certificate(bed.text('user.crt')).issuer;
    const trusted = () => {
      const { data } = memory.get('Secret', 'events-trustbundle') as unknown as {
        data: Record<string, string>;
      };
      return Buffer.from(data['clients-ca.crt']!, 'base64').toString().split('BEGIN').length - 1;
    };
    await bothSteps();
    const before = issuer();
    const key = memory.get('Secret', 'events-clients-ca')!;
    memory.put({
      ...key,
      metadata: {
        ...key.metadata,
        annotations: { ...key.metadata.annotations, 'strimzi.io/force-replace': 'true' },
      },
    });
    await memory.settle();
    await bothSteps();
    assert.deepEqual([trusted(), issuer()], [2, before], 'no broker has loaded the new one');
    assert.equal(bed.plan().lookAgainInMs, 10_000);
    // As if brokers had loaded it, and said so.
    const [set] = memory.list('StrimziPodSet') as unknown as { spec: { pods: AnyObject[] } }[];
    for (const pod of memory.list('Pod')) {
      const listed = set!.spec.pods.find(({ metadata }) => metadata.name === pod.metadata.name)!;
      memory.put({ ...pod, metadata: { ...pod.metadata, annotations: listed.metadata.annotations ?? {} } });
    }
    await bothSteps();
    assert.notEqual(issuer(), before);
    assert.equal(bed.plan().lookAgainInMs, 120_000);
    memory.now += 29 * DAY_MS;
    await bothSteps();
    assert.equal(trusted(), 2);
    memory.now += 2 * DAY_MS;
    await bothSteps();
    assert.equal(trusted(), 1);
  });

  test('is not made twice while the cache is behind', async () => {
    for (const type of ['tls', 'scram-sha-512']) {
      const bed = await userBed({ type });
      await bed.step();
      const first = digest(await bed.step({ isSeen: false }));
      assert.equal(digest(await bed.step({ isSeen: false })), first);
      await bed.step();
      await bed.step();
      assert.equal(digest(bed.secret), first);
    }
  });

  test('has a password that was made, and stays', async () => {
    const bed = await userBed({ type: 'scram-sha-512' });
    await bed.step();
    await bed.step();
    const password = bed.text('password');
    assert.ok(password.length >= 24);
    assert.ok(bed.text('sasl.jaas.config').includes(`username="alice" password="${password}"`));
    await bed.step();
    await bed.step();
    assert.equal(bed.text('password'), password);
  });

  test('has the password that the user brings, and says where it is missing', async () => {
    const secretKeyRef = { name: 'mine', key: 'pw' };
    const bed = await userBed({ type: 'scram-sha-512', password: { valueFrom: { secretKeyRef } } });
    await bed.step();
    assert.equal(await bed.step(), undefined);
    const [status] = bed.plan().statuses as unknown as { status: { conditions: { reason: string }[] } }[];
    assert.equal(status?.status.conditions[0]?.reason, 'SecretMissing');
    const data = { pw: Buffer.from('say "hi"').toString('base64') };
    bed.brought.set('mine', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'mine' }, data });
    await bed.step();
    await bed.step();
    assert.equal(bed.text('password'), 'say "hi"');
    assert.ok(bed.text('sasl.jaas.config').includes(String.raw`password="say \"hi\""`));
    assert.ok(!JSON.stringify(bed.plan().statuses).includes('hi'));
  });

  test('lacks a password where the key that the user names is none of the Secret', async () => {
    for (const key of ['constructor', '__proto__', 'toString']) {
      const password = { valueFrom: { secretKeyRef: { name: 'mine', key } } };
      const bed = await userBed({ type: 'scram-sha-512', password });
      bed.brought.set('mine', { apiVersion: 'v1', kind: 'Secret', metadata: { name: 'mine' }, data: {} });
      await bed.step();
      assert.equal(await bed.step(), undefined, key);
      assert.match(JSON.stringify(bed.plan().statuses), /SecretMissing/);
    }
  });

  test('is not looked for under a name that no Secret can have', async () => {
    for (const name of ['..', 'a/b', 'A', 'x'.repeat(254), 7]) {
      const password = { valueFrom: { secretKeyRef: { name, key: 'pw' } } };
      const bed = await userBed({ type: 'scram-sha-512', password });
      const data = { pw: Buffer.from('secret').toString('base64') };
      const metadata = { name: String(name) };
      bed.brought.set(String(name), { apiVersion: 'v1', kind: 'Secret', metadata, data });
      await bed.step();
      assert.equal(await bed.step(), undefined, String(name));
    }
  });

  test('of somebody else is left alone', async () => {
    const bed = await userBed({ type: 'scram-sha-512' });
    await bed.step();
    const [object] = bed.plan().targets.flatMap(({ objects }) => objects);
    const { targets, statuses } = bed.plan({ ...NOTHING_LEARNED, taken: new Set([referenceOf(object!)]) });
    assert.deepEqual(
      targets.flatMap(({ objects }) => objects),
      [],
    );
    assert.match(JSON.stringify(statuses), /NameTaken/);
  });
});

test('fields of a user that nothing comes of are named, and it is ready all the same', async () => {
  const readyOf = async (authentication: object, rest: object) => {
    const bed = await userBed({ type: 'scram-sha-512', ...authentication }, rest);
    await bed.step();
    await bed.step();
    const [first] = bed.plan().statuses as unknown as { status: { conditions: Record<string, string>[] } }[];
    const { status, reason, message } = first!.status.conditions[0]!;
    return [status, reason, message];
  };
  assert.deepEqual(await readyOf({}, {}), ['True', 'Ready', '']);
  const template = { secret: { metadata: { labels: { team: 'a' } } } };
  const [status, reason, message] = await readyOf({ chain: 'x' }, { template });
  assert.deepEqual([status, reason], ['True', 'ConfigIgnored']);
  assert.match(
    message!,
    /spec\.template is not used: the Secret of a user has no labels.*spec\.authentication\.chain is not used: remove it/,
  );
});
