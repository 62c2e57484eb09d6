import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { invalidExport, resolveExports } from './export-conflicts.ts';
import type { Exported } from './export-conflicts.ts';
import type { Service } from '../objects.ts';
import { service, serviceExport } from '../../../../test/support/discover/objects.ts';

const exported = (cluster: string, since: string, spec: Service['spec']): Exported => ({
  cluster,
  export: serviceExport(since),
  service: service(spec),
});
const http = { name: 'http', port: 80, protocol: 'TCP' };

suite('a service exported by several clusters', () => {
  test('is what the oldest export says; another kind of service does not take part', () => {
    const resolved = resolveExports([
      exported('east', '2021', { clusterIP: 'None' }),
      exported('west', '2020', { clusterIP: '10.0.0.1', ports: [http] }),
    ]);
    assert.equal(resolved?.type, 'ClusterSetIP');
    assert.deepEqual(resolved?.clusters, ['west']);
    assert.deepEqual(
      resolved?.conflicts.map(({ clusters, reason }) => [...clusters, reason]),
      [['east', 'TypeConflict']],
    );
  });

  test('has the ports of all; where two mean different things by one, the oldest counts', () => {
    const resolved = resolveExports([
      exported('west', '2020', { ports: [http] }),
      exported('east', '2021', {
        ports: [
          { ...http, port: 8080 },
          { name: 'admin', port: 9000 },
        ],
      }),
    ]);
    assert.deepEqual(resolved?.ports, [http, { name: 'admin', port: 9000, protocol: 'TCP' }]);
    assert.deepEqual(
      resolved?.conflicts.map(({ clusters, reason }) => [...clusters, reason]),
      [['east', 'PortConflict']],
    );
    assert.deepEqual(resolved?.clusters, ['west', 'east']);
  });

  test('without a Service, or of a Service that is only an alias, is not exported', () => {
    const missing = { cluster: 'west', export: serviceExport('2020'), service: undefined };
    const alias = exported('east', '2020', { type: 'ExternalName' });
    assert.equal(invalidExport(missing)?.reason, 'NoService');
    assert.equal(invalidExport(alias)?.reason, 'InvalidServiceType');
    assert.equal(resolveExports([missing, alias]), undefined);
  });

  test('is the same in whatever order the clusters are looked at', () => {
    const one = fc.record({
      cluster: fc.constantFrom('a', 'b', 'c', 'd'),
      since: fc.constantFrom('2020', '2021'),
      headless: fc.boolean(),
      port: fc.integer({ min: 1, max: 3 }),
    });
    const set = fc.uniqueArray(one, { selector: ({ cluster }) => cluster });
    fc.assert(
      fc.property(set, (list) => {
        const all = list.map(({ cluster, since, headless, port }) =>
          exported(cluster, since, {
            clusterIP: headless ? 'None' : '10.0.0.1',
            ports: [{ name: 'x', port }],
          }),
        );
        assert.deepEqual(resolveExports(all), resolveExports(all.toReversed()));
      }),
    );
  });
});
