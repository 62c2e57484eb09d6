import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { KINDS, messagesOf } from '../../../../test/support/kafka/messages.ts';
import type { Kind, Values } from '../../../../test/support/kafka/messages.ts';
import { namesIn } from '../../../../test/support/kafka/names-in.ts';
import { ALL_APIS } from '../../../kafka/apis.ts';
import { schemaOf } from '../../../kafka/schema.ts';
import type { Field } from '../../../kafka/schema.ts';
import type { ConnectionContext, FilterSetting, MessageContext } from '../../filter.ts';
import { NEWEST_VERSIONS, TENANT_API_NAMES } from './apis.ts';
import { multiTenant } from './multi-tenant.ts';
import { toCluster, toTenant } from './tenant.ts';

const PREFIX = 'acme-';
const RUNS = 8;
const KNOWN = 'AAAAAAAAAAAAAAAAAAAAAQ';
const FOREIGN = 'AAAAAAAAAAAAAAAAAAAAAg';

async function connect(virtualCluster = 'acme', config: object = {}) {
  const setting = { virtualCluster } as FilterSetting;
  const filter = await multiTenant.create(multiTenant.config.parse(config), setting);
  const names = new Map([
    [KNOWN, 'acme-orders'],
    [FOREIGN, 'other-orders'],
  ]);
  const topicNames = async (ids: Iterable<string>) =>
    new Map([...names].filter(([id]) => [...ids].includes(id)));
  return filter.connect({ topicNames } as unknown as ConnectionContext);
}

const isUsed = ({ api, version }: Kind) =>
  TENANT_API_NAMES.includes(api.name) && version <= NEWEST_VERSIONS[api.name]!;
const used = (side: Kind['side']) => KINDS.filter((kind) => kind.side === side && isUsed(kind));

test('every name of every request that tenants may send gets the prefix', () => {
  let places = 0;
  for (const kind of used('request'))
    fc.assert(
      fc.property(messagesOf(kind, { unknownTags: true }), (message) => {
        const decoded = kind.codec.decode(kind.encode(message));
        const before = [...namesIn(kind.schema.fields, kind.version, decoded)].map(([get]) => get());
        toCluster(PREFIX, kind.api.name, decoded);
        const sent = kind.codec.decode(kind.encode(decoded));
        const after = [...namesIn(kind.schema.fields, kind.version, sent)].map(([get]) => get());
        assert.equal(after.length, before.length);
        for (const [i, name] of after.entries())
          assert.ok(name === PREFIX + before[i]! || (name === '' && before[i] === ''), kind.codec.what);
        places += after.length;
      }),
      { numRuns: RUNS },
    );
  assert.ok(places > 1000);
});

test('no response shows a prefix, or what belongs to others', () => {
  for (const kind of used('response'))
    fc.assert(
      fc.property(
        messagesOf(kind, { unknownTags: false }),
        fc.infiniteStream(fc.boolean()),
        (message, mine) => {
          const told = (value: unknown): void => {
            if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return;
            for (const [name, inner] of Object.entries(value)) {
              if (typeof inner === 'string' && /message$/i.test(name))
                (value as Values)[name] = `no such topic: ${PREFIX}orders`;
              else told(inner);
            }
          };
          told(message);
          for (const [, set] of namesIn(kind.schema.fields, kind.version, message))
            set(mine.next().value ? `${PREFIX}orders` : 'foreign-orders');
          const decoded = kind.codec.decode(kind.encode(message));
          toTenant(PREFIX, kind.api.name, decoded);
          const bytes = kind.encode(decoded);
          assert.equal(bytes.includes(PREFIX), false, kind.codec.what);
          assert.equal(bytes.includes('foreign-orders'), false, kind.codec.what);
        },
      ),
      { numRuns: RUNS },
    );
});

/** Texts that tenants send or get and that name nothing a tenant has. A field that is not here has to be looked at first. */
const NAMELESS =
  `acknowledgeErrorMessage assignorName batchIndexErrorMessage clientHost clientId clusterId committedMetadata
  configurationKeys documentation errorMessage groupInstanceId groupState groupType host instanceId leader memberId metadata name
  processId protocolData protocolName protocolType rack rackId reason serverAssignor stateFilters statesFilter
  subscribedTopicRegex transactionState typesFilter unknownStateFilters value key coordinatorKeys resourceName`.split(
    /\s+/,
  );

test('every text that tenants send or get is a name by its schema, or known to be none', () => {
  const texts = (fields: Field[], most: number): string[] =>
    fields
      .filter(({ versions }) => versions.from <= most)
      .flatMap(({ name, type, names, fields: inner }) =>
        inner ? texts(inner, most) : type === 'string' && names === undefined ? [name] : [],
      );
  const found = TENANT_API_NAMES.flatMap((api) =>
    (['Request', 'Response'] as const).flatMap((side) =>
      texts(schemaOf(`${api}${side}`).fields, NEWEST_VERSIONS[api]!),
    ),
  );
  assert.deepEqual(
    [...new Set(found)].filter((name) => !NAMELESS.includes(name)),
    [],
  );
});

test('what is not in the table is refused, also what nobody knows', async () => {
  const connection = await connect();
  assert.equal(connection.onlyKnownApis, true);
  for (const { name } of ALL_APIS) assert.ok(NEWEST_VERSIONS[name] !== undefined, name);
  const refused = ALL_APIS.filter(({ name, broker }) => broker && NEWEST_VERSIONS[name] === -1);
  for (const name of ['CreateAcls', 'AlterClientQuotas', 'DescribeTopicPartitions', 'StreamsGroupHeartbeat'])
    assert.ok(refused.some((api) => api.name === name));
});

test('ids of topics are good for the tenant’s own alone', async () => {
  const connection = await connect();
  const fetch = async (topicId: string) =>
    connection.onRequest!.ShareFetch!(
      { groupId: 'g', topics: [{ topicId, partitions: [] }], forgottenTopicsData: [] } as never,
      { api: 'ShareFetch' } as MessageContext,
    );
  const own = await fetch(KNOWN);
  assert.ok(own && 'forward' in own);
  assert.equal(own.forward.groupId, 'acme-g');
  assert.deepEqual(await fetch(FOREIGN), { answer: 'UNKNOWN_TOPIC_ID' });
  assert.deepEqual(await fetch('AAAAAAAAAAAAAAAAAAAAAw'), { answer: 'UNKNOWN_TOPIC_ID' });
});

test('coordinators and settings are those of the tenant’s own groups, transactions and topics', async () => {
  const { onRequest } = await connect();
  const find = async (keyType: number) =>
    onRequest!.FindCoordinator!({ keyType, key: 'k', coordinatorKeys: ['a', ''] }, {
      api: 'FindCoordinator',
    } as MessageContext);
  const [group, transaction] = [await find(0), await find(1)];
  assert.ok(group && 'forward' in group && transaction && 'forward' in transaction);
  assert.deepEqual(group.forward.coordinatorKeys, ['acme-a', 'acme-']);
  assert.deepEqual(
    [transaction.forward.key, transaction.forward.coordinatorKeys],
    ['acme-k', ['acme-a', '']],
  );
  assert.deepEqual(await find(2), { answer: 'CLUSTER_AUTHORIZATION_FAILED' });
  for (const api of ['DescribeConfigs', 'AlterConfigs', 'IncrementalAlterConfigs'] as const) {
    const ask = async (resourceType: number) =>
      (onRequest![api] as (request: object, context: object) => Promise<unknown>)(
        { resources: [{ resourceType, resourceName: 'orders', configs: [] }] },
        { api },
      );
    for (const type of [2, 32])
      assert.deepEqual(await ask(type), {
        forward: { resources: [{ resourceType: type, resourceName: 'acme-orders', configs: [] }] },
      });
    assert.deepEqual(await ask(4), { answer: 'CLUSTER_AUTHORIZATION_FAILED' });
  }
});

test('a name of a virtual cluster by which tenants could meet is refused', async () => {
  await assert.rejects(connect('a-b'), /contains the separator "-"/);
  await connect('a-b', { prefixResourceNameSeparator: '.' });
  await assert.rejects(connect('a/b'), /cannot be part of names of topics/);
  for (const separator of ['', '/', 'a b'])
    assert.equal(multiTenant.config.safeParse({ prefixResourceNameSeparator: separator }).success, false);
});
