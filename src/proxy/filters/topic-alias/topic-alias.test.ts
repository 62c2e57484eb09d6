import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { KINDS, messagesOf } from '../../../../test/support/kafka/messages.ts';
import type { Kind, Values } from '../../../../test/support/kafka/messages.ts';
import { namesIn } from '../../../../test/support/kafka/names-in.ts';
import { stepsDuring } from '../../../../test/support/steps.ts';
import { ALL_APIS } from '../../../kafka/apis.ts';
import type { ApiName } from '../../../kafka/apis.ts';
import { responseCodec } from '../../../kafka/codec.ts';
import { ERRORS } from '../../../kafka/errors.ts';
import { schemaOf } from '../../../kafka/schema.ts';
import type { Field } from '../../../kafka/schema.ts';
import { addEntries } from '../../../kafka/split-request.ts';
import type { ConnectionContext, FilterSetting, MessageContext } from '../../filter.ts';
import { aliasesOf } from './aliases.ts';
import { ALIAS_API_NAMES, NEWEST_VERSIONS, unusableIn } from './apis.ts';
import { topicAlias } from './topic-alias.ts';
import { toBroker, toClient } from './translate.ts';

const RUNS = 8;
const TOPICS = ['topicName'];
const OTHERS = ['groupId', 'transactionalId'];
const aliasesFor = (config: object) => aliasesOf(topicAlias.config.parse(config));
/** Every name is one that clients can use. */
const ALL = aliasesFor({ aliases: [{ aliasPrefix: '', topicPrefix: 'prod.' }] });
const SOME = aliasesFor({ aliases: [{ alias: 'orders', topic: 'prod.orders' }], otherTopics: 'hide' });

const isUsed = ({ api, version }: Kind) =>
  ALIAS_API_NAMES.includes(api.name) && version <= NEWEST_VERSIONS[api.name]!;
const used = (side: Kind['side']) => KINDS.filter((kind) => kind.side === side && isUsed(kind));
const read = ({ schema, version }: Kind, message: Values, kinds: string[]) =>
  [...namesIn(schema.fields, version, message, kinds)].map(([get]) => get());

test('every topic of every request gets the broker’s name, and nothing else is changed', () => {
  let places = 0;
  for (const kind of used('request'))
    fc.assert(
      fc.property(messagesOf(kind, { unknownTags: true }), (message) => {
        const decoded = kind.codec.decode(kind.encode(message));
        const before = read(kind, decoded, TOPICS);
        const others = read(kind, decoded, OTHERS);
        assert.deepEqual(toBroker(ALL, kind.api.name, kind.version, decoded as never), { forward: true });
        const sent = kind.codec.decode(kind.encode(decoded));
        assert.deepEqual(
          read(kind, sent, TOPICS),
          before.map((name) => (name === '' ? '' : `prod.${name}`)),
          kind.codec.what,
        );
        assert.deepEqual(read(kind, sent, OTHERS), others);
        places += before.length;
      }),
      { numRuns: RUNS },
    );
  assert.ok(places > 500);
});

test('every topic of every response gets the clients’ name, also in messages, and hidden ones are left out', () => {
  for (const kind of used('response'))
    fc.assert(
      fc.property(
        messagesOf(kind, { unknownTags: false }),
        fc.infiniteStream(fc.boolean()),
        (message, isSeen) => {
          for (const [, set] of namesIn(kind.schema.fields, kind.version, message, TOPICS))
            set(isSeen.next().value ? 'prod.orders' : 'of-others');
          const decoded = kind.codec.decode(kind.encode(message));
          const seen = read(kind, decoded, TOPICS).filter((name) => name === 'prod.orders').length;
          toClient(SOME, kind.api.name, decoded);
          const told = kind.codec.decode(kind.encode(decoded));
          const names = read(kind, told, TOPICS).filter((name) => name !== '');
          assert.deepEqual(new Set(names), new Set(names.length > 0 ? ['orders'] : []), kind.codec.what);
          assert.ok(names.length <= seen);
          const bytes = kind.encode(decoded);
          for (const hidden of ['prod.orders', 'of-others'])
            assert.equal(bytes.includes(hidden), false, kind.codec.what);
        },
      ),
      { numRuns: RUNS },
    );
});

test('what people are told has the clients’ names, where these stand by themselves', () => {
  const response = {
    topics: [
      { name: 'prod.orders', errorMessage: "Topic 'prod.orders' is not prod.orders-2, nor xprod.orders." },
    ],
  };
  toClient(SOME, 'CreateTopics', response as never);
  assert.deepEqual(response.topics, [
    { name: 'orders', errorMessage: "Topic 'orders' is not prod.orders-2, nor xprod.orders." },
  ]);
});

test('a name that clients cannot use is answered by itself, left out, or refuses the request; it never gets to the broker', () => {
  for (const kind of used('request')) {
    const { name: api, key } = kind.api;
    fc.assert(
      fc.property(
        messagesOf(kind, { unknownTags: false }),
        fc.infiniteStream(fc.boolean()),
        (message, isUsable) => {
          for (const [, set] of namesIn(kind.schema.fields, kind.version, message, TOPICS))
            set(isUsable.next().value ? 'orders' : 'prod.orders');
          const decoded = kind.codec.decode(kind.encode(message));
          if (api === 'Fetch') decoded['forgottenTopicsData'] = []; // what is forgotten has no answer
          const hidden = read(kind, decoded, TOPICS).filter((name) => name === 'prod.orders').length;
          const outcome = toBroker(SOME, api, kind.version, decoded);
          if (hidden === 0) return;
          const treatment = unusableIn(api);
          if (treatment === 'refuse')
            return assert.deepEqual(outcome, { refuse: 'UNKNOWN_TOPIC_OR_PARTITION' }, kind.codec.what);
          const sent = 'respond' in outcome ? [] : read(kind, decoded, TOPICS);
          assert.ok(sent.every((name) => name === 'prod.orders' || name === '') || treatment === 'drop');
          if (treatment === 'drop') return assert.deepEqual(outcome, { forward: true });
          const codec = responseCodec(key, kind.version);
          const answer = 'respond' in outcome ? outcome.respond : codec.decode(codec.encode({}));
          if ('forward' in outcome) addEntries(answer, outcome.answered!);
          const text = JSON.stringify(codec.decode(codec.encode(answer)), (_key, value: unknown) =>
            typeof value === 'bigint' ? String(value) : value,
          );
          assert.ok(text.includes('"prod.orders"'), kind.codec.what);
        },
      ),
      { numRuns: RUNS },
    );
  }
});

test('a topic that clients cannot use has its error, beside those that they can', () => {
  const topics = [{ name: 'orders' }, { name: 'prod.orders' }] as never[];
  const outcome = toBroker(SOME, 'Metadata', 9, { topics, allowAutoTopicCreation: true });
  assert.ok('forward' in outcome);
  const { answered } = outcome as unknown as { answered: { topics: { name: string; errorCode: number }[] } };
  assert.deepEqual(
    answered.topics.map(({ name, errorCode }) => [name, errorCode]),
    [['prod.orders', ERRORS.UNKNOWN_TOPIC_OR_PARTITION.code]],
  );
  // With nothing left the broker is asked all the same: a response without brokers is none to clients.
  const last = toBroker(SOME, 'Metadata', 9, {
    topics: [{ name: 'x' }],
    allowAutoTopicCreation: true,
  } as never);
  assert.ok('forward' in last && last.answered);
  assert.ok('respond' in toBroker(SOME, 'Metadata', 0, { topics: [{ name: 'x' }] } as never));
});

test('names and topics go together one to one, whatever the aliases are', () => {
  const name = fc.string({ unit: fc.constantFrom('a', 'b', '.'), minLength: 1, maxLength: 4 });
  const prefix = fc.string({ unit: fc.constantFrom('a', 'b', '.'), maxLength: 2 });
  const alias = fc.oneof(
    fc.record({ alias: name, topic: name }),
    fc.record({ aliasPrefix: prefix, topicPrefix: prefix }),
  );
  const config = fc.record({
    aliases: fc.array(alias, { minLength: 1, maxLength: 4 }),
    otherTopics: fc.constantFrom('pass', 'hide'),
  });
  let taken = 0;
  fc.assert(
    fc.property(config, fc.array(name, { minLength: 20, maxLength: 20 }), (settings, names) => {
      const parsed = topicAlias.config.safeParse(settings);
      if (!parsed.success) return;
      taken += 1;
      const { outward, inward } = aliasesOf(parsed.data);
      for (const each of names) {
        const [out, back] = [outward(each), inward(each)];
        if (out !== undefined) assert.equal(inward(out), each);
        if (back !== undefined) assert.equal(outward(back), each);
      }
      for (const each of parsed.data.aliases)
        if ('alias' in each) assert.equal(outward(each.alias), each.topic);
    }),
    { numRuns: 2000 },
  );
  assert.ok(taken > 200, `${taken}`);
});

test('a real name behind an alias, and one that an alias has taken, are nobody’s', () => {
  const { outward, inward } = aliasesFor({ aliases: [{ alias: 'orders', topic: 'prod.orders' }] });
  assert.deepEqual([outward('orders'), inward('prod.orders')], ['prod.orders', 'orders']);
  assert.deepEqual([outward('prod.orders'), inward('orders')], [undefined, undefined]);
  assert.deepEqual([outward('news'), inward('news')], ['news', 'news']);
  assert.deepEqual([SOME.outward('news'), SOME.inward('news')], [undefined, undefined]);
});

test('aliases that contradict each other are refused, and the place is named', () => {
  const one = (alias: string, topic: string) => ({ alias, topic });
  const many = (aliasPrefix: string, topicPrefix: string) => ({ aliasPrefix, topicPrefix });
  for (const [aliases, path, message] of [
    [[one('a', 'x'), one('a', 'y')], 'aliases.1.alias', /aliases\.0/],
    [[one('a', 'x'), one('b', 'x')], 'aliases.1.topic', /aliases\.0/],
    [[many('a-', 'x-'), one('c', 'd'), many('a-b', 'y-')], 'aliases.2.aliasPrefix', /aliases\.0/],
    [[many('a-', 'x-y-'), many('b-', 'x-')], 'aliases.1.topicPrefix', /aliases\.0/],
    [[one('a b', 'x')], 'aliases.0', /must have|name/],
    [[one('a', '..')], 'aliases.0', /must have|name/],
    [[many('', '')], 'aliases.0', /empty/],
    [[], 'aliases', /./],
  ] as const) {
    const { error } = topicAlias.config.safeParse({ aliases });
    const problem = error?.issues.find((issue) => issue.path.join('.').startsWith(path));
    assert.ok(problem, `${path}: ${error?.message}`);
    assert.match(problem.message, message);
  }
});

test('no more prefixes are held against each other than there may be', () => {
  const aliases = Array.from({ length: 1000 }, (_, i) => ({ aliasPrefix: `a${i}-`, topicPrefix: `t${i}-` }));
  let issues: readonly { message: string }[] = [];
  const steps = stepsDuring(String.prototype as never, ['startsWith'], () => {
    issues = topicAlias.config.safeParse({ aliases }).error?.issues ?? [];
  });
  assert.ok(issues.some(({ message }) => message === 'is one of more than 100'));
  assert.ok(steps < 500_000, `${steps} steps`);
  assert.ok(topicAlias.config.safeParse({ aliases: aliases.slice(0, 100) }).success);
});

const SEEN = 'AAAAAAAAAAAAAAAAAAAAAQ';
const HIDDEN = 'AAAAAAAAAAAAAAAAAAAAAg';

async function connect() {
  const config = topicAlias.config.parse({
    aliases: [{ alias: 'orders', topic: 'prod.orders' }],
    otherTopics: 'hide',
  });
  const filter = await topicAlias.create(config, {} as FilterSetting);
  const names = new Map([
    [SEEN, 'prod.orders'],
    [HIDDEN, 'secret'],
  ]);
  const topicNames = async (ids: Iterable<string>) =>
    new Map([...names].filter(([id]) => [...ids].includes(id)));
  return filter.connect({ topicNames } as unknown as ConnectionContext);
}

test('ids are good for topics that clients see', async () => {
  const { onRequest } = await connect();
  const fetch = async (topicId: string) =>
    onRequest!.ShareFetch!(
      { groupId: 'g', topics: [{ topicId, partitions: [] }], forgottenTopicsData: [] } as never,
      { api: 'ShareFetch', apiVersion: 1 } as MessageContext,
    );
  const own = await fetch(SEEN);
  assert.ok(own && 'forward' in own);
  assert.deepEqual(await fetch(HIDDEN), { answer: 'UNKNOWN_TOPIC_ID' });
  assert.deepEqual(await fetch('AAAAAAAAAAAAAAAAAAAAAw'), { answer: 'UNKNOWN_TOPIC_ID' });
});

test('settings are those of the topic with the alias, and those of brokers stay', async () => {
  const { onRequest } = await connect();
  for (const api of ['DescribeConfigs', 'AlterConfigs', 'IncrementalAlterConfigs'] as const) {
    const ask = async (resourceType: number, resourceName: string) =>
      (onRequest![api] as (request: object, context: object) => Promise<unknown>)(
        { resources: [{ resourceType, resourceName, configs: [] }] },
        { api, apiVersion: 1 },
      );
    const forward = (resourceType: number, resourceName: string) => ({
      forward: { resources: [{ resourceType, resourceName, configs: [] }] },
    });
    assert.deepEqual(await ask(2, 'orders'), forward(2, 'prod.orders'));
    assert.deepEqual(await ask(4, '1'), forward(4, '1'));
    assert.deepEqual(await ask(2, 'secret'), { answer: 'UNKNOWN_TOPIC_OR_PARTITION' });
  }
});

test('what is not in the tables is refused, also what nobody knows', async () => {
  assert.equal((await connect()).onlyKnownApis, true);
  for (const { name } of ALL_APIS) assert.ok(NEWEST_VERSIONS[name] !== undefined, name);
  const refused = ALL_APIS.filter(({ name, broker }) => broker && NEWEST_VERSIONS[name] === -1);
  for (const name of [
    'CreateAcls',
    'DescribeTopicPartitions',
    'ListConfigResources',
    'StreamsGroupHeartbeat',
  ])
    assert.ok(
      refused.some((api) => api.name === name),
      name,
    );
});

/** Texts that clients send or get and that name no topic. A field that is not here has to be looked at first. */
const NAMELESS =
  `acknowledgeErrorMessage assignorName batchIndexErrorMessage clientHost clientId clusterId committedMetadata configurationKeys
  documentation errorMessage groupInstanceId groupState groupType host instanceId key leader logDir memberId metadata name path
  protocolData protocolName protocolType rack rackId reason resourceName serverAssignor subscribedTopicRegex transactionState value`.split(
    /\s+/,
  );

test('every text is a name by its schema, or known to be no topic’s', () => {
  const texts = (fields: Field[], most: number): string[] =>
    fields
      .filter(({ versions }) => versions.from <= most)
      .flatMap(({ name, type, names, fields: inner }) =>
        inner ? texts(inner, most) : type === 'string' && names === undefined ? [name] : [],
      );
  const found = ALIAS_API_NAMES.flatMap((api: ApiName) =>
    (['Request', 'Response'] as const).flatMap((side) =>
      texts(schemaOf(`${api}${side}`).fields, NEWEST_VERSIONS[api]!),
    ),
  );
  assert.deepEqual(
    [...new Set(found)].filter((name) => !NAMELESS.includes(name)),
    [],
  );
});
