import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { nodeIdsOf } from '../../../resources/common/node-ids.ts';
import { allocationOf, portBlocksOf } from './blocks.ts';
import { allocatePorts, NOTHING_ALLOCATED, QUARANTINE_MS, nextFreeAt } from './ports.ts';
import type { Allocation, Block, HeldBlock, NodePorts, PortRange, PortRequest } from './ports.ts';

const RANGE = { first: 9100, last: 9199 };

/** Distinct owners, each with some node ids; a few keep what they have. */
const requestsArbitrary: fc.Arbitrary<PortRequest[]> = fc.uniqueArray(
  fc.record({
    owner: fc.stringMatching(/^[a-h]$/),
    nodes: fc.option(fc.uniqueArray(fc.integer({ min: 0, max: 9 }), { minLength: 1, maxLength: 6 }), {
      freq: 8,
      nil: undefined,
    }),
  }),
  { selector: (request) => request.owner },
);

/** A history: sets of requests, each some whole seconds after the one before, as they are written down. */
const historyArbitrary = fc.array(
  fc.record({
    requests: requestsArbitrary,
    afterMs: fc.integer({ min: 0, max: (QUARANTINE_MS * 2) / 1000 }).map((seconds) => seconds * 1000),
  }),
  { minLength: 1, maxLength: 12 },
);

const portsOf = ({ start, size }: Block) => Array.from({ length: size }, (_, i) => start + i);

/** Which node has which port of a block. */
function nodesOf({ start, nodes }: HeldBlock): Map<number, number> {
  const there = nodes.filter(({ at }) => at === undefined);
  return new Map(
    there.flatMap((range) =>
      nodeIdsOf([range]).map((node) => [node, start + 1 + range.offset + node - range.start]),
    ),
  );
}

const upTo = (end: number): NodePorts[] => [{ start: 0, end, offset: 0 }];
const ids = (count: number) => Array.from({ length: count }, (_, id) => id);
const holding = (held: Record<string, HeldBlock>): Allocation => ({ held, released: [] });
const ask = (owner: string, nodes: readonly number[] | undefined) => ({ owner, nodes });

interface Step {
  before: Allocation;
  after: Allocation;
  requests: PortRequest[];
  now: number;
  refused: string[];
}

/** Lives through a history and hands every step to `check`. */
function live(
  history: { requests: PortRequest[]; afterMs: number }[],
  check: (step: Step) => void,
  range: PortRange = RANGE,
): void {
  let before: Allocation = NOTHING_ALLOCATED;
  let now = 0;
  for (const { requests, afterMs } of history) {
    now += afterMs;
    const { allocation, refused } = allocatePorts(requests, before, range, now);
    check({ before, after: allocation, requests, now, refused });
    before = allocation;
  }
}

suite('port blocks', () => {
  test('the bootstrap port of the first request is the first port, and some are to spare', () => {
    const { allocation } = allocatePorts([ask('a', [0, 1, 2])], NOTHING_ALLOCATED, RANGE, 0);
    assert.deepEqual(allocation, holding({ a: { start: 9100, size: 8, nodes: upTo(2) } }));
    const shared = allocatePorts([ask('a', [])], NOTHING_ALLOCATED, RANGE, 0);
    assert.deepEqual(shared.allocation, holding({ a: { start: 9100, size: 1, nodes: [] } }));
  });

  test('a cluster that loses a node in the middle keeps the ports of the others, and that one stays empty', () => {
    const known = holding({ a: { start: 9100, size: 8, nodes: upTo(2) } });
    const lost = allocatePorts([ask('a', [0, 2])], known, RANGE, 1000).allocation;
    const nodes = [
      { start: 0, end: 0, offset: 0 },
      { start: 1, end: 1, offset: 1, at: 1000 },
      { start: 2, end: 2, offset: 2 },
    ];
    assert.deepEqual(lost.held.a, { start: 9100, size: 8, nodes });
    assert.equal(nextFreeAt(lost), 1000 + QUARANTINE_MS);
    const another = allocatePorts([ask('a', [0, 2, 3])], lost, RANGE, 2000).allocation;
    assert.equal(nodesOf(another.held.a!).get(3), 9104);
    const back = allocatePorts([ask('a', [0, 1, 2])], lost, RANGE, 2000).allocation;
    assert.deepEqual(back, known);
    const later = allocatePorts([ask('a', [0, 2, 3])], lost, RANGE, 1000 + QUARANTINE_MS).allocation;
    assert.equal(nodesOf(later.held.a!).get(3), 9102);
  });

  test('growing takes the spare ports, then those behind, and moves only where others are', () => {
    let known = allocatePorts([ask('a', ids(3))], NOTHING_ALLOCATED, RANGE, 0).allocation;
    const wall = { start: 9116, size: 8, nodes: upTo(2) };
    for (const count of [5, 7, 15]) {
      known = allocatePorts([ask('a', ids(count)), ask('b', ids(3))], known, RANGE, 7).allocation;
      assert.deepEqual(known.held.a, { start: 9100, size: count > 7 ? 16 : 8, nodes: upTo(count - 1) });
      known = { ...known, held: { ...known.held, b: wall } };
    }
    assert.deepEqual(allocatePorts([ask('a', ids(16)), ask('b', ids(3))], known, RANGE, 7).allocation, {
      held: { a: { start: 9124, size: 24, nodes: upTo(15) }, b: wall },
      released: [{ start: 9100, size: 16, nodes: [], owner: 'a', at: 7 }],
    });
  });

  test('a full range refuses the newcomer and nobody else', () => {
    const known = holding({ a: { start: 9100, size: 99, nodes: upTo(97) } });
    const requests = [ask('a', ids(98)), ask('b', [0])];
    assert.deepEqual(allocatePorts(requests, known, RANGE, 0), { allocation: known, refused: ['b'] });
  });

  test('one that cannot grow keeps the ports of the nodes that stay, and gets those of others in time', () => {
    const known = holding({ a: { start: 9100, size: 100, nodes: upTo(98) } });
    const requests = [ask('a', [...ids(98), 200])];
    const first = allocatePorts(requests, known, RANGE, 0);
    assert.deepEqual(first.refused, ['a']);
    assert.deepEqual([...nodesOf(first.allocation.held.a!).keys()], ids(98));
    const later = allocatePorts(requests, first.allocation, RANGE, QUARANTINE_MS);
    assert.deepEqual(later.refused, []);
    assert.equal(nodesOf(later.allocation.held.a!).get(200), 9199);
  });

  test('an owner that returns within the quarantine gets its own block back, and each node its port', () => {
    const known = holding({ a: { start: 9120, size: 8, nodes: upTo(1) } });
    const gone = allocatePorts([], known, RANGE, 1000).allocation;
    const nodes = [{ start: 0, end: 1, offset: 0, at: 1000 }];
    assert.deepEqual(gone, {
      held: {},
      released: [{ owner: 'a', start: 9120, size: 8, nodes, at: 1000 }],
    });
    assert.deepEqual(allocatePorts([ask('a', [0, 1])], gone, RANGE, 2000).allocation, known);
    const other = allocatePorts([ask('a', [1, 2])], gone, RANGE, 2000).allocation;
    assert.deepEqual(
      [...nodesOf(other.held.a!)],
      [
        [1, 9122],
        [2, 9123],
      ],
    );
  });

  test('property: blocks never overlap and lie in the range', () => {
    fc.assert(
      fc.property(historyArbitrary, (history) =>
        live(history, ({ after }) => {
          const ports = Object.values(after.held).flatMap(portsOf);
          assert.equal(new Set(ports).size, ports.length);
          assert.ok(ports.every((port) => port >= RANGE.first && port <= RANGE.last));
        }),
      ),
    );
  });

  test('property: every node of whoever is not refused has a port in its block', () => {
    fc.assert(
      fc.property(historyArbitrary, (history) =>
        live(history, ({ after, requests, refused }) => {
          for (const { owner, nodes } of requests) {
            if (!nodes || refused.includes(owner)) continue;
            const has = nodesOf(after.held[owner]!);
            assert.deepEqual(new Set(has.keys()), new Set(nodes));
            const inside = new Set(portsOf(after.held[owner]!).slice(1));
            assert.ok([...has.values()].every((port) => inside.has(port)));
          }
        }),
      ),
    );
  });

  test('property: there is never more than may be written down, and as it is written it is read', () => {
    const range = { ...RANGE, maxBlocks: 4, maxNodeRanges: 8 };
    fc.assert(
      fc.property(historyArbitrary, (history) => {
        live(
          history,
          ({ after, requests, refused, now }) => {
            const blocks = [...Object.values(after.held), ...after.released];
            assert.ok(blocks.length <= 4 && blocks.flatMap(({ nodes }) => nodes).length <= 8);
            for (const { owner, nodes } of requests)
              assert.ok(!nodes || owner in after.held || refused.includes(owner));
            const written = portBlocksOf(named(after));
            assert.equal(written.length, blocks.length);
            assert.deepEqual(portBlocksOf(allocationOf(written, [], now)), written);
          },
          range,
        );
      }),
    );
  });

  test('property: who comes or goes never moves another', () => {
    fc.assert(
      fc.property(historyArbitrary, (history) =>
        live(history, ({ before, after, requests }) => {
          for (const { owner, nodes } of requests) {
            const held = before.held[owner];
            if (!held) continue;
            const stays = !nodes || nodes.every((node) => nodesOf(held).has(node));
            if (stays)
              assert.deepEqual([after.held[owner]?.start, after.held[owner]?.size], [held.start, held.size]);
          }
        }),
      ),
    );
  });

  test('property: a node that stays keeps its place, and its port too unless its block has to move', () => {
    fc.assert(
      fc.property(historyArbitrary, (history) =>
        live(history, ({ before, after, requests }) => {
          for (const { owner, nodes } of requests) {
            const [was, is] = [before.held[owner], after.held[owner]];
            if (!was || !is) continue;
            const [old, now] = [nodesOf(was), nodesOf(is)];
            for (const node of nodes ?? old.keys())
              if (old.has(node)) assert.equal(now.get(node)! - is.start, old.get(node)! - was.start);
          }
        }),
      ),
    );
  });

  test('property: a port that changes hands, to another owner or another node, was free for the whole quarantine', () => {
    fc.assert(
      fc.property(historyArbitrary, (history) => {
        const lastUse = new Map<number, { owner: string; freedAt: number | undefined }>();
        live(history, ({ after, now }) => {
          const inUse = new Map(
            Object.entries(after.held).flatMap(([owner, block]) => [
              [block.start, owner] as const,
              ...[...nodesOf(block)].map(([node, port]) => [port, `${owner} ${node}`] as const),
            ]),
          );
          for (const [port, use] of lastUse) if (inUse.get(port) !== use.owner) use.freedAt ??= now;
          for (const [port, owner] of inUse) {
            const last = lastUse.get(port);
            if (last && last.owner !== owner) assert.ok(now - last.freedAt! >= QUARANTINE_MS, `port ${port}`);
            lastUse.set(port, { owner, freedAt: undefined });
          }
        });
      }),
      { numRuns: 500 },
    );
  });

  test('property: allocating again what is allocated changes nothing', () => {
    fc.assert(
      fc.property(historyArbitrary, (history) =>
        live(history, ({ after, requests, now, refused }) => {
          assert.deepEqual(allocatePorts(requests, after, RANGE, now), { allocation: after, refused });
        }),
      ),
    );
  });
});

/** With owners as they are in a proxy. */
function named({ held, released }: Allocation): Allocation {
  return {
    held: Object.fromEntries(Object.entries(held).map(([owner, block]) => [`${owner}/in`, block])),
    released: released.map((block) => ({ ...block, owner: `${block.owner}/in` })),
  };
}
