/** Which port of the nodes a listener has, whoever else chooses at the same time. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { HOST_PORTS, givenTo, hostPortsOf, refusedPorts } from './ports.ts';
import type { PortRange, SeenPorts } from './ports.ts';

const WISH = {
  by: 'hostport',
  strategy: 'range',
  hostPattern: undefined,
  addressType: undefined,
  allowedSources: [],
} as const;
const RESERVE = { ...WISH, strategy: 'reserve' } as const;
const SEEN: SeenPorts = {
  cluster: { namespace: 'kafka', name: 'events' },
  recorded: {},
  given: () => undefined,
  others: new Set(),
  used: new Set(),
  range: HOST_PORTS,
};

suite('ports of nodes', () => {
  test('of our own choice: free, in the range, used once they are written down, and the same from then on', () => {
    const taken = fc.uniqueArray(fc.integer({ min: HOST_PORTS.first, max: HOST_PORTS.first + 40 }), { maxLength: 41, size: 'max' }); // prettier-ignore
    const range = { first: HOST_PORTS.first, last: HOST_PORTS.first + 40 };
    fc.assert(
      fc.property(taken, fc.string(), (others, name) => {
        const asked = [
          { name: 'a', wish: WISH },
          { name: 'b', wish: WISH },
        ];
        const seen = { ...SEEN, cluster: { namespace: 'kafka', name }, range, others: new Set(others) };
        const { hostPorts, waiting } = hostPortsOf(asked, seen);
        const given = [...hostPorts.values()];
        assert.equal(new Set(given).size, given.length);
        for (const port of given)
          assert.ok(port >= range.first && port <= range.last && !others.includes(port));
        assert.equal(given.length, Math.min(2, 41 - others.length));
        assert.deepEqual(waiting, ['a', 'b'], 'nobody has seen yet whether another has chosen the same');
        const again = hostPortsOf(asked, { ...seen, recorded: Object.fromEntries(hostPorts) });
        assert.deepEqual(again.hostPorts, hostPorts);
        assert.equal(again.waiting.length, 2 - given.length);
      }),
    );
  });

  test('one that is used stays, whatever others have, and that is said; another strategy gets another', () => {
    const recorded = { 'ext.range': 20_005 };
    const [others, used] = [new Set([20_005]), new Set([20_005])];
    const kept = hostPortsOf([{ name: 'ext', wish: WISH }], { ...SEEN, recorded, others, used });
    assert.deepEqual([kept.hostPorts, kept.waiting], [new Map(Object.entries(recorded)), []]);
    assert.deepEqual(kept.shared, [{ name: 'ext', port: 20_005 }]);
    const reserve = hostPortsOf([{ name: 'ext', wish: RESERVE }], { ...SEEN, recorded });
    assert.deepEqual([reserve.hostPorts, reserve.waiting], [new Map(Object.entries(recorded)), ['ext']]);
  });

  test('one that brokers in other clusters are to have, too, is used when all of those keep it', () => {
    const asked = [{ name: 'ext', wish: RESERVE }];
    const seen = { ...SEEN, given: () => 31_000, isKeptElsewhere: () => false };
    const before = hostPortsOf(asked, seen);
    assert.deepEqual([before.hostPorts.size, before.waiting, before.returned], [0, ['ext'], []]);
    assert.deepEqual(before.proposed, new Map([['ext', 31_000]]));
    const kept = hostPortsOf(asked, { ...seen, isKeptElsewhere: (_, port) => port === 31_000 });
    assert.deepEqual([kept.hostPorts, kept.waiting], [new Map([['ext', 31_000]]), []]);
    const message =
      'cluster "east": Service kafka/x: Service "x" is invalid: spec.ports[0].nodePort: Invalid value: 31000: provided port is already allocated';
    const others = new Set(refusedPorts([[{ message }], [{ message: 'cluster "west": no' }]]));
    assert.deepEqual(others, new Set([31_000]));
    const refused = hostPortsOf(asked, { ...seen, others });
    assert.deepEqual([refused.returned, refused.proposed.size], [['ext'], 0], 'it goes back, for another');
  });

  test('a number of the API server that another cluster still claims goes back, for another', () => {
    const service = (nodePort?: number) => ({
      apiVersion: 'v1',
      kind: 'Service',
      metadata: { name: 'events-kafka-ext-hostport', namespace: 'kafka' },
      spec: { ports: [nodePort === undefined ? {} : { nodePort }] },
    });
    const seen = (nodePort?: number) =>
      hostPortsOf([{ name: 'ext', wish: RESERVE }], {
        ...SEEN,
        given: givenTo('events', [service(nodePort)]),
        others: new Set([30_001]),
      });
    const claimed = seen(30_001);
    assert.deepEqual([claimed.returned, claimed.waiting, claimed.hostPorts.size], [['ext'], ['ext'], 0]);
    const without = seen();
    assert.deepEqual([without.returned, without.waiting], [[], ['ext']]);
    const another = seen(30_002);
    assert.deepEqual([another.returned, another.waiting, another.hostPorts.get('ext')], [[], [], 30_002]);
  });
});

/** Anchors of two clusters at one API server, in the order in which they were written. */
interface Write {
  by: number;
  recorded: Record<string, number>;
}

/** One that decides about a cluster, by what it has seen of the log so far. */
interface Decider {
  name: string;
  seen: number;
  written: Record<string, number>;
  using: number | undefined;
}

function createModel(range: PortRange, names: readonly string[]) {
  const log: Write[] = [];
  const deciders = names.map((name): Decider => ({ name, seen: 0, written: {}, using: undefined }));

  /** By its view; a plan that is made from an anchor which has changed since is refused. */
  function plan(me: number): boolean {
    const own = deciders[me]!;
    const view = log.slice(0, own.seen);
    const recorded = view.findLast(({ by }) => by === me)?.recorded ?? {};
    if (JSON.stringify(recorded) !== JSON.stringify(own.written)) return false;
    const others = deciders.flatMap((_, by) =>
      by === me ? [] : Object.values(view.findLast((write) => write.by === by)?.recorded ?? {}),
    );
    const used = new Set(own.using === undefined ? [] : [own.using]);
    const cluster = { namespace: 'kafka', name: own.name };
    const seen = { ...SEEN, cluster, recorded, others: new Set(others), used, range };
    const { hostPorts, waiting } = hostPortsOf([{ name: 'ext', wish: WISH }], seen);
    const next = Object.fromEntries(hostPorts);
    const isNews = JSON.stringify(next) !== JSON.stringify(recorded);
    if (isNews) {
      log.push({ by: me, recorded: next });
      own.written = next;
    }
    if (waiting.length === 0) own.using = next['ext.range'];
    return isNews;
  }

  return {
    deciders,
    plan,
    watch(me: number) {
      deciders[me]!.seen = Math.min(deciders[me]!.seen + 1, log.length);
    },
    catchUp(me: number) {
      deciders[me]!.seen = log.length;
    },
  };
}

suite('ports that several choose at the same time', () => {
  test('are never used by two of them, and all get one, in any order of what they see and do', () => {
    const range = { first: 20_000, last: 20_004 };
    const step = fc.tuple(fc.nat({ max: 2 }), fc.constantFrom('plan', 'watch'));
    const names = fc.uniqueArray(fc.string({ minLength: 1, maxLength: 3 }), { minLength: 3, maxLength: 3 });
    let clashes = 0;
    fc.assert(
      fc.property(names, fc.array(step, { maxLength: 60, size: 'max' }), (called, steps) => {
        const model = createModel(range, called);
        const check = () => {
          const used = model.deciders.flatMap(({ using }) => using ?? []);
          assert.equal(new Set(used).size, used.length, `used by two: ${used.join()}`);
          const written = model.deciders.flatMap((one) => Object.values(one.written));
          if (new Set(written).size < written.length) clashes++;
        };
        for (const [me, what] of steps) {
          if (what === 'plan') model.plan(me);
          else model.watch(me);
          check();
        }
        for (let round = 0; round < 10; round++)
          for (const me of model.deciders.keys()) {
            model.catchUp(me);
            model.plan(me);
            check();
          }
        assert.ok(model.deciders.every(({ using }) => using !== undefined));
      }),
      { numRuns: 500 },
    );
    assert.ok(clashes > 0, 'some have chosen the same');
  });
});
