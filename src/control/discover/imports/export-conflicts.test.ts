/** The rules of KEP-1645 for exports that disagree, one test a rule. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { exportConditions } from './status.ts';
import { invalidExport, resolveExports } from './export-conflicts.ts';
import type { Exported } from './export-conflicts.ts';
import type { Service, ServiceExport } from '../objects.ts';
import { service, serviceExport } from '../../../../test/support/discover/objects.ts';

type Spec = NonNullable<Service['spec']>;

/** West exported it first. */
function pair(
  west: Spec,
  east: Spec,
  exports: { west?: ServiceExport['spec']; east?: ServiceExport['spec'] } = {},
) {
  const common = { clusterIP: '10.0.0.1', ports: [{ name: 'http', port: 80 }] };
  const one = (cluster: string, since: string, spec: Spec, exported: ServiceExport['spec']): Exported => ({
    cluster,
    export: serviceExport(since, exported),
    service: service({ ...common, ...spec }),
  });
  return [one('west', '2020', west, exports.west), one('east', '2021', east, exports.east)] as const;
}

const conflictOf = (one: Exported, all: readonly Exported[]) =>
  exportConditions(one, all).find(({ type }) => type === 'Conflict')!;

/** All exports of the service are told, and it is this; what counts is returned. */
function expectConflict(all: readonly [Exported, Exported], reason: string) {
  for (const one of all) {
    const { status, reason: reported, message } = conflictOf(one, all);
    assert.equal(`${status} ${reported}`, `True ${reason}`);
    assert.match(message, /the oldest export, of cluster west, is used; different in east/);
  }
  return resolveExports(all)!;
}

suite('exports that disagree', () => {
  test('about the type: the other type takes no part', () => {
    const { type, clusters } = expectConflict(pair({}, { clusterIP: 'None' }), 'TypeConflict');
    assert.deepEqual([type, clusters], ['ClusterSetIP', ['west']]);
  });

  test('about ports: the union counts, by name first and then by number and protocol', () => {
    const ports = [
      { name: 'http', port: 8080 },
      { name: 'web', port: 80 },
      { name: 'dns', port: 80, protocol: 'UDP' },
    ];
    const resolved = expectConflict(pair({}, { ports }), 'PortConflict');
    assert.deepEqual(
      resolved.ports.map(({ name, port, protocol }) => `${name} ${port}/${protocol}`),
      ['http 80/TCP', 'dns 80/UDP'],
    );
  });

  test('about a port that only one of them has: it is there, and they are told', () => {
    const ports = [
      { name: 'http', port: 80 },
      { name: 'admin', port: 9000 },
    ];
    assert.equal(expectConflict(pair({}, { ports }), 'PortConflict').ports.length, 2);
  });

  test('about a port without a name: a Service cannot have another beside it, so that the oldest counts', () => {
    const ports = [
      { name: 'http', port: 80 },
      { name: 'admin', port: 9000 },
    ];
    const nameless = [{ port: 80 }];
    const portsOf = (west: Spec['ports'], east: Spec['ports']) =>
      expectConflict(pair({ ports: west! }, { ports: east! }), 'PortConflict').ports.map(({ port }) => port);
    assert.deepEqual(portsOf(nameless, ports), [80]);
    assert.deepEqual(portsOf(ports, [{ port: 8080 }]), [80, 9000]);
  });

  test('about session affinity, and how long it lasts', () => {
    const { sessionAffinity } = expectConflict(
      pair({ sessionAffinity: 'ClientIP' }, {}),
      'SessionAffinityConflict',
    );
    assert.equal(sessionAffinity, 'ClientIP');
    const seconds = (timeoutSeconds: number) => ({ sessionAffinityConfig: { clientIP: { timeoutSeconds } } });
    const resolved = expectConflict(pair(seconds(1), seconds(2)), 'SessionAffinityConfigConflict');
    assert.deepEqual(resolved.sessionAffinityConfig, { clientIP: { timeoutSeconds: 1 } });
  });

  test('about the internal traffic policy', () => {
    const all = pair({ internalTrafficPolicy: 'Local' }, {});
    assert.equal(expectConflict(all, 'InternalTrafficPolicyConflict').internalTrafficPolicy, 'Local');
    const same = pair({}, { internalTrafficPolicy: 'Cluster' });
    assert.equal(conflictOf(same[0], same).status, 'False', 'what is not said is Cluster');
  });

  test('about the distribution of traffic', () => {
    const all = pair({ trafficDistribution: 'PreferClose' }, {});
    assert.equal(expectConflict(all, 'TrafficDistributionConflict').trafficDistribution, 'PreferClose');
  });

  test('about exported labels and annotations: those of the oldest count as a whole', () => {
    const labels = pair(
      {},
      {},
      { west: { exportedLabels: { a: '1' } }, east: { exportedLabels: { b: '2' } } },
    );
    assert.deepEqual(expectConflict(labels, 'LabelsConflict').labels, { a: '1' });
    const annotations = pair({}, {}, { east: { exportedAnnotations: { b: '2' } } });
    assert.deepEqual(expectConflict(annotations, 'AnnotationsConflict').annotations, {});
  });

  test('about their name: that of the oldest with one is used, and one without a name contradicts nobody', () => {
    const named = (...names: (string | undefined)[]) => {
      const [west, east] = pair({}, {});
      const all = [west, east].map((one, i) => ({
        ...one,
        service: service(one.service?.spec, names[i] === undefined ? {} : { fqdn: names[i] }),
      }));
      return all as [Exported, Exported];
    };
    assert.equal(expectConflict(named('a.xcc.test', 'b.xcc.test'), 'FQDNConflict').fqdn, 'a.xcc.test');
    for (const names of [
      ['a.xcc.test', 'A.xcc.test.'],
      [undefined, 'A.xcc.test.'],
    ]) {
      const all = named(...names);
      assert.equal(conflictOf(all[0], all).status, 'False');
      assert.equal(resolveExports(all)?.fqdn, names[0] ?? names[1]);
    }
  });

  test('about families, so that an address would lead to some of the clusters only', () => {
    const all = pair({ clusterIPs: ['10.0.0.1'] }, { clusterIPs: ['fd00::1'] });
    assert.deepEqual(expectConflict(all, 'IPFamilyConflict').ipFamilies, ['IPv4']);
  });

  test('not if there is a family that all have: it is taken', () => {
    const all = pair({ clusterIPs: ['fd00::1', '10.0.0.1'] }, { clusterIPs: ['10.0.0.2'] });
    assert.deepEqual(resolveExports(all)?.ipFamilies, ['IPv4']);
    assert.equal(conflictOf(all[0], all).reason, 'NoConflicts');
  });

  test('about several things: all reasons in one condition', () => {
    const all = pair({ sessionAffinity: 'ClientIP' }, { ports: [{ name: 'http', port: 81 }] });
    assert.equal(conflictOf(all[1], all).reason, 'PortConflict,SessionAffinityConflict');
  });

  test('not at all, whatever order labels are written in', () => {
    const west = { exportedLabels: { a: '1', b: '2' } };
    const east = { exportedLabels: { b: '2', a: '1' } };
    const all = pair({}, {}, { west, east });
    assert.equal(conflictOf(all[0], all).status, 'False');
  });
});

test('an export of what cannot be exported says so, and nothing else', () => {
  const missing = { cluster: 'west', export: serviceExport('2020'), service: undefined };
  const alias = { ...missing, service: service({ type: 'ExternalName' }) };
  const said = (one: Exported) =>
    exportConditions(one, [one]).map(({ type, status, reason }) => `${type} ${status} ${reason}`);
  assert.deepEqual(said(missing), ['Valid False NoService']);
  assert.deepEqual(said(alias), ['Valid False InvalidServiceType']);
  const fine = { ...missing, service: service({ clusterIP: '10.0.0.1' }) };
  assert.deepEqual(said(fine), [
    'Valid True Valid',
    'Ready True Exported',
    'Conflict False NoConflicts',
    'NamespaceExists True NamespaceFound',
  ]);
});

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
