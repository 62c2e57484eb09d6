import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import type { SeenService } from './exported.ts';
import { derivedName, planImport } from './import-plan.ts';
import { FQDN_ANNOTATION } from './names.ts';
import type { EndpointSlice, Service } from './objects.ts';
import { service, serviceExport, slice } from './testing.ts';

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

const seen = (...all: SeenService['exported'][number][]): SeenService => ({
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

  test('does not take the name from the Service that has it where it came from', () => {
    const { objects } = planImport(web, seen(east), undefined, { ...settings, local: 'east' });
    assert.deepEqual(objects[0]?.metadata.annotations, {});
  });

  test('that is headless has slices that belong to no Service', () => {
    const headless = exported('east', '2020', { clusterIP: 'None', ports }, [slice(endpoints)]);
    const { objects } = planImport(web, seen(headless), undefined, settings);
    assert.deepEqual(shapes(objects), ['ServiceImport', 'EndpointSlice']);
    assert.equal(objects[1]?.metadata.labels?.['kubernetes.io/service-name'], undefined);
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
    assert.notEqual(derivedName(web), derivedName({ ...web, namespace: 'other' }));
  });
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
        const way = nodes && { nodes: { addresses: nodes, companion: undefined } };
        return { ...exported(cluster, since, spec, [slice(endpoints)]), ...way };
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
