import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { DescribeConfigsResponseDescribeConfigsResourceResult as ConfigEntry } from '../../../kafka/schemas/types.ts';
import { CONFIG_DIGESTS_ANNOTATION } from '../model/names.ts';
import { configChange, configDigests, startedWith } from './config-change.ts';
import type { ConfigValues } from './config-change.ts';
import { sameValue } from './config-value.ts';

const TYPE = { unknown: 0, boolean: 1, string: 2, int: 3, long: 5, double: 6, list: 7, password: 9 };
const SOURCE = { perBroker: 2, clusterWide: 3, file: 4, fallback: 5 };

/** Where the values of a key come from, in Kafka's order. */
type Values = Partial<Record<keyof typeof SOURCE, string>>;

function entry(name: string, values: Values, more: Partial<ConfigEntry> = {}): ConfigEntry {
  const synonyms = Object.entries(SOURCE).flatMap(([key, source]) => {
    const value = values[key as keyof Values];
    return value === undefined ? [] : [{ name, value, source }];
  });
  const first = synonyms[0];
  return {
    name,
    value: first?.value ?? null,
    readOnly: false,
    configSource: first?.source ?? SOURCE.fallback,
    isSensitive: false,
    synonyms,
    configType: TYPE.string,
    documentation: null,
    ...more,
  };
}

function change(wanted: ConfigValues, described: ConfigEntry[], started = wanted, refused: string[] = []) {
  return configChange({ wanted, described, startedWith: configDigests(started), refused: new Set(refused) });
}

const NONE = { kind: 'none', unfixable: [] };
const dynamic = (set: ConfigValues, deleted: string[] = [], clusterWide: ConfigValues = {}) => ({
  kind: 'dynamic',
  change: { perBroker: { set, delete: deleted }, clusterWide: { set: clusterWide } },
  unfixable: [],
});
const restart = (...keys: string[]) => ({ kind: 'restart', keys });

/** A broker with a few keys: `fixed` is read only, `custom` unknown to it and therefore hidden. */
type Broker = Record<'file' | 'perBroker' | 'clusterWide', Record<string, string>>;
const DEFAULTS: ConfigValues = { u: '0', v: '0', fixed: '0', 'min.insync.replicas': '1' };

function describeBroker({ file, perBroker, clusterWide }: Broker): ConfigEntry[] {
  const keys = new Set([...Object.keys(DEFAULTS), ...Object.keys(file)]);
  const sources = Object.entries({ perBroker, clusterWide, file, fallback: DEFAULTS });
  return [...keys].map((key) => {
    const values = Object.fromEntries(sources.map(([source, its]) => [source, its[key]])) as Values;
    const isSensitive = key === 'custom';
    return entry(key, values, { readOnly: isSensitive || key === 'fixed', isSensitive });
  });
}

/** Does what is decided until nothing is. */
function settle(broker: Broker, wanted: Record<string, string>): void {
  for (let step = 0; ; step++) {
    const next = change(wanted, describeBroker(broker), broker.file);
    if (next.kind === 'none') return;
    assert.ok(step < 4, `it goes round: ${JSON.stringify(next)}`);
    if (next.kind === 'restart') broker.file = wanted;
    else {
      Object.assign(broker.perBroker, next.change.perBroker.set);
      Object.assign(broker.clusterWide, next.change.clusterWide.set);
      for (const key of next.change.perBroker.delete) delete broker.perBroker[key];
    }
  }
}

suite('config change', () => {
  test('nothing differs', () => {
    assert.deepEqual(change({ a: '1' }, [entry('a', { file: '1' }), entry('b', { fallback: 'x' })]), NONE);
  });

  test('all changed keys are updatable: changed while it runs', () => {
    const live = [entry('a', { file: '1' }), entry('b', { file: '1' })];
    assert.deepEqual(change({ a: '2', b: '3' }, live, { a: '1', b: '1' }), dynamic({ a: '2', b: '3' }));
  });

  test('one of them is not: restart, with the keys that ask for it', () => {
    const live = [entry('a', { file: '1' }), entry('b', { file: '1' }, { readOnly: true })];
    assert.deepEqual(change({ a: '2', b: '3' }, live, { a: '1', b: '1' }), restart('b'));
  });

  test('a change that the node refused needs a restart', () => {
    const live = [entry('a', { file: '1' }), entry('b', { file: '9', fallback: '1' })];
    assert.deepEqual(change({ a: '2' }, live, { a: '1', b: '9' }, ['a', 'b']), restart('a', 'b'));
  });

  test('a key that the node does not know needs a restart, once', () => {
    assert.deepEqual(change({ 'my.key': '1' }, [], {}), restart('my.key'));
    assert.deepEqual(change({ 'my.key': '1' }, []), NONE);
  });

  test('what differs although the node was started with it is told, and not restarted for', () => {
    const live = [entry('a', { file: 'resolved' }, { readOnly: true })];
    assert.deepEqual(change({ a: 'given' }, live), { kind: 'none', unfixable: ['a'] });
  });

  test('hidden values are compared by what the process was started with', () => {
    const hidden = { isSensitive: true, configType: TYPE.password };
    const live = [{ ...entry('p', { file: 'x' }, hidden), value: null }, entry('q', { file: 'resolved' })];
    const wanted = { p: 'one', q: '${dir:/x:y}' };
    assert.deepEqual(change(wanted, live), NONE);
    assert.deepEqual(change(wanted, live, { ...wanted, p: 'two' }), restart('p'));
    assert.deepEqual(change(wanted, live, { ...wanted, q: '${dir:/x:z}' }), restart('q'));
  });

  test('a pod tells what it was started with, and whoever writes nonsense into it gets one restart', () => {
    const digests = configDigests({ b: '1', a: '2' });
    assert.deepEqual(startedWith({ [CONFIG_DIGESTS_ANNOTATION]: JSON.stringify(digests) }), digests);
    for (const text of ['', '[', 'null', '"x"', '{"a":1}', '[1]'])
      assert.deepEqual(startedWith({ [CONFIG_DIGESTS_ANNOTATION]: text }), {}, text);
    assert.deepEqual(startedWith({}), {});
  });

  test('ports and security of all listeners need a restart whatever Kafka calls them', () => {
    for (const key of ['listeners', 'ssl.keystore.location', 'sasl.enabled.mechanisms'])
      assert.deepEqual(change({ [key]: 'b' }, [entry(key, { file: 'a' })], { [key]: 'a' }), restart(key));
  });

  test('min.insync.replicas is set for all brokers, and an override of one is taken away', () => {
    const key = 'min.insync.replicas';
    const live = (values: Values) => [entry(key, values, { configType: TYPE.int })];
    assert.deepEqual(
      change({ [key]: '2' }, live({ clusterWide: '1', file: '2' })),
      dynamic({}, [], { [key]: '2' }),
    );
    assert.deepEqual(
      change({ [key]: '2' }, live({ perBroker: '1', file: '2' })),
      dynamic({}, [key], { [key]: '2' }),
    );
  });

  test('what is no longer wanted', async (t) => {
    await t.test('goes, where it was set at run time', () => {
      assert.deepEqual(change({}, [entry('a', { perBroker: '2', fallback: '1' })], {}), dynamic({}, ['a']));
    });
    await t.test('is set to its default, where the running file still has it', () => {
      const file = entry('a', { file: '2', fallback: '1' });
      assert.deepEqual(change({}, [file], { a: '2' }), dynamic({ a: '1' }));
      assert.deepEqual(
        change({}, [entry('a', { perBroker: '1', file: '2', fallback: '1' })], { a: '2' }),
        NONE,
      );
    });
    await t.test('needs a restart, where neither can be done', () => {
      assert.deepEqual(change({}, [entry('a', { file: '2' })], { a: '2' }), restart('a'));
      const fixed = entry('a', { file: '2', fallback: '1' }, { readOnly: true });
      assert.deepEqual(change({}, [fixed], { a: '2' }), restart('a'));
    });
    await t.test('stays, where it is not ours', () => {
      const made = entry('made.by.kafka', { file: '0', fallback: '-1' }, { readOnly: true });
      const others = entry('log.retention.ms', { clusterWide: '5', fallback: '1' });
      assert.deepEqual(change({}, [made, others], {}), NONE);
    });
  });

  test('throttles and places are never touched', () => {
    const live = [
      entry('leader.replication.throttled.rate', { perBroker: '1000' }),
      entry('broker.rack', { file: 'zone-b' }, { readOnly: true }),
    ];
    assert.deepEqual(change({ 'broker.rack': 'zone-a' }, live, {}), NONE);
  });

  const same: [name: string, type: keyof typeof TYPE, live: string, wanted: string, expected: boolean][] = [
    ['log.cleanup.policy', 'list', 'delete,compact', 'compact, delete', true],
    ['metric.reporters', 'list', 'a,b', 'a , b', true],
    ['metric.reporters', 'list', 'a,b', 'b,a', false],
    ['super.users', 'string', 'User:b;User:CN=a,O=x', 'User:CN=a,O=x;User:b', true],
    ['x', 'boolean', 'true', ' TRUE', true],
    ['x', 'long', '9223372036854775807', '+9223372036854775807', true],
    ['x', 'long', '9223372036854775807', '9223372036854775806', false],
    ['x', 'double', '0.5', '.50', true],
    ['x', 'string', 'a', 'A', false],
    ['x', 'string', '', ' ', true],
    ['advertised.listeners', 'list', 'B://h:2,A://192.0.2.7:1', 'A://@node-address@:1,B://h:2', true],
    ['advertised.listeners', 'list', 'A://192.0.2.7:1,B://h:3', 'A://@node-address@:1,B://h:2', false],
    ['advertised.listeners', 'list', 'A://:1', 'A://@node-address@:1', false],
  ];
  for (const [name, type, value, wanted, expected] of same) {
    test(`${name} (${type}): ${value} and ${wanted} are ${expected ? 'the same' : 'not the same'}`, () => {
      assert.equal(sameValue({ name, value, configType: TYPE[type] }, wanted), expected);
    });
  }

  test('from anywhere to anywhere: a few steps, and then nothing, and the values are the wanted ones', () => {
    const of = (...keys: string[]) =>
      fc.dictionary(fc.constantFrom(...keys), fc.constantFrom('0', '1', '2'), { noNullPrototype: true });
    const properties = of(...Object.keys(DEFAULTS), 'custom');
    const live = fc.record({
      file: properties,
      perBroker: of('u', 'v', 'min.insync.replicas'),
      clusterWide: of('min.insync.replicas'),
    });
    fc.assert(
      fc.property(live, fc.array(properties, { minLength: 1 }), (broker, wishes) => {
        for (const wanted of wishes) {
          settle(broker, wanted);
          for (const { name, value } of describeBroker(broker))
            assert.equal(value, wanted[name] ?? broker.clusterWide[name] ?? DEFAULTS[name], name);
        }
      }),
    );
  });
});
