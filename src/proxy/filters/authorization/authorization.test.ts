import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { pino } from 'pino';
import { KINDS, messagesOf } from '../../../../test/support/kafka/messages.ts';
import { turnsDuring } from '../../../../test/support/turns.ts';
import { ALL_APIS } from '../../../kafka/apis.ts';
import type { ApiName } from '../../../kafka/apis.ts';
import { changeNames, topicIdsIn } from '../../../kafka/names.ts';
import type { NameKind } from '../../../kafka/names.ts';
import { createMetrics } from '../../../ops/metrics.ts';
import type { ConnectionContext, FilterSetting, MessageContext } from '../../filter.ts';
import { authorization } from './authorization.ts';
import { GUARDED, NEWEST_VERSIONS, RIGHTS } from './rights.ts';
import { parseRules, rulesOfUser } from './rules.ts';
import type { Operation } from './rules.ts';

const IMPORTS = ['TopicResource as Topic', 'GroupResource as Group', 'TransactionalIdResource as Txn']
  .map((each) => `from io.kroxylicious.filter.authorization import ${each};`)
  .join('\n');
const rulesOf = (text: string) => `${IMPORTS}\n${text}\notherwise deny;`;

/** A client of whom nothing is known. */
const NOBODY = '(nobody)';

type Handler = (message: object, context: MessageContext) => Promise<Record<string, unknown> | undefined>;

interface Options {
  principal?: string;
  dryRun?: boolean;
  logAllowed?: boolean;
}

/** What is logged of a request. */
interface Line {
  principal: string | null;
  api: string;
  allowed?: object[];
  denied?: object[];
  more?: number;
  msg: string;
}

async function setUp(text: string, { principal = 'alice', ...options }: Options = {}) {
  const config = authorization.config.parse({ authorizerConfig: { rules: text }, ...options });
  const lines: Line[] = [];
  const log = pino({ level: 'info' }, { write: (line: string) => void lines.push(JSON.parse(line) as Line) });
  const metrics = createMetrics();
  const setting = { virtualCluster: 'vc', name: 'f', metrics } as FilterSetting;
  const filter = await authorization.create(config, setting);
  const names = new Map([
    ['AAAAAAAAAAAAAAAAAAAAAQ', 'mine'],
    ['AAAAAAAAAAAAAAAAAAAAAg', 'theirs'],
  ]);
  const context = {
    principal: principal === NOBODY ? undefined : principal,
    log,
    topicNames: async (ids: Iterable<string>) => new Map([...names].filter(([id]) => [...ids].includes(id))),
  };
  const connection = filter.connect(context as unknown as ConnectionContext);
  const about = (api: ApiName, apiVersion: number) => ({
    api,
    apiVersion,
    correlationId: 1,
    clientId: 'c',
    bytes: 0,
  });
  return {
    connection,
    metrics,
    lines,
    request: (api: ApiName, body: object, version = NEWEST_VERSIONS[api]!) =>
      (connection.onRequest![api] as Handler)(body, about(api, version)),
    response: (api: ApiName, body: object, version = NEWEST_VERSIONS[api]!) =>
      (connection.onResponse![api] as Handler)(body, about(api, version)),
  };
}

test('rules are read as the original has them', () => {
  const rules = parseRules(`
    // what there is
    version 1;
    import TopicResource as Topic from io.kroxylicious.filter.authorization;
    from io.kroxylicious.filter.authorization import GroupResource;
    deny User with name = "eve" to * Topic with name *; /* nobody
    likes her */
    allow User with name in {"alice", "b\\"o\\\\b"} to {READ, DESCRIBE} Topic with name like "orders-*-eu";
    allow User with name like "svc-*" to WRITE Topic with name = "orders-1-eu";
    allow User with name * to READ GroupResource with name *;
    otherwise deny;`);
  const may = (user: string, operation: Operation, name: string) =>
    rulesOfUser(rules, user).may(operation, 'TopicResource', name);
  assert.equal(may('alice', 'READ', 'orders-1-eu'), true);
  assert.equal(may('b"o\\b', 'READ', 'orders-1-2-eu'), true);
  assert.equal(may('alice', 'READ', 'orders-eu'), false);
  assert.equal(may('alice', 'WRITE', 'orders-1-eu'), false);
  assert.equal(may('svc-a', 'WRITE', 'orders-1-eu'), true);
  assert.equal(may('svc-a', 'DESCRIBE', 'orders-1-eu'), true); // who may write may describe
  assert.equal(may('eve', 'READ', 'orders-1-eu'), false);
  assert.equal(rulesOfUser(rules, 'eve').may('READ', 'GroupResource', 'g'), true);
  assert.equal(rulesOfUser(rules, 'eve').may('DELETE', 'GroupResource', 'g'), false);
  assert.equal(rulesOfUser(rules, 'eve').may('WRITE', 'TransactionalIdResource', 't'), true); // not imported
});

test('a mistake in rules is named with its line', () => {
  const cases: [string, RegExp][] = [
    [rulesOf('allow User with name = "a" to READ Topic with name = "b"'), /line 5: ";" has to stand here/],
    [rulesOf('allow User with name = "a" to FLY Topic with name *;'), /line 4: FLY is not one of READ/],
    [rulesOf('allow Robot with name = "a" to READ Topic with name *;'), /there is only User/],
    [rulesOf('allow User with name = "a" to READ Cluster with name *;'), /Cluster is not imported/],
    [rulesOf('allow User with name * to * Topic with name matching /x/;'), /use like/],
    [
      rulesOf(
        'allow User with name * to * Topic with name *;\ndeny User with name * to * Topic with name *;',
      ),
      /before/,
    ],
    [
      `${IMPORTS}\nallow User with name * to * Topic with name *;`,
      /"otherwise" has to stand here, not the end/,
    ],
    ['from a.b import TopicResource;\notherwise deny;', /a\.b\.TopicResource is not one of/],
    [rulesOf('allow User with name = "a\nb" to * Topic with name *;'), /cannot stand here/],
    [`// one\n/* two */ /*/ ${rulesOf('')}`, /line 2: a comment without an end begins here/],
    // To look for the end of each of them would take minutes.
    ['/* '.repeat(300_000), /line 1: a comment without an end begins here/],
  ];
  for (const [text, expected] of cases) assert.throws(() => parseRules(text), expected);
  const wrong = authorization.config.safeParse({ authorizerConfig: { rules: 'allow' } });
  assert.deepEqual(wrong.error?.issues[0]?.path, ['authorizerConfig', 'rules']);
});

test('like says the same as the regular expression that it stands for', () => {
  const letters = fc.array(fc.constantFrom('a', 'b', '*'), { maxLength: 7 }).map((each) => each.join(''));
  const name = fc.array(fc.constantFrom('a', 'b'), { maxLength: 9 }).map((each) => each.join(''));
  fc.assert(
    fc.property(letters, name, (pattern, given) => {
      const rules = parseRules(rulesOf(`allow User with name * to * Topic with name like "${pattern}";`));
      const expected = new RegExp(`^${pattern.replaceAll('*', '.*')}$`).test(given);
      assert.equal(rulesOfUser(rules, 'u').may('READ', 'TopicResource', given), expected);
    }),
    { numRuns: 1000 },
  );
});

/** Requests of every API and version in the table, with random content. */
const guarded = KINDS.filter(
  ({ api, side, version }) =>
    side === 'request' && GUARDED.includes(api.name) && version <= NEWEST_VERSIONS[api.name]!,
);

function namesOf(api: ApiName, message: object, version: number): string[] {
  const names: string[] = [];
  const note = (kind: NameKind, name: string) => {
    if (RIGHTS[api]![kind] && (name !== '' || kind === 'groupId')) names.push(name);
    return name;
  };
  changeNames(`${api}Request`, message, note, version);
  return names;
}

test('nothing that names something passes without a right, in no API and version, and all of it passes with all rights', async () => {
  const nobody = await setUp(rulesOf(''));
  const stranger = await setUp(rulesOf('allow User with name * to * Topic with name *;'), {
    principal: NOBODY,
  });
  const all = ['Topic', 'Group', 'Txn'].map((type) => `allow User with name * to * ${type} with name *;`);
  const god = await setUp(rulesOf(all.join('\n')));
  let named = 0;
  for (const kind of guarded)
    await fc.assert(
      fc.asyncProperty(messagesOf(kind, { unknownTags: true }), async (message) => {
        const api = kind.api.name;
        const decode = () => kind.codec.decode(kind.encode(message));
        if (namesOf(api, decode(), kind.version).length > 0) {
          named += 1;
          for (const each of [nobody, stranger]) {
            const verdict = await each.request(api, decode(), kind.version);
            assert.ok(verdict, kind.codec.what);
            // What has no name, no broker takes.
            if ('forward' in verdict)
              assert.deepEqual(namesOf(api, verdict['forward'] as object, kind.version), []);
            else assert.ok('answer' in verdict || 'respond' in verdict);
          }
        }
        if (topicIdsIn(`${api}Request`, decode()).size > 0) return;
        const verdict = await god.request(api, decode(), kind.version);
        if (verdict && 'answer' in verdict) assert.equal(verdict['answer'], 'CLUSTER_AUTHORIZATION_FAILED');
        else assert.equal(verdict, undefined, kind.codec.what);
      }),
      { numRuns: 6 },
    );
  assert.ok(named > 200);
});

test('what is denied is answered item by item, and the rest goes on', async () => {
  const { request, response } = await setUp(
    rulesOf('allow User with name = "alice" to WRITE Topic with name = "mine";'),
  );
  const partitionData = [{ index: 0, records: Buffer.alloc(3) }];
  const body = () => ({
    transactionalId: null,
    acks: -1,
    topicData: [
      { name: 'theirs', partitionData },
      { name: 'mine', partitionData },
    ],
  });
  const verdict = (await request('Produce', body())) as { forward: ReturnType<typeof body> };
  assert.deepEqual(
    verdict.forward.topicData.map(({ name }) => name),
    ['mine'],
  );
  const answer = (await response('Produce', {
    responses: [{ name: 'mine', partitionResponses: [{ index: 0, errorCode: 0 }] }],
  })) as { forward: { responses: { name: string; partitionResponses: { errorCode: number }[] }[] } };
  assert.deepEqual(
    answer.forward.responses.map(({ name, partitionResponses }) => [name, partitionResponses[0]!.errorCode]),
    [
      ['mine', 0],
      ['theirs', 29],
    ],
  );
  const denied = (await request('Produce', {
    ...body(),
    topicData: [{ name: 'theirs', partitionData }],
  })) as {
    respond: { responses: object[] };
  };
  assert.equal(denied.respond.responses.length, 1);
  assert.equal(await response('Produce', { responses: [] }), undefined);
});

test('a group or a transaction that is denied refuses the request as a whole', async () => {
  const { request } = await setUp(rulesOf('allow User with name * to * Topic with name *;'));
  assert.deepEqual(await request('OffsetCommit', { groupId: 'g', topics: [{ name: 't' }] }), {
    answer: 'GROUP_AUTHORIZATION_FAILED',
  });
  assert.deepEqual(await request('EndTxn', { transactionalId: 't' }), {
    answer: 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED',
  });
  assert.deepEqual(await request('FindCoordinator', { keyType: 1, key: '', coordinatorKeys: ['t'] }), {
    answer: 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED',
  });
  const of = (resourceType: number) => ({ resources: [{ resourceType, resourceName: 'x', configs: [] }] });
  assert.deepEqual(await request('AlterConfigs', of(4)), { answer: 'CLUSTER_AUTHORIZATION_FAILED' });
  assert.deepEqual(await request('AlterConfigs', of(32)), { answer: 'GROUP_AUTHORIZATION_FAILED' });
  assert.equal(await request('AlterConfigs', of(2)), undefined);
});

test('a field that a version lacks names nothing, and a group without a name is one', async () => {
  const { request } = await setUp(
    rulesOf(
      'allow User with name * to * Group with name = "g";\nallow User with name * to * Topic with name *;',
    ),
  );
  const asked = { groupId: '', topics: [], groups: [{ groupId: 'g', topics: [{ name: 't' }] }] };
  assert.equal(await request('OffsetFetch', asked, 9), undefined);
  const old = { groupId: '', topics: [{ name: 't' }], groups: [] };
  assert.deepEqual(await request('OffsetFetch', old, 7), { answer: 'GROUP_AUTHORIZATION_FAILED' });
});

test('lists show what may be described, and nobody makes a topic by asking for it', async () => {
  const { request, response } = await setUp(
    rulesOf('allow User with name * to READ Topic with name = "mine";'),
  );
  assert.equal(await request('Metadata', { topics: null, allowAutoTopicCreation: true }), undefined);
  const listed = (await response('Metadata', { topics: [{ name: 'mine' }, { name: 'theirs' }] })) as {
    forward: { topics: object[] };
  };
  assert.deepEqual(listed.forward.topics, [{ name: 'mine' }]);
  const groups = (await response('ListGroups', { groups: [{ groupId: 'g' }] })) as {
    forward: { groups: object[] };
  };
  assert.deepEqual(groups.forward.groups, []);
  const asked = { topics: [{ name: 'mine' }], allowAutoTopicCreation: true };
  assert.deepEqual(await request('Metadata', asked), {
    forward: { ...asked, allowAutoTopicCreation: false },
  });
});

test('others have their turns while thousands of names meet thousands of rules', async () => {
  const likes = Array.from(
    { length: 2000 },
    (_, i) => `allow User with name * to * Topic with name like "a*${i}";`,
  );
  const rules = rulesOf(likes.join('\n'));
  const names = Array.from({ length: 4000 }, (_, i) => `${i % 2 ? 'a' : 'b'}-${i % 2000}`);
  const topics = () => names.map((name) => ({ name }));
  const ways = [
    async () => (await setUp(rules)).request('Metadata', { topics: topics(), allowAutoTopicCreation: false }),
    async () => (await setUp(rules)).response('Metadata', { topics: topics() }),
  ];
  for (const ask of ways) {
    const { result, turns } = await turnsDuring(ask);
    assert.ok(turns > 20, `${turns} turns`);
    const { forward } = result as { forward: { topics: { name: string }[] } };
    const left = names.filter((name) => name.startsWith('a'));
    assert.equal(forward.topics.map(({ name }) => name).join(' '), left.join(' '));
  }
});

test('to take a request apart copies no records', async () => {
  const { request } = await setUp(rulesOf('allow User with name * to * Topic with name = "mine";'));
  const records = Buffer.alloc(64 << 20);
  const topic = (name: string) => ({
    name,
    topicId: 'AAAAAAAAAAAAAAAAAAAAAA',
    partitionData: [{ index: 0, records }],
  });
  const body = { transactionalId: null, acks: -1, timeoutMs: 1, topicData: [topic('mine'), topic('theirs')] };
  const before = process.memoryUsage().arrayBuffers;
  const { forward } = (await request('Produce', body)) as { forward: typeof body };
  assert.ok(process.memoryUsage().arrayBuffers - before < 32 << 20);
  assert.deepEqual(
    forward.topicData.map(({ name }) => name),
    ['mine'],
  );
  assert.equal(forward.topicData[0]?.partitionData[0]?.records, records);
});

test('ids of topics are good for what may be used by name', async () => {
  const { request } = await setUp(
    rulesOf(
      'allow User with name * to READ Topic with name = "mine";\nallow User with name * to * Group with name *;',
    ),
  );
  const fetch = (id: string) => request('ShareFetch', { groupId: 'g', topics: [{ topicId: id }] });
  assert.equal(await fetch('AAAAAAAAAAAAAAAAAAAAAQ'), undefined);
  for (const id of ['AAAAAAAAAAAAAAAAAAAAAg', 'AAAAAAAAAAAAAAAAAAAAAw'])
    assert.deepEqual(await fetch(id), { answer: 'UNKNOWN_TOPIC_ID' });
});

test('APIs that are not in the table are refused, and those that nobody knows', async () => {
  const { connection } = await setUp(rulesOf(''));
  assert.equal(connection.onlyKnownApis, true);
  for (const { name } of ALL_APIS) assert.notEqual(connection.newestVersions![name], undefined);
  for (const name of [
    'CreateAcls',
    'WriteTxnMarkers',
    'DescribeTopicPartitions',
    'AlterClientQuotas',
  ] as const)
    assert.equal(connection.newestVersions![name], -1);
});

test('a dry run denies nothing and counts what it would', async () => {
  const { request, response, metrics, connection } = await setUp(rulesOf(''), { dryRun: true });
  assert.equal(await request('Metadata', { topics: [{ name: 'a' }, { name: 'b' }] }), undefined);
  assert.equal(await response('Metadata', { topics: [{ name: 'a' }] }), undefined);
  assert.equal(connection.newestVersions, undefined);
  assert.match(JSON.stringify(await metrics.snapshot()), /denied_total.*"dry_run":"true".*"value":2/);
});

test('what is allowed is logged where that is wanted, beside what is denied', async () => {
  const rules = rulesOf('allow User with name = "alice" to WRITE Topic with name like "mine*";');
  const body = () => {
    const topicData = ['mine', 'theirs'].map((name) => ({ name, partitionData: [] }));
    return { transactionalId: null, acks: -1, topicData };
  };
  const wish = (name: string) => ({ kind: 'topicName', operation: 'WRITE', name });
  const silent = await setUp(rules);
  await silent.request('Produce', body());
  assert.deepEqual(
    silent.lines.map(({ msg }) => msg),
    ['denied'],
  );
  for (const dryRun of [false, true]) {
    const { request, lines } = await setUp(rules, { logAllowed: true, dryRun });
    await request('Produce', body());
    const [denied, allowed] = lines;
    assert.deepEqual(denied?.denied, [wish('theirs')]);
    assert.deepEqual(
      [allowed?.msg, allowed?.principal, allowed?.api, allowed?.allowed],
      ['allowed', 'alice', 'Produce', [wish('mine')]],
    );
    await request('Metadata', { topics: null });
    assert.equal(lines.length, 2, 'it names nothing');
  }
});

test('nothing is said to be allowed of a request that does not go on', async () => {
  const { request, lines } = await setUp(rulesOf('allow User with name * to * Topic with name *;'), {
    logAllowed: true,
  });
  await request('OffsetCommit', { groupId: 'g', topics: [{ name: 't' }] });
  await request('AlterConfigs', { resources: [{ resourceType: 4, resourceName: 'x', configs: [] }] });
  assert.deepEqual(
    lines.map(({ msg }) => msg),
    ['denied', 'denied'],
  );
});

test('a line has a few names, and says how many it leaves out', async () => {
  const { request, lines } = await setUp(rulesOf('allow User with name * to * Topic with name *;'), {
    logAllowed: true,
  });
  const topics = Array.from({ length: 1000 }, (_, i) => ({ name: `t${i}` }));
  await request('Metadata', { topics, allowAutoTopicCreation: false });
  assert.deepEqual([lines[0]?.allowed?.length, lines[0]?.more], [10, 990]);
});
