/** Which port of the nodes a listener has, whoever else chooses at the same time. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { HOST_PORTS, hostPortsOf } from './ports.ts';

suite('ports of nodes', () => {
  const wish = {
    by: 'hostport',
    strategy: 'range',
    hostPattern: undefined,
    addressType: undefined,
    allowedSources: [],
  } as const;
  const seen = { cluster: { namespace: 'kafka', name: 'events' }, recorded: {}, services: [], others: new Set<number>(), range: HOST_PORTS }; // prettier-ignore

  test('of our own choice: free, in the range, and the same every time', () => {
    const taken = fc.uniqueArray(fc.integer({ min: HOST_PORTS.first, max: HOST_PORTS.first + 40 }), { maxLength: 41, size: 'max' }); // prettier-ignore
    const range = { first: HOST_PORTS.first, last: HOST_PORTS.first + 40 };
    fc.assert(
      fc.property(taken, fc.string(), (others, name) => {
        const cluster = { namespace: 'kafka', name };
        const asked = [{ name: 'a', wish }, { name: 'b', wish }]; // prettier-ignore
        const { hostPorts, waiting } = hostPortsOf(asked, {
          ...seen,
          cluster,
          range,
          others: new Set(others),
        });
        const given = [...hostPorts.values()];
        assert.equal(new Set(given).size, given.length);
        for (const port of given)
          assert.ok(port >= range.first && port <= range.last && !others.includes(port));
        assert.equal(given.length, Math.min(2, 41 - others.length));
        assert.equal(waiting.length, 2 - given.length);
        const again = hostPortsOf(asked, {
          ...seen,
          cluster,
          range,
          others: new Set(others),
          recorded: Object.fromEntries(hostPorts),
        });
        assert.deepEqual(again.hostPorts, hostPorts);
      }),
    );
  });

  test('a number that was given stays, whatever others have; another strategy gets another', () => {
    const recorded = { 'ext.range': 20_005 };
    const kept = hostPortsOf([{ name: 'ext', wish }], { ...seen, recorded, others: new Set([20_005]) });
    assert.deepEqual(kept, { hostPorts: new Map(Object.entries(recorded)), waiting: [] });
    const reserve = hostPortsOf([{ name: 'ext', wish: { ...wish, strategy: 'reserve' } }], {
      ...seen,
      recorded,
    });
    assert.deepEqual(reserve, { hostPorts: new Map(Object.entries(recorded)), waiting: ['ext'] });
  });
});
