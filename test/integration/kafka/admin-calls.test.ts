/**
 * Every call of the admin client against three real brokers, over mutual TLS to addresses that are not those which the
 * brokers advertise. Where names stand for numbers on the wire, Kafka's own tools say whether they are the right ones.
 */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { after, before, suite, test } from 'node:test';
import { openAdmin } from '../../../src/kafka/admin/admin.ts';
import type { Admin, AdminOptions } from '../../../src/kafka/admin/admin.ts';
import type { Acl } from '../../../src/kafka/admin/acls.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { startKafka } from '../../support/kafka.ts';
import type { KafkaCluster } from '../../support/kafka.ts';
import { PATIENT, addressesOf, ascending, errorsOf, gather, valueOf } from './admin-site.ts';

/** Nobody listens at the advertised port, and the certificates of the testbed cover the names. */
const listener = {
  name: 'INSIDE',
  protocol: 'SSL',
  advertised: (id: number) => `broker-${id}.kafka.localhost:9`,
  properties: { 'ssl.client.auth': 'required' },
} as const;

suite('admin calls', () => {
  let kafka: KafkaCluster;
  let admin: Admin;
  let options: AdminOptions & { tls: object };

  before(async () => {
    // Small pages, so that some topics need several.
    kafka = await startKafka({
      brokers: 3,
      listeners: [listener],
      properties: {
        'max.request.partition.size.limit': 20,
        'super.users': 'User:ANONYMOUS;User:CN=client',
      },
    });
    const inside = addressesOf(kafka.addresses(listener.name));
    options = {
      ...PATIENT,
      bootstrap: inside.map((address, index) => ({
        ...address,
        servername: `broker-${index + 1}.kafka.localhost`,
      })),
      addressOf: (id) => inside[id - 1],
      tls: {
        ca: readFileSync(kafka.tls.caFile),
        cert: readFileSync(kafka.tls.clientFiles.cert),
        key: readFileSync(kafka.tls.clientFiles.key),
      },
      // Fewer than brokers, so that connections have to be given up and made again.
      maxConnections: 2,
    };
    admin = openAdmin(options);
  });
  after(async () => {
    admin?.close();
    await kafka?.stop();
  });

  const tool = async (name: Parameters<KafkaCluster['tool']>[0], ...args: string[]) => {
    const { code, stdout, stderr } = await kafka.tool(name, [
      '--bootstrap-server',
      kafka.bootstrap.plaintext,
      ...args,
    ]);
    assert.equal(code, 0, stderr);
    return stdout;
  };
  const partitionsOf = async (topic: string) =>
    (await gather(admin.topics({ names: [topic] }))).topics.get(topic)?.partitions ?? [];

  test('the cluster and its quorum', async () => {
    const cluster = valueOf(await admin.cluster());
    assert.deepEqual(
      cluster.nodes.toSorted((a, b) => a.id - b.id),
      [1, 2, 3].map((id) => ({
        id,
        host: `broker-${id}.kafka.localhost`,
        port: 9,
        rack: `r${id}`,
        fenced: false,
      })),
    );
    assert.match(cluster.clusterId, /^[\w-]{22}$/);
    const quorum = valueOf(await admin.quorum());
    assert.deepEqual(ascending(quorum.voters.map(({ id }) => id)), [1, 2, 3]);
    assert.deepEqual(quorum.observers, []);
    const leader = quorum.voters.find(({ id }) => id === quorum.leaderId);
    assert.equal(leader?.lag, 0);
    assert.ok(quorum.leaderEpoch > 0 && quorum.highWatermark > 0);
    await waitFor('every voter has been seen to catch up', async () => {
      const { voters } = valueOf(await admin.quorum());
      return voters.every(({ lastCaughtUpAt = 0, lastFetchAt = 0 }) => lastCaughtUpAt > 0 && lastFetchAt > 0);
    });
  });

  test('a certificate is verified by name, and the server asks for ours', async () => {
    const [first] = options.bootstrap;
    const bootstrap = [{ ...first!, servername: 'somebody.example' }];
    const wrongName = openAdmin({ ...options, bootstrap });
    await assert.rejects(wrongName.cluster(), /somebody\.example/);
    const nobody = openAdmin({ ...options, tls: { ca: readFileSync(kafka.tls.caFile) } });
    await assert.rejects(nobody.cluster(), { code: 'KAFKA_UNREACHABLE' });
    wrongName.close();
    nobody.close();
  });

  test('topics: created, grown, read in pages, deleted', async () => {
    const wanted = {
      name: 'many',
      partitions: 50,
      replicationFactor: 1,
      configs: { 'retention.ms': '60000' },
    };
    assert.deepEqual(errorsOf(await admin.createTopics([wanted], { validateOnly: true })), ['NONE']);
    const others = [{ name: 'usual' }, { name: 'no such!' }, { name: 'too-wide', replicationFactor: 4 }];
    const results = await admin.createTopics([wanted, ...others]);
    const byName = new Map(results.map(({ name, error }) => [name, error?.name ?? 'NONE']));
    assert.deepEqual(
      ['many', 'usual', 'no such!', 'too-wide'].map((name) => byName.get(name)),
      ['NONE', 'NONE', 'INVALID_TOPIC_EXCEPTION', 'INVALID_REPLICATION_FACTOR'],
    );
    assert.match(results.find(({ name }) => name === 'no such!')?.error?.message ?? '', /ASCII/);
    assert.deepEqual(errorsOf(await admin.createTopics([wanted])), ['TOPIC_ALREADY_EXISTS']);
    assert.deepEqual(errorsOf(await admin.createPartitions([{ name: 'many', count: 70 }])), ['NONE']);
    assert.deepEqual(errorsOf(await admin.createPartitions([{ name: 'many', count: 1 }])), [
      'INVALID_PARTITIONS',
    ]);
    await waitFor('70 partitions with leaders', async () => {
      const all = await gather(admin.topics({ node: 2 }));
      const { partitions = [] } = all.topics.get('many') ?? {};
      const whole =
        partitions.length === 70 && partitions.every(({ leader, isr }) => leader > 0 && isr.length === 1);
      return whole && all.pages >= 4 && all.topics.get('usual')?.partitions[0]?.replicas.length === 3;
    });
    assert.deepEqual(errorsOf(await admin.deleteTopics(['many', 'nobody'])).toSorted(), [
      'NONE',
      'UNKNOWN_TOPIC_OR_PARTITION',
    ]);
    await waitFor('every broker forgets it', async () => {
      const { topics } = await gather(admin.topics({ names: ['many'] }));
      return topics.get('many')?.error?.name === 'UNKNOWN_TOPIC_OR_PARTITION';
    });
  });

  test('configuration of a topic, of a broker, of all brokers', async () => {
    await kafka.createTopic('configured');
    const topic = { type: 'topic', name: 'configured' } as const;
    const [one, all] = [
      { type: 'broker', name: '2' },
      { type: 'broker', name: '' },
    ] as const;
    const set = (name: string, value: string) => ({ name, change: 'set', value }) as const;
    const refused = await admin.alterConfigs([{ resource: topic, changes: [set('retention.ms', 'soon')] }], {
      validateOnly: true,
    });
    assert.deepEqual(errorsOf(refused), ['INVALID_CONFIG']);
    const changes = [
      { resource: topic, changes: [set('cleanup.policy', 'delete')] },
      { resource: one, changes: [set('log.cleaner.threads', '2')] },
      { resource: all, changes: [set('log.retention.ms', '7000000')] },
    ];
    assert.deepEqual(errorsOf(await admin.alterConfigs(changes)), ['NONE', 'NONE', 'NONE']);
    const append = { name: 'cleanup.policy', change: 'append', value: 'compact' } as const;
    assert.deepEqual(errorsOf(await admin.alterConfigs([{ resource: topic, changes: [append] }])), ['NONE']);
    await waitFor('what was set', async () => {
      const found = await admin.configs([topic, one, all]);
      const values = new Map(
        found.map(({ resource, configs }) => [`${resource.type} ${resource.name}`, configs]),
      );
      const cleanup = values.get('topic configured')?.['cleanup.policy'];
      const threads = values.get('broker 2')?.['log.cleaner.threads'];
      const retention = values.get('broker 2')?.['log.retention.ms'];
      return (
        cleanup?.value === 'delete,compact' &&
        cleanup.source === 'topic' &&
        threads?.value === '2' &&
        threads.source === 'broker' &&
        retention?.value === '7000000' &&
        retention.source === 'all-brokers' &&
        values.get('broker ')?.['log.retention.ms']?.value === '7000000'
      );
    });
    const [broker] = await admin.configs([one], ['node.id', 'ssl.keystore.password', 'num.partitions']);
    assert.deepEqual(broker?.configs, {
      'node.id': { value: '2', source: 'file', readOnly: true, sensitive: false },
      'num.partitions': { value: '1', source: 'default', readOnly: true, sensitive: false },
      'ssl.keystore.password': { value: null, source: 'default', readOnly: false, sensitive: true },
    });
    const gone = { name: 'log.cleaner.threads', change: 'delete' } as const;
    const nobody = { type: 'broker', name: '77' } as const;
    const both = [one, nobody].map((resource) => ({ resource, changes: [gone] }));
    assert.deepEqual(errorsOf(await admin.alterConfigs(both)), ['NONE', 'BROKER_NOT_AVAILABLE']);
    assert.deepEqual(errorsOf(await admin.configs([nobody, { type: 'topic', name: 'nowhere' }])), [
      'BROKER_NOT_AVAILABLE',
      'UNKNOWN_TOPIC_OR_PARTITION',
    ]);
  });

  test('replicas: where they are, moved, led by the preferred one', async () => {
    const moved = { topic: 'moved', partition: 0 };
    await kafka.createTopic('moved', { replicas: 1 });
    const [before] = await partitionsOf('moved');
    const target = [1, 2, 3].filter((id) => !before!.replicas.includes(id));
    const elsewhere = await admin.reassign([
      { ...moved, replicas: target },
      { topic: 'nowhere', partition: 0, replicas: [1] },
    ]);
    assert.deepEqual(errorsOf(elsewhere).toSorted(), [
      'INVALID_REPLICATION_FACTOR',
      'UNKNOWN_TOPIC_OR_PARTITION',
    ]);
    const unknown = await admin.reassign([{ ...moved, replicas: [99] }]);
    assert.deepEqual(errorsOf(unknown), ['INVALID_REPLICA_ASSIGNMENT']);
    const wider = { allowReplicationFactorChange: true };
    assert.deepEqual(errorsOf(await admin.reassign([{ ...moved, replicas: target }], wider)), ['NONE']);
    await waitFor('the replicas where they were sent', async () => {
      const [partition] = await partitionsOf('moved');
      const there = partition?.replicas.join() === target.join() && partition.isr.length === 2;
      return there && valueOf(await admin.reassignments()).length === 0;
    });
    const dirsOf = async (id: number) => ({ id, dirs: valueOf(await admin.logDirs(id)) });
    await waitFor('the logs of these brokers alone', async () => {
      const all = await Promise.all([1, 2, 3].map(dirsOf));
      assert.ok(all.every(({ dirs }) => dirs.length === 1 && dirs[0]!.totalBytes! >= dirs[0]!.usableBytes!));
      const having = all.filter(({ dirs }) => dirs[0]!.replicas.some(({ topic }) => topic === 'moved'));
      return having.map(({ id }) => id).join() === target.join();
    });
    assert.deepEqual(errorsOf([await admin.logDirs(77)]), ['BROKER_NOT_AVAILABLE']);

    assert.deepEqual(errorsOf(await admin.reassign([{ ...moved, replicas: target.toReversed() }])), ['NONE']);
    await waitFor('another preferred leader', async () => {
      const [election] = await admin.electPreferredLeaders([moved]);
      const name = election?.error?.name;
      assert.ok(name === undefined || name === 'ELECTION_NOT_NEEDED', String(name));
      return (await partitionsOf('moved'))[0]?.leader === target[1];
    });
    const none = await admin.electPreferredLeaders([moved, { topic: 'nowhere', partition: 0 }]);
    assert.deepEqual(errorsOf(none).toSorted(), ['ELECTION_NOT_NEEDED', 'UNKNOWN_TOPIC_OR_PARTITION']);
  });

  test('ACLs, as Kafka’s own tool reads them', async () => {
    const base = { principal: 'User:eve', host: '*', permission: 'allow', patternType: 'literal' } as const;
    const acl = (resourceType: Acl['resourceType'], resourceName: string, operation: Acl['operation']) =>
      ({ ...base, resourceType, resourceName, operation }) satisfies Acl;
    const wanted: Acl[] = [
      ...(['Read', 'Write', 'Create', 'Delete', 'Alter', 'Describe'] as const).map((each) =>
        acl('topic', 'eve-topic', each),
      ),
      ...(['DescribeConfigs', 'AlterConfigs', 'All'] as const).map((each) => acl('topic', 'eve-topic', each)),
      ...(['ClusterAction', 'IdempotentWrite'] as const).map((each) => acl('cluster', 'kafka-cluster', each)),
      ...(['CreateTokens', 'DescribeTokens'] as const).map((each) => acl('user', 'User:eve', each)),
      acl('delegationToken', 'token', 'Describe'),
      acl('transactionalId', 'tx', 'TwoPhaseCommit'),
      { ...acl('group', 'eve-', 'Read'), patternType: 'prefix', permission: 'deny', host: '10.0.0.1' },
    ];
    assert.deepEqual(
      errorsOf(await admin.createAcls(wanted)),
      wanted.map(() => 'NONE'),
    );
    const text = (each: Acl) => Object.entries(each).map(String).toSorted().join();
    await waitFor('all of them', async () => {
      const found = valueOf(await admin.acls({ principal: 'User:eve' }));
      return (
        found.length === wanted.length &&
        found.map(text).toSorted().join() === wanted.map(text).toSorted().join()
      );
    });
    const listed = await tool('kafka-acls', '--list', '--principal', 'User:eve');
    const javaName = (word: string) => word.replaceAll(/(?<=[a-z])(?=[A-Z])/g, '_').toUpperCase();
    for (const { resourceType, resourceName, operation, permission, patternType, host } of wanted) {
      const pattern = patternType === 'prefix' ? 'PREFIXED' : 'LITERAL';
      const head = `resourceType=${javaName(resourceType)}, name=${resourceName}, patternType=${pattern}`;
      const at = listed.indexOf(head);
      assert.ok(at >= 0, `${head} in ${listed}`);
      const its = listed.slice(at, listed.indexOf('Current ACLs', at) >>> 0);
      const entry = `host=${host}, operation=${javaName(operation)}, permissionType=${permission.toUpperCase()}`;
      assert.ok(its.includes(entry), `${entry} in ${its}`);
    }
    const matching = valueOf(
      await admin.acls({ resourceType: 'group', resourceName: 'eve-1', patternType: 'match' }),
    );
    assert.equal(matching.length, 1);
    const deleted = await admin.deleteAcls([{ principal: 'User:eve' }, { principal: 'User:nobody' }]);
    assert.deepEqual(
      deleted.map(({ value }) => value?.length),
      [wanted.length, 0],
    );
    await waitFor(
      'none of them',
      async () => valueOf(await admin.acls({ principal: 'User:eve' })).length === 0,
    );
  });

  test('SCRAM users can log in', async () => {
    const user = { user: 'mallory', mechanism: 'SCRAM-SHA-512', password: 'pässword' } as const;
    const weak = { user: 'weak', mechanism: 'SCRAM-SHA-256', password: 'x', iterations: 1 } as const;
    const results = await admin.alterScramUsers([user, { ...user, mechanism: 'SCRAM-SHA-256' }, weak]);
    assert.deepEqual(
      results.map(({ user: name, mechanism, error }) => [name, mechanism, error?.name]),
      [
        ['mallory', 'SCRAM-SHA-512', undefined],
        ['weak', 'SCRAM-SHA-256', 'UNACCEPTABLE_CREDENTIAL'],
        ['mallory', 'SCRAM-SHA-256', undefined],
      ],
    );
    await waitFor('the user', async () => {
      const [found] = valueOf(await admin.scramUsers(['mallory']));
      return (
        found?.credentials.length === 2 && found.credentials.every(({ iterations }) => iterations === 4096)
      );
    });
    const sasl = { mechanism: user.mechanism, username: user.user, password: user.password };
    const saslAddresses = addressesOf(kafka.addresses('SASL_PLAINTEXT'));
    const asUser = openAdmin({ ...PATIENT, bootstrap: saslAddresses, sasl });
    await waitFor('a login', () => asUser.cluster().catch(() => undefined));
    asUser.close();
    const guessing = openAdmin({
      ...PATIENT,
      bootstrap: saslAddresses,
      sasl: { ...sasl, password: 'guess' },
    });
    await assert.rejects(guessing.cluster(), { code: 'KAFKA_REFUSED' });
    guessing.close();
    const gone = (['SCRAM-SHA-256', 'SCRAM-SHA-512'] as const).map((mechanism) => ({
      user: 'mallory',
      mechanism,
    }));
    assert.deepEqual(errorsOf(await admin.alterScramUsers(gone)), ['NONE', 'NONE']);
    await waitFor('nobody of that name', async () => {
      const [found] = valueOf(await admin.scramUsers(['mallory']));
      return found?.error?.name === 'RESOURCE_NOT_FOUND';
    });
    assert.ok(valueOf(await admin.scramUsers()).some(({ user: name }) => name === 'alice'));
  });

  test('quotas', async () => {
    const pair = {
      entity: { user: 'eve', 'client-id': null },
      values: { producer_byte_rate: 1024, request_percentage: 12.5 },
    };
    const address = { entity: { ip: '10.0.0.1' }, values: { connection_creation_rate: 3 } };
    assert.deepEqual(errorsOf(await admin.alterQuotas([pair, address])), ['NONE', 'NONE']);
    const bad = { entity: { user: 'eve', ip: '10.0.0.1' }, values: { producer_byte_rate: 1 } };
    assert.deepEqual(errorsOf(await admin.alterQuotas([bad], { validateOnly: true })), ['INVALID_REQUEST']);
    await waitFor('the quotas', async () => valueOf(await admin.quotas({ ip: 'any' })).length === 1);
    assert.deepEqual(valueOf(await admin.quotas({ user: { name: 'eve' } })), [pair]);
    assert.deepEqual(valueOf(await admin.quotas({ user: { name: 'eve' } }, { strict: true })), []);
    assert.deepEqual(valueOf(await admin.quotas({ 'client-id': { name: null } })), [pair]);
    assert.deepEqual(valueOf(await admin.quotas()).length, 2);
    const gone = { ...pair, values: { producer_byte_rate: null, request_percentage: null } };
    assert.deepEqual(errorsOf(await admin.alterQuotas([gone])), ['NONE']);
    await waitFor('no quota of hers', async () => valueOf(await admin.quotas({ user: 'any' })).length === 0);
  });

  test('features', async () => {
    const { supported, finalized, finalizedEpoch } = valueOf(await admin.features(3));
    const [range, level] = [supported['metadata.version'], finalized['metadata.version']];
    assert.ok(range && level && range.min <= level && level <= range.max, `${level}`);
    assert.ok(finalizedEpoch !== undefined && finalizedEpoch > 0n);
    const beyond = { feature: 'metadata.version', level: range.max + 1 };
    assert.deepEqual(errorsOf([await admin.updateFeatures([beyond])]), ['INVALID_UPDATE_VERSION']);
    const back = { feature: 'metadata.version', level: level - 1 };
    const downgrade = await admin.updateFeatures([back], { validateOnly: true });
    assert.deepEqual(errorsOf([downgrade]), ['INVALID_UPDATE_VERSION']);

    const feature = 'streams.version';
    const off = [{ feature, level: 0, kind: 'safe-downgrade' }] as const;
    assert.deepEqual(errorsOf([await admin.updateFeatures(off, { validateOnly: true })]), ['NONE']);
    assert.equal(valueOf(await admin.features()).finalized[feature], 1);
    assert.deepEqual(errorsOf([await admin.updateFeatures(off)]), ['NONE']);
    await waitFor('the feature is off', async () => !valueOf(await admin.features(1)).finalized[feature]);
    assert.deepEqual(errorsOf([await admin.updateFeatures([{ feature, level: 1 }])]), ['NONE']);
  });

  test('any other request, also to the coordinator of a group', async () => {
    const answer = await waitFor('a coordinator', async () => {
      const { value, error } = await admin.send(
        'DescribeGroups',
        { groups: ['nobody'] },
        { group: 'nobody' },
      );
      if (error) assert.ok(error.retriable, error.message);
      const code = value?.groups[0]?.errorCode;
      return value && (code === 0 || code === 69) ? value : undefined;
    });
    assert.equal(answer.groups[0]?.groupId, 'nobody');
  });

  test('what a cluster with fixed voters refuses', async () => {
    const voter = {
      id: 4,
      directoryId: 'AAAAAAAAAAAAAAAAAAAABA',
      listeners: [{ name: 'CONTROLLER', host: 'h', port: 1 }],
    };
    assert.deepEqual(errorsOf([await admin.addVoter(voter)]), ['UNSUPPORTED_VERSION']);
    assert.deepEqual(errorsOf([await admin.removeVoter(voter)]), ['UNSUPPORTED_VERSION']);
    assert.deepEqual(errorsOf([await admin.unregisterBroker(44)]), ['BROKER_ID_NOT_REGISTERED']);
  });

  test('calls under way reject when the client is closed, and so do later ones', async () => {
    const other = openAdmin(options);
    const calls = [other.cluster(), other.quorum(), other.logDirs(2)];
    other.close();
    const settled = await Promise.allSettled(calls);
    assert.deepEqual(
      settled.map((each) => each.status === 'rejected' && each.reason.code),
      calls.map(() => 'KAFKA_UNREACHABLE'),
    );
    await assert.rejects(other.cluster(), /was closed/);
  });
});
