import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { planExport } from './export-plan.ts';
import { exportConditions } from './status.ts';
import type { ObservedExport } from '../observe.ts';
import { planImport } from './import-plan.ts';
import { NODE_PORTS_LABEL } from '../names.ts';
import type { NodePortAccess } from './node-ports.ts';
import { REACH_MODES, nodeAddresses, trimNode } from '../members/nodes.ts';
import type { Node } from '../members/nodes.ts';
import type { EndpointSlice, Service, ServicePort } from '../objects.ts';
import { service, serviceExport, slice } from '../../../../test/support/discover/objects.ts';

const ports: ServicePort[] = [
  { name: 'http', port: 80, protocol: 'TCP', targetPort: 'web' },
  { name: 'dns', port: 53, protocol: 'UDP' },
];
const plain = { clusterIP: '10.0.0.1', ports, selector: { app: 'web' } };
const FAMILIES = { ipFamilyPolicy: 'SingleStack', ipFamilies: ['IPv4'] };
const numbered = (from: number) => ports.map((port, i) => ({ ...port, nodePort: from + i }));
const exported = (spec: Service['spec']) => ({
  cluster: 'east',
  export: serviceExport('2020'),
  service: service(spec),
});
const nodePortService = service({ type: 'NodePort', clusterIP: '10.0.0.2', ports: numbered(30_001) });

function imported(
  spec: Service['spec'],
  access: Partial<NodePortAccess>,
  endpoints = [{ addresses: ['10.1.0.1'] }],
) {
  const nodePorts = { addresses: ['192.0.2.1', '192.0.2.2'], nodePortService: undefined, ...access };
  const one: ObservedExport = { ...exported(spec), slices: [slice(endpoints)], nodePorts };
  const observed = { exported: [one], imported: undefined, importedSlices: [] };
  const derived = service({ clusterIPs: ['10.96.0.9'] });
  const settings = { local: 'west', apiVersion: 'multicluster.x-k8s.io/v1beta1' };
  const plan = planImport({ namespace: 'default', name: 'web' }, observed, derived, settings);
  const slices = plan.objects.filter(({ kind }) => kind === 'EndpointSlice') as EndpointSlice[];
  return { ready: plan.ready, slices };
}

suite('a cluster that is reached by its nodes', () => {
  test('gives an exported Service a NodePort Service, which goes with the export', () => {
    const plan = planExport(exported(plain), 'nodes');
    assert.ok('nodePortService' in plan);
    const made = plan.nodePortService as Service;
    assert.equal(made.spec?.type, 'NodePort');
    assert.deepEqual(made.spec?.selector, { app: 'web' });
    assert.deepEqual(made.spec?.ports, ports);
    assert.equal(made.metadata.labels?.[NODE_PORTS_LABEL], 'web');
    assert.equal(made.metadata.ownerReferences?.[0]?.uid, 'export-1');
    assert.ok(made.metadata.name.length <= 63);
  });

  test('keeps clients to one pod by the NodePort Service as by the Service itself', () => {
    const affinity = {
      sessionAffinity: 'ClientIP',
      sessionAffinityConfig: { clientIP: { timeoutSeconds: 60 } },
    };
    const plan = planExport(exported({ ...plain, ...affinity, internalTrafficPolicy: 'Local' }), 'nodes');
    const { spec } = ('nodePortService' in plan ? plan.nodePortService : undefined) as Service;
    assert.deepEqual(spec, { type: 'NodePort', selector: plain.selector, ports, ...affinity, ...FAMILIES });
  });

  test('gives none to one that has node ports of its own, unless only some nodes lead to its pods', () => {
    const own = { ...plain, type: 'LoadBalancer', ports: numbered(31_000) };
    assert.deepEqual(planExport(exported(own), 'nodes'), { nodePortService: undefined });
    const local = planExport(exported({ ...own, externalTrafficPolicy: 'Local' }), 'nodes');
    assert.ok('nodePortService' in local && local.nodePortService);
    const made = local.nodePortService as Service;
    assert.ok(
      made.spec?.ports?.every(({ nodePort }) => nodePort === undefined),
      'numbers are the cluster’s to give',
    );
  });

  test('gives none where it is reached by pods, or nothing is exported', () => {
    assert.deepEqual(planExport(exported(plain), 'pods'), { nodePortService: undefined });
    assert.deepEqual(planExport(undefined, 'nodes'), { nodePortService: undefined });
    assert.deepEqual(planExport({ ...exported(plain), service: undefined }, 'nodes'), {
      nodePortService: undefined,
    });
  });

  test('says of a headless export, and of one without selector, why it cannot be reached', () => {
    for (const spec of [
      { ...plain, clusterIP: 'None' },
      { clusterIP: '10.0.0.1', ports },
    ]) {
      const one = exported(spec);
      const plan = planExport(one, 'nodes');
      assert.ok('problem' in plan);
      const ready = exportConditions(one, [one], plan).find(({ type }) => type === 'Ready');
      assert.deepEqual([ready?.status, ready?.reason, ready?.message], ['False', 'Failed', plan.problem]);
    }
  });
});

suite('a service of such a cluster, imported', () => {
  test('has the nodes as endpoints, and their ports under its own names', () => {
    const { slices, ready } = imported(plain, { nodePortService });
    assert.equal(slices.length, 1);
    assert.deepEqual(
      slices[0]?.endpoints?.map(({ addresses }) => addresses),
      [['192.0.2.1'], ['192.0.2.2']],
    );
    assert.deepEqual(slices[0]?.ports, [
      { name: 'http', port: 30_001, protocol: 'TCP' },
      { name: 'dns', port: 30_002, protocol: 'UDP' },
    ]);
    assert.equal(ready.status, 'True');
  });

  test('uses its own node ports where it has them', () => {
    const { slices } = imported({ ...plain, type: 'NodePort', ports: numbered(31_000) }, { nodePortService });
    assert.equal(slices[0]?.ports?.[0]?.port, 31_000);
  });

  test('has no endpoints while no pod of it is ready', () => {
    const unready = [{ addresses: ['10.1.0.1'], conditions: { ready: false } }];
    const { slices } = imported(plain, { nodePortService }, unready);
    assert.deepEqual(slices[0]?.endpoints, []);
  });

  test('has a slice for each family that both its node ports and the nodes have', () => {
    const addresses = ['192.0.2.1', '2001:db8::1'];
    assert.deepEqual(
      imported(plain, { addresses, nodePortService }).slices.map((each) => each.addressType),
      ['IPv4'],
    );
    const dual = service({ ...nodePortService.spec, clusterIPs: ['10.0.0.2', 'fd00::2'] });
    assert.deepEqual(
      imported(plain, { addresses, nodePortService: dual }).slices.map((each) => each.addressType),
      ['IPv4', 'IPv6'],
    );
  });

  test('says why it cannot be reached', () => {
    const why = (plan: ReturnType<typeof imported>) => {
      assert.deepEqual([plan.slices, plan.ready.status], [[], 'False']);
      return plan.ready.message;
    };
    assert.match(why(imported(plain, {})), /has no node ports/);
    assert.match(why(imported(plain, { nodePortService, addresses: [] })), /no reachable node/);
    assert.match(why(imported({ ...plain, clusterIP: 'None' }, { nodePortService })), /headless/);
  });
});

suite('nodes', () => {
  const node = (name: string, ready: boolean, labels: Record<string, string> = {}): Node => ({
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name, labels },
    status: {
      addresses: [
        { type: 'InternalIP', address: `10.0.0.${name.length}` },
        { type: 'ExternalIP', address: `192.0.2.${name.length}` },
        { type: 'Hostname', address: name },
      ],
      conditions: [{ type: 'Ready', status: ready ? 'True' : 'Unknown' }],
    },
  });
  const excluded = { 'node.kubernetes.io/exclude-from-external-load-balancers': '' };

  test('take part when they are ready and not excluded, inside or outside', () => {
    const nodes = [node('a', true), node('bb', false), node('ccc', true, excluded), node('dddd', true)].map(
      trimNode,
    );
    assert.deepEqual(nodeAddresses(nodes, 'nodes'), ['10.0.0.1', '10.0.0.4']);
    assert.deepEqual(nodeAddresses(nodes, 'external-nodes'), ['192.0.2.1', '192.0.2.4']);
  });

  test('give the same addresses in whatever order they are listed, and not too many', () => {
    const address = fc.oneof(fc.ipV4(), fc.ipV6());
    const many = fc.array(address);
    const withAddress = (each: string): Node => ({
      ...node('n', true),
      status: { addresses: [{ type: 'InternalIP', address: each }] },
    });
    fc.assert(
      fc.property(many, fc.constantFrom(...REACH_MODES), (list, reach) => {
        const nodes = list.map(withAddress);
        const found = nodeAddresses(nodes, reach);
        assert.deepEqual(found, nodeAddresses(nodes.toReversed(), reach));
        assert.equal(new Set(found).size, found.length);
      }),
    );
    const all = Array.from({ length: 300 }, (_, i) => [`10.0.${i >> 8}.${i & 255}`, `fd00::${i}`]).flat();
    assert.equal(nodeAddresses(all.map(withAddress), 'nodes').length, 200);
  });
});
