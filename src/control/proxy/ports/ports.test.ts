import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { allocatePorts, NOTHING_ALLOCATED, QUARANTINE_MS } from './ports.ts';
import type { Allocation, Block, PortRequest } from './ports.ts';

const RANGE = { first: 9100, last: 9199 };

/** Distinct owners with blocks of one to six ports. */
const claimsArbitrary = fc.uniqueArray(
  fc.record({ owner: fc.stringMatching(/^[a-h]$/), size: fc.integer({ min: 1, max: 6 }) }),
  { selector: (request) => request.owner },
);

/** A history: sets of requests, each some time after the one before. */
const historyArbitrary = fc.array(
  fc.record({ requests: claimsArbitrary, afterMs: fc.integer({ min: 0, max: QUARANTINE_MS * 2 }) }),
  { minLength: 1, maxLength: 12 },
);

function portsOf({ start, size }: Block): number[] {
  return Array.from({ length: size }, (_, i) => start + i);
}

const holding = (held: Record<string, Block>): Allocation => ({ held, released: [] });

/** Lives through a history and hands every step to `check`. */
function live(
  history: { requests: PortRequest[]; afterMs: number }[],
  check: (step: {
    before: Allocation;
    after: Allocation;
    requests: PortRequest[];
    now: number;
    refused: string[];
  }) => void,
): void {
  let before: Allocation = NOTHING_ALLOCATED;
  let now = 0;
  for (const { requests, afterMs } of history) {
    now += afterMs;
    const { allocation, refused } = allocatePorts(requests, before, RANGE, now);
    check({ before, after: allocation, requests, now, refused });
    before = allocation;
  }
}

suite('port blocks', () => {
  test('the bootstrap port of the first request is the first port', () => {
    const { allocation } = allocatePorts([{ owner: 'a', size: 4 }], NOTHING_ALLOCATED, RANGE, 0);
    assert.deepEqual(allocation, holding({ a: { start: 9100, size: 4 } }));
  });

  test('a cluster that gains a node grows in place if there is room, and moves if not', () => {
    const alone = allocatePorts(
      [{ owner: 'a', size: 3 }],
      holding({ a: { start: 9100, size: 2 } }),
      RANGE,
      0,
    );
    assert.deepEqual(alone.allocation.held.a, { start: 9100, size: 3 });
    const requests = [
      { owner: 'a', size: 3 },
      { owner: 'b', size: 2 },
    ];
    const walled = holding({ a: { start: 9100, size: 2 }, b: { start: 9102, size: 2 } });
    assert.deepEqual(allocatePorts(requests, walled, RANGE, 7).allocation, {
      held: { a: { start: 9104, size: 3 }, b: { start: 9102, size: 2 } },
      released: [{ owner: 'a', start: 9100, size: 2, at: 7 }],
    });
  });

  test('a full range refuses the newcomer and nobody else', () => {
    const known = holding({ a: { start: 9100, size: 99 } });
    const requests = [
      { owner: 'a', size: 99 },
      { owner: 'b', size: 2 },
    ];
    assert.deepEqual(allocatePorts(requests, known, RANGE, 0), { allocation: known, refused: ['b'] });
  });

  test('an owner that returns within the quarantine gets its own block back', () => {
    const gone = allocatePorts([], holding({ a: { start: 9120, size: 2 } }), RANGE, 1000);
    assert.deepEqual(gone.allocation, {
      held: {},
      released: [{ owner: 'a', start: 9120, size: 2, at: 1000 }],
    });
    const back = allocatePorts([{ owner: 'a', size: 2 }], gone.allocation, RANGE, 2000);
    assert.deepEqual(back.allocation, holding({ a: { start: 9120, size: 2 } }));
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

  test('property: there are never more blocks than may be written down', () => {
    const range = { ...RANGE, maxBlocks: 4 };
    fc.assert(
      fc.property(historyArbitrary, (history) => {
        let known: Allocation = NOTHING_ALLOCATED;
        let now = 0;
        for (const { requests, afterMs } of history) {
          now += afterMs;
          const { allocation, refused } = allocatePorts(requests, known, range, now);
          const { held, released } = allocation;
          assert.ok(Object.keys(held).length + released.length <= 4);
          for (const { owner } of requests) assert.ok(owner in held || refused.includes(owner));
          known = allocation;
        }
      }),
    );
  });

  test('property: who comes or goes never moves another', () => {
    fc.assert(
      fc.property(historyArbitrary, (history) =>
        live(history, ({ before, after, requests }) => {
          for (const { owner, size } of requests) {
            const held = before.held[owner];
            if (held && held.size >= size) assert.deepEqual(after.held[owner], held);
          }
        }),
      ),
    );
  });

  test('property: a port that changes hands was free for the whole quarantine', () => {
    fc.assert(
      fc.property(historyArbitrary, (history) => {
        const lastUse = new Map<number, { owner: string; freedAt: number | undefined }>();
        live(history, ({ after, now }) => {
          const inUse = new Map(
            Object.entries(after.held).flatMap(([owner, block]) =>
              portsOf(block).map((port) => [port, owner]),
            ),
          );
          for (const [port, use] of lastUse) if (inUse.get(port) !== use.owner) use.freedAt ??= now;
          for (const [port, owner] of inUse) {
            const last = lastUse.get(port);
            if (last && last.owner !== owner) assert.ok(now - last.freedAt! >= QUARANTINE_MS, `port ${port}`);
            lastUse.set(port, { owner, freedAt: undefined });
          }
        });
      }),
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
