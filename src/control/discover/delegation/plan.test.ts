import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { ownersOf } from './coredns.ts';
import { choosePlatform, planDelegation, planParts, planRemoval } from './plan.ts';
import type { ClusterDns, ConfigMap, DnsOperator, Write } from './platform.ts';
import { KUBEADM, NODE_CACHE } from '../../../../test/support/discover/corefile.ts';

const wanted = { zones: ['xcc.test'], server: '10.96.0.20', owner: 'isthmus-system/isthmus-dns' };
const none = { ...wanted, zones: [] };

function configMap(name: string, data: Record<string, string> = {}): ConfigMap {
  const metadata = { name, namespace: 'kube-system', resourceVersion: '1' };
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata, data };
}

function operator(...servers: object[]): DnsOperator {
  const metadata = { name: 'default', resourceVersion: '1', annotations: { theirs: 'too' } };
  const spec = servers.length > 0 ? { servers } : {};
  return { apiVersion: 'operator.openshift.io/v1', kind: 'DNS', metadata, spec } as DnsOperator;
}

const corefile = configMap('coredns', { Corefile: KUBEADM });
const k3s = configMap('coredns', { Corefile: `${KUBEADM}import /etc/coredns/custom/*.server\n` });

function writeOf(found: ClusterDns, delegation = wanted): Write | undefined {
  const change = planDelegation(found, delegation);
  if ('problem' in change) assert.fail(change.problem);
  return change.write;
}

function problemOf(found: ClusterDns, delegation = wanted): string | undefined {
  const change = planDelegation(found, delegation);
  return 'problem' in change ? change.problem : undefined;
}

/** As the API server does it: nulls take out, objects are merged, all else is replaced. */
function merged(target: unknown, patch: unknown): unknown {
  if (typeof patch !== 'object' || patch === null || Array.isArray(patch)) return patch;
  const result: Record<string, unknown> = { ...(target as object) };
  for (const [key, value] of Object.entries(patch)) {
    if (value === null) delete result[key];
    else result[key] = merged(result[key], value);
  }
  return result;
}

suite('the way to delegate', () => {
  test('is chosen by what the cluster has', () => {
    assert.equal(choosePlatform({ operator: operator(), coredns: corefile }), 'openshift');
    assert.equal(choosePlatform({ coredns: k3s }), 'coredns-custom');
    assert.equal(choosePlatform({ coredns: corefile, custom: configMap('coredns-custom') }), 'corefile');
    assert.equal(choosePlatform({ kubeDns: configMap('kube-dns') }), 'kube-dns');
    assert.equal(choosePlatform({}), undefined);
    assert.ok(problemOf({}));
  });

  test('may be named', () => {
    const change = planDelegation({ coredns: k3s }, wanted, 'corefile');
    assert.ok('write' in change && change.write);
    assert.ok('problem' in planDelegation({ coredns: k3s }, wanted, 'openshift'));
  });

  const acme = { name: 'acme', zones: ['acme.test'], forwardPlugin: { upstreams: ['192.0.2.1'] } };
  const zulu = { name: 'zulu', zones: ['zulu.test'], forwardPlugin: { upstreams: ['192.0.2.2'] } };
  const pretty = '{\n  "acme.test": ["192.0.2.1"]\n}\n';
  const ways: [string, unknown, (object: never) => ClusterDns][] = [
    ['Corefile', corefile, (coredns) => ({ coredns })],
    [
      'custom',
      configMap('coredns-custom', { 'mine.override': 'log' }),
      (custom) => ({ coredns: k3s, custom }),
    ],
    ['stubs', configMap('kube-dns', { stubDomains: pretty }), (kubeDns) => ({ kubeDns })],
    ['no stubs', configMap('kube-dns'), (kubeDns) => ({ kubeDns })],
    ['operator', operator(acme, zulu), (found) => ({ operator: found })],
    ['fresh operator', operator(), (found) => ({ operator: found })],
  ];
  for (const [name, object, found] of ways) {
    test(`${name}: there once it is written, gone when it is taken back, and nothing else changes`, () => {
      const write = writeOf(found(object as never));
      assert.ok(write);
      const written = merged(object, write.patch) as never;
      assert.match(JSON.stringify(written), /xcc\.test.*10\.96\.0\.20/);
      assert.equal(writeOf(found(written)), undefined, 'nothing more to write');
      assert.deepEqual(merged(written, write.undo), object, 'put back');
      assert.deepEqual(merged(written, writeOf(found(written), none)?.patch), object, 'taken out');
      assert.deepEqual(planRemoval(found(written), wanted).length, 1);
      assert.deepEqual(planRemoval(found(object as never), wanted), []);
      const moved = { ...wanted, server: '10.96.0.21', formerServers: ['10.96.0.20'] };
      const elsewhere = merged(written, writeOf(found(written), moved)?.patch);
      assert.match(JSON.stringify(elsewhere), /10\.96\.0\.21/);
      assert.doesNotMatch(JSON.stringify(elsewhere), /10\.96\.0\.20/);
    });
  }

  for (const [name, object, found] of ways) {
    test(`${name}: what one Isthmus wrote another never touches`, () => {
      const rival = { ...wanted, server: '10.96.0.30', owner: 'other/isthmus-dns' };
      const written = found(merged(object, writeOf(found(object as never))?.patch) as never);
      assert.match(problemOf(written, rival)!, /isthmus-system\/isthmus-dns; to remove that|another server/);
      assert.equal(writeOf(written, { ...rival, zones: [] }), undefined);
      assert.deepEqual(planRemoval(written, rival), []);
      assert.equal(problemOf(written), undefined);
    });
  }

  test('leads over the cache on the nodes, too, where the installation has it configured', () => {
    const nodeCache = configMap('node-local-dns', { Corefile: NODE_CACHE });
    const [main, cache] = planParts({ coredns: corefile, nodeCache }, wanted);
    assert.deepEqual([main?.change.platform, main?.asks], ['corefile', ['cluster']]);
    assert.deepEqual([cache?.change.platform, cache?.asks], ['node-local-dns', ['pods']]);
    const write = 'write' in cache!.change ? cache!.change.write : undefined;
    const written = merged(nodeCache, write?.patch) as ConfigMap;
    assert.match(
      written.data!['Corefile']!,
      /xcc\.test:53 \{\n {4}errors\n[^}]*\}\n {4}bind __PILLAR__LOCAL__DNS__ 10\.96\.0\.10\n {4}forward \. 10\.96\.0\.20\n\}/,
    );
    const removals = planRemoval({ nodeCache: written }, wanted);
    assert.deepEqual(
      removals.map((one) => merged(written, 'write' in one && one.write?.patch)),
      [nodeCache],
    );
  });

  test('is by stub domains where an add-on manager keeps the Corefile of that cache, and those stay in use', () => {
    const nodeCache = configMap('node-local-dns', { Corefile: NODE_CACHE });
    nodeCache.metadata.labels = { 'addonmanager.kubernetes.io/mode': 'Reconcile' };
    const [, cache] = planParts({ coredns: corefile, nodeCache }, wanted);
    assert.equal(cache?.change.platform, 'kube-dns');
    const write = 'write' in cache.change ? cache.change.write! : assert.fail('no write');
    assert.equal(write.object.metadata.resourceVersion, undefined, 'it is made');
    const kubeDns = { ...write.object, ...write.patch } as ConfigMap;
    assert.deepEqual(kubeDns.data, { stubDomains: '{"xcc.test":["10.96.0.20"]}' });
    const [removal] = planRemoval({ coredns: corefile, nodeCache, kubeDns }, wanted);
    assert.ok(removal && 'write' in removal && removal.write?.patch === undefined, 'and deleted again');
    assert.deepEqual(planRemoval({ nodeCache, kubeDns }, wanted, ['corefile', 'kube-dns']), []);
    const shared = planParts({ kubeDns: configMap('kube-dns'), nodeCache }, wanted);
    assert.deepEqual(
      shared.map(({ asks }) => asks),
      [['cluster', 'pods']],
      'kube-dns itself and the cache read the same',
    );
  });

  test('says who has written in the configuration of CoreDNS', () => {
    const coredns = merged(corefile, writeOf({ coredns: corefile })?.patch) as ConfigMap;
    const rival = { ...wanted, owner: 'other/isthmus-dns' };
    const custom = {
      ...writeOf({ coredns: k3s }, rival)!.object,
      ...writeOf({ coredns: k3s }, rival)!.patch,
    };
    assert.deepEqual(ownersOf({ coredns, custom }), [wanted.owner, rival.owner]);
    assert.deepEqual(ownersOf({ coredns: corefile }), []);
  });

  test('coredns-custom is made where it is missing, and taken away again if nobody else uses it', () => {
    const write = writeOf({ coredns: k3s });
    assert.equal(write?.object.metadata.resourceVersion, undefined);
    assert.equal(write?.undo, undefined);
    const custom = { ...write!.object, ...write!.patch } as ConfigMap;
    assert.equal(writeOf({ coredns: k3s, custom }), undefined);
    assert.equal(writeOf({ coredns: k3s, custom }, none)?.patch, undefined);
    const shared = { ...custom, data: { ...custom.data, 'theirs.server': 'a.test {\n}\n' } };
    assert.deepEqual(writeOf({ coredns: k3s, custom: shared }, none)?.patch, {
      data: { 'isthmus.server': null },
    });
  });

  test('what somebody set for our server in OpenShift stays', () => {
    const forwardPlugin = { upstreams: ['10.96.0.19'], policy: 'Sequential' };
    const found = { operator: operator({ name: 'isthmus', zones: ['xcc.test'], forwardPlugin }, acme) };
    const ours = {
      name: 'isthmus',
      zones: ['xcc.test'],
      forwardPlugin: { upstreams: ['10.96.0.20'], policy: 'Sequential' },
    };
    assert.deepEqual(writeOf(found)?.patch, {
      metadata: { annotations: { 'connectivity.tanzu.vmware.com/delegated-by': wanted.owner } },
      spec: { servers: [ours, acme] },
    });
  });

  test('is not taken over what others have there', () => {
    const stubs = (stubDomains: string) => ({ kubeDns: configMap('kube-dns', { stubDomains }) });
    assert.match(problemOf(stubs('{"xcc.test":["192.0.2.1"]}'))!, /by another server|to another server/);
    assert.match(problemOf(stubs('not JSON'))!, /not a JSON object/);
    const custom = configMap('coredns-custom', { 'mine.server': 'xcc.test:53 {\n}\n' });
    assert.match(problemOf({ coredns: k3s, custom })!, /by another server|to another server/);
    assert.match(
      problemOf({ operator: operator({ ...acme, zones: ['xcc.test'] }) })!,
      /by another server|to another server/,
    );
  });

  test('is not taken where it would do harm, or would not be seen', () => {
    const still = configMap('coredns', { Corefile: '. {\n    errors\n}\n' });
    assert.match(problemOf({ coredns: still })!, /reload/);
    const local = { ...wanted, zones: ['local'] };
    for (const found of [{ coredns: corefile }, { kubeDns: configMap('kube-dns') }, { operator: operator() }])
      assert.match(problemOf(found, local)!, /would hide/);
    for (const zone of ['a b', 'x{', '"', 'xcc.test\nlog', '', '.'])
      assert.match(problemOf({ coredns: corefile }, { ...wanted, zones: [zone] })!, /cannot be delegated/);
    assert.match(problemOf({ coredns: corefile }, { ...wanted, server: 'x {' })!, /not an IP address/);
  });

  test('any table of stub domains: in and out again gives back what was there', () => {
    const table = fc.dictionary(fc.domain(), fc.array(fc.ipV4(), { maxLength: 2 }));
    fc.assert(
      fc.property(table, fc.constantFrom(0, 2), (entries, indent) => {
        fc.pre(Object.keys(entries).length > 0 && !('xcc.test' in entries));
        const object = configMap('kube-dns', { stubDomains: JSON.stringify(entries, null, indent) });
        const written = merged(object, writeOf({ kubeDns: object })?.patch) as ConfigMap;
        assert.deepEqual(merged(written, writeOf({ kubeDns: written }, none)?.patch), object);
      }),
    );
  });
});
