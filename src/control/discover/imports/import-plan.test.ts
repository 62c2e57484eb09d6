import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { ObservedService } from '../observe.ts';
import { planImport } from './import-plan.ts';
import { importStatus } from './status.ts';
import { FQDN_ANNOTATION, derivedName, headlessName } from '../names.ts';
import type { EndpointSlice, Service, ServiceImport } from '../objects.ts';
import { nextStatus } from '../../kernel/status.ts';
import { service, serviceExport, slice } from '../../../../test/support/discover/objects.ts';

type ImportStatus = NonNullable<ServiceImport['status']>;

const web = { namespace: 'default', name: 'web' };
const settings = { local: 'west', apiVersion: 'multicluster.x-k8s.io/v1beta1' };
const ports = [{ name: 'http', port: 80, protocol: 'TCP' }];

function exported(
  cluster: string,
  since: string,
  spec: Service['spec'],
  slices: EndpointSlice[] = [],
  fqdn?: string,
) {
  const options = fqdn === undefined ? {} : { fqdn };
  return { cluster, export: serviceExport(since), service: service(spec, options), slices };
}

const seen = (...all: ObservedService['exported'][number][]): ObservedService => ({
  exported: all,
  imported: undefined,
  importedSlices: [],
});
const shapes = (objects: object[]) => objects.map((one) => (one as { kind: string }).kind);

suite('an imported service', () => {
  const endpoints = [{ addresses: ['10.1.0.1'] }, { addresses: ['10.1.0.2'], conditions: { ready: false } }];
  const east = exported('east', '2020', { clusterIP: '10.0.0.1', ports }, [slice(endpoints)], 'foo.xcc.test');

  test('has a Service without selector, with the name the exporter gave it, and slices that kube-proxy reads', () => {
    const { objects, clusters } = planImport(web, seen(east), undefined, settings);
    assert.deepEqual(shapes(objects), ['Service', 'ServiceImport', 'EndpointSlice']);
    assert.deepEqual(clusters, ['east']);
    const [derived, , copied] = objects as unknown as [Service, unknown, EndpointSlice];
    assert.equal(derived.metadata.annotations?.[FQDN_ANNOTATION], 'foo.xcc.test');
    assert.ok(!('selector' in derived.spec!));
    assert.deepEqual(derived.spec?.ports, ports);
    assert.equal(copied.metadata.labels?.['kubernetes.io/service-name'], derived.metadata.name);
    assert.deepEqual(copied.endpoints, [{ addresses: ['10.1.0.1'], conditions: { ready: true } }]);
  });

  test('has the address of that Service once there is one', () => {
    const derived = service({ clusterIPs: ['10.96.0.9'] });
    const objects = planImport(web, seen(east), derived, settings).objects as {
      kind: string;
      spec?: object;
    }[];
    const found = objects.find(({ kind }) => kind === 'ServiceImport');
    assert.deepEqual(found?.spec, {
      type: 'ClusterSetIP',
      ports,
      sessionAffinity: 'None',
      ips: ['10.96.0.9'],
      ipFamilies: ['IPv4'],
    });
  });

  test('has from the exported Service what concerns it as a whole, and so has the Service that stands for it', () => {
    const common = {
      ports: [{ name: 'http', port: 80, protocol: 'TCP', appProtocol: 'kubernetes.io/h2c' }],
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
      internalTrafficPolicy: 'Local',
      trafficDistribution: 'PreferClose',
    };
    const own = { type: 'NodePort', externalTrafficPolicy: 'Local', selector: { app: 'web' } };
    const port = { ...common.ports[0]!, targetPort: 'web', nodePort: 30_080 };
    const clusterIPs = ['10.0.0.1', 'fd00::1'];
    const full = exported('east', '2020', { ...common, ...own, clusterIPs, ports: [port] });
    const addressed = service({ clusterIPs: ['fd00:96::9', '10.96.0.9'] });
    const [derived, found] = planImport(web, seen(full), addressed, settings).objects as unknown as [
      { spec: object },
      { spec: object },
    ];
    assert.deepEqual(derived.spec, { type: 'ClusterIP', ...common, ipFamilyPolicy: 'PreferDualStack' });
    assert.deepEqual(found.spec, {
      type: 'ClusterSetIP',
      ...common,
      ips: ['fd00:96::9', '10.96.0.9'],
      ipFamilies: ['IPv6', 'IPv4'],
    });
  });

  test('whose traffic stays on a node leads to pods of this cluster there, and says so', () => {
    const placed = [
      { addresses: ['10.1.0.1'], nodeName: 'node-1', zone: 'a', hints: { forZones: [{ name: 'a' }] } },
    ];
    const spec = { clusterIP: '10.0.0.1', ports, internalTrafficPolicy: 'Local' };
    const [here, there] = ['west', 'east'].map((cluster) => exported(cluster, '2020', spec, [slice(placed)]));
    const derived = service({ clusterIPs: ['10.96.0.9'] });
    const { objects, ready } = planImport(web, seen(here!, there!), derived, settings);
    const endpointOf = (cluster: string) =>
      (objects as EndpointSlice[]).find(
        ({ metadata }) => metadata.labels?.['multicluster.kubernetes.io/source-cluster'] === cluster,
      )?.endpoints?.[0];
    const common = { addresses: ['10.1.0.1'], zone: 'a', conditions: { ready: true } };
    assert.deepEqual(endpointOf('west'), { ...common, nodeName: 'node-1' });
    assert.deepEqual(endpointOf('east'), common, 'a node of that name here is another one');
    assert.match(ready.message, /internalTrafficPolicy is Local/);
  });

  test('whose traffic stays near has the hints of the exporter, those about nodes only from here', () => {
    const hints = { forZones: [{ name: 'a' }], forNodes: [{ name: 'node-1' }] };
    const spec = { clusterIP: '10.0.0.1', ports, trafficDistribution: 'PreferSameNode' };
    const hintsFor = (cluster: string) => {
      const one = exported(cluster, '2020', spec, [slice([{ addresses: ['10.1.0.1'], hints }])]);
      return (planImport(web, seen(one), undefined, settings).objects[2] as EndpointSlice).endpoints?.[0]
        ?.hints;
    };
    assert.deepEqual(hintsFor('west'), hints);
    assert.deepEqual(hintsFor('east'), { forZones: hints.forZones });
  });

  test('does not take the name from the Service that has it where it came from', () => {
    const { objects } = planImport(web, seen(east), undefined, { ...settings, local: 'east' });
    assert.deepEqual(objects[0]?.metadata.annotations, {});
  });

  test('that is headless and has a name has a headless Service for it, unless the local Service has one', () => {
    const pets = (cluster: string, fqdn?: string) =>
      exported(cluster, '2020', { clusterIP: 'None', ports }, [slice(endpoints)], fqdn);
    const { objects } = planImport(web, seen(pets('east', 'pets.xcc.test')), undefined, settings);
    assert.deepEqual(shapes(objects), ['Service', 'ServiceImport', 'EndpointSlice']);
    const [derived, , copied] = objects as unknown as [Service, unknown, EndpointSlice];
    assert.equal(derived.metadata.annotations?.[FQDN_ANNOTATION], 'pets.xcc.test');
    assert.deepEqual(derived.spec, { type: 'ClusterIP', clusterIP: 'None', ports });
    assert.equal(copied.metadata.labels?.['kubernetes.io/service-name'], derived.metadata.name);
    assert.notEqual(derived.metadata.name, derivedName(web), 'it cannot become another sort of Service');
    const local = seen(pets('west', 'own.xcc.test'), pets('east', 'pets.xcc.test'));
    assert.ok(!shapes(planImport(web, local, undefined, settings).objects).includes('Service'));
  });

  test('that is headless and has no name has slices that belong to no Service', () => {
    const headless = exported('east', '2020', { clusterIP: 'None', ports }, [slice(endpoints)]);
    const { objects } = planImport(web, seen(headless), undefined, settings);
    assert.deepEqual(shapes(objects), ['ServiceImport', 'EndpointSlice']);
    assert.equal(objects[1]?.metadata.labels?.['kubernetes.io/service-name'], undefined);
  });

  test('has all its objects in the namespace for all imports, with the name that it has in its own', () => {
    const placed = { ...settings, importNamespace: 'cross-cluster-connectivity' };
    const { objects } = planImport(web, seen(east), undefined, placed);
    for (const { metadata } of objects) {
      assert.equal(metadata.namespace, 'cross-cluster-connectivity');
      assert.equal(metadata.labels?.['multicluster.kubernetes.io/service-name'], 'web');
    }
    const other = planImport({ ...web, namespace: 'other' }, seen(east), undefined, placed).objects;
    const names = [...objects, ...other].map(({ kind, metadata }) => `${kind} ${metadata.name}`);
    assert.equal(new Set(names).size, names.length);
  });

  test('leads to this cluster alone while it has a ready endpoint, if that is preferred', () => {
    const sources = (preferLocal: boolean, ready: boolean) => {
      const own = slice([{ addresses: ['10.2.0.1'], conditions: { ready } }]);
      const here = exported('west', '2021', { clusterIP: '10.0.0.2', ports }, [own]);
      const { objects, clusters } = planImport(web, seen(east, here), undefined, {
        ...settings,
        preferLocal,
      });
      assert.deepEqual(clusters, ['east', 'west'], 'both export it');
      return objects.flatMap(
        ({ metadata }) => metadata.labels?.['multicluster.kubernetes.io/source-cluster'] ?? [],
      );
    };
    assert.deepEqual(sources(true, true), ['west']);
    assert.deepEqual(sources(true, false).toSorted(), ['east', 'west']);
    assert.deepEqual(sources(false, true).toSorted(), ['east', 'west']);
  });

  test('that nobody exports any more leaves nothing', () => {
    const { objects, clusters } = planImport(web, seen(), undefined, settings);
    assert.deepEqual([objects, clusters], [[], []]);
  });

  test('has the labels and annotations that were exported, on the import and on nothing else', () => {
    const spec = {
      exportedLabels: { team: 'a' },
      exportedAnnotations: { [FQDN_ANNOTATION]: 'stolen.xcc.test' },
    };
    const labelled = { ...east, export: serviceExport('2020', spec) };
    const { objects } = planImport(web, seen(labelled), undefined, settings);
    const [derived, found, copied] = objects;
    assert.deepEqual(found?.metadata.labels, { team: 'a' });
    assert.deepEqual(found?.metadata.annotations, spec.exportedAnnotations);
    assert.equal(derived?.metadata.annotations?.[FQDN_ANNOTATION], 'foo.xcc.test');
    for (const other of [derived, copied]) assert.equal(other?.metadata.labels?.['team'], undefined);
  });

  test('owns its slices once it is there', () => {
    const live = {
      apiVersion: settings.apiVersion,
      kind: 'ServiceImport',
      metadata: { name: 'web', uid: 'u1' },
    };
    const { objects } = planImport(web, { ...seen(east), imported: live }, undefined, settings);
    assert.equal(objects[2]?.metadata.ownerReferences?.[0]?.uid, 'u1');
    assert.equal(
      planImport(web, seen(east), undefined, settings).objects[2]?.metadata.ownerReferences,
      undefined,
    );
  });

  test('asks for the families that all exporters have', () => {
    const six = exported('east', '2020', { clusterIPs: ['fd00::1'], ports });
    const { objects } = planImport(web, seen(six), undefined, settings);
    const { spec } = objects[0] as unknown as { spec: { ipFamilies?: string[] } };
    assert.deepEqual(spec.ipFamilies, ['IPv6']);
  });

  test('has a name that fits, however long its own is, and another in each namespace', () => {
    const long = { namespace: 'default', name: 'a'.repeat(63) };
    assert.ok(derivedName(long).length <= 63);
    assert.ok(headlessName(long).length <= 63);
    assert.notEqual(derivedName(web), derivedName({ ...web, namespace: 'other' }));
  });
});

test('the status of an import says that there are slices, and is not written for that alone', () => {
  const ready = {
    type: 'Ready',
    status: 'True',
    reason: 'Ready',
    message: 'the service can be used',
  } as const;
  const written = (old: ImportStatus | undefined, clusters: string[], at: number) => {
    const planned = { status: importStatus(old, clusters, ready), keepsRest: true, ownConditions: ['Ready'] };
    return nextStatus(old, { kind: 'ServiceImport', ...web, ...planned }, new Date(at)) as ImportStatus;
  };
  const first = written(undefined, ['east'], 0);
  assert.equal(first.endpointSliceObjects, 'Present');
  assert.deepEqual(first.clusters, [{ cluster: 'east' }]);
  assert.deepEqual(written(first, ['east'], 1), first);
  const pruned = structuredClone(first);
  delete pruned.endpointSliceObjects;
  assert.deepEqual(written(pruned, ['east'], 1), pruned);
  assert.equal(written(pruned, ['east', 'west'], 1).endpointSliceObjects, 'Present');
  const theirs = { ...ready, type: 'Theirs', lastTransitionTime: '2020' };
  assert.deepEqual(
    written({ ...first, conditions: [theirs] }, ['east'], 1).conditions?.map(({ type }) => type),
    ['Theirs', 'Ready'],
  );
});

test('a plan is the same in whatever order clusters are looked at, wants nothing twice, and leads only where it may', () => {
  const one = fc.record({
    cluster: fc.constantFrom('a', 'b', 'c', 'd'),
    since: fc.constantFrom('2020', '2021'),
    headless: fc.boolean(),
    nodePort: fc.option(fc.integer({ min: 30_000, max: 32_767 }), { nil: undefined }),
    nodes: fc.option(fc.uniqueArray(fc.ipV4(), { maxLength: 3 }), { nil: undefined }),
    pods: fc.uniqueArray(fc.tuple(fc.ipV4(), fc.boolean()), {
      maxLength: 3,
      selector: ([address]) => address,
    }),
  });
  const set = fc.uniqueArray(one, { selector: ({ cluster }) => cluster });
  fc.assert(
    fc.property(set, (list) => {
      const all = list.map(({ cluster, since, headless, nodePort, nodes, pods }) => {
        const port = { name: 'http', port: 80, ...(nodePort !== undefined && { nodePort }) };
        const endpoints = pods.map(([address, ready]) => ({ addresses: [address], conditions: { ready } }));
        const spec = { clusterIP: headless ? 'None' : '10.0.0.1', ports: [port] };
        const access = nodes && { nodePorts: { addresses: nodes, nodePortService: undefined } };
        return { ...exported(cluster, since, spec, [slice(endpoints)]), ...access };
      });
      const plan = planImport(web, seen(...all), undefined, settings);
      assert.deepEqual(
        new Set(planImport(web, seen(...all.toReversed()), undefined, settings).objects),
        new Set(plan.objects),
      );
      const names = plan.objects.map(({ kind, metadata }) => `${kind} ${metadata.name}`);
      assert.equal(new Set(names).size, names.length);
      const allowed = new Set(
        list.flatMap(({ nodes, pods }) => nodes ?? pods.filter(([, ready]) => ready).map(([ip]) => ip)),
      );
      const slices = plan.objects.filter(({ kind }) => kind === 'EndpointSlice') as EndpointSlice[];
      for (const { addresses } of slices.flatMap(({ endpoints }) => endpoints ?? []))
        assert.ok(addresses.every((address) => allowed.has(address)));
    }),
  );
});
