import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { chooseWay, planDelegation } from './platform.ts';
import type { ClusterDns, ConfigMap, DnsOperator } from './platform.ts';

const wanted = { zones: ['xcc.test'], server: '10.96.0.20' };
const none = { ...wanted, zones: [] };

function configMap(name: string, data: Record<string, string> = {}): ConfigMap {
  return { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name, namespace: 'kube-system' }, data };
}

const corefile = configMap('coredns', { Corefile: '.:53 {\n    errors\n}\n' });
const k3s = configMap('coredns', {
  Corefile: '.:53 {\n    errors\n}\nimport /etc/coredns/custom/*.server\n',
});

function patchOf(found: ClusterDns, delegation = wanted): unknown {
  const change = planDelegation(found, delegation);
  if ('problem' in change) assert.fail(change.problem);
  return change.patch;
}

function problemOf(found: ClusterDns): string | undefined {
  const change = planDelegation(found, wanted);
  return 'problem' in change ? change.problem : undefined;
}

/** As the API server does it, for the data of a ConfigMap. */
function patched(object: ConfigMap, patch: unknown): ConfigMap {
  const data = { ...object.data, ...(patch as { data: Record<string, string | null> }).data };
  const kept = Object.entries(data).filter((entry): entry is [string, string] => entry[1] !== null);
  return { ...object, data: Object.fromEntries(kept) };
}

suite('the way to delegate', () => {
  test('is chosen by what the cluster has', () => {
    const operator = { apiVersion: 'operator.openshift.io/v1', kind: 'DNS', metadata: { name: 'default' } };
    assert.equal(chooseWay({ operator, coredns: corefile }), 'openshift');
    assert.equal(chooseWay({ coredns: k3s, custom: configMap('coredns-custom') }), 'coredns-custom');
    assert.equal(chooseWay({ coredns: corefile }), 'corefile');
    assert.equal(chooseWay({ kubeDns: configMap('kube-dns') }), 'kube-dns');
    assert.equal(chooseWay({}), undefined);
    assert.ok(problemOf({}));
  });

  test('by Corefile, custom ConfigMap or stub domains: there once it is written, gone when it is taken back', () => {
    const ways: [ConfigMap, (object: ConfigMap) => ClusterDns][] = [
      [corefile, (coredns) => ({ coredns })],
      [configMap('coredns-custom', { 'mine.override': 'log' }), (custom) => ({ coredns: k3s, custom })],
      [configMap('kube-dns', { stubDomains: '{"acme.test":["192.0.2.1"]}' }), (kubeDns) => ({ kubeDns })],
      [configMap('kube-dns'), (kubeDns) => ({ kubeDns })],
    ];
    for (const [object, found] of ways) {
      const written = patched(object, patchOf(found(object)));
      assert.match(JSON.stringify(written.data), /xcc\.test.*10\.96\.0\.20/);
      assert.equal(patchOf(found(written)), undefined, 'nothing more to write');
      assert.deepEqual(patched(written, patchOf(found(written), none)).data, object.data);
    }
  });

  test('by the OpenShift operator: the servers of others stay', () => {
    const theirs = { name: 'acme', zones: ['acme.test'], forwardPlugin: { upstreams: ['192.0.2.1'] } };
    const ours = { name: 'isthmus', zones: ['xcc.test'], forwardPlugin: { upstreams: ['10.96.0.20'] } };
    const operator = (servers: object[]) =>
      ({
        apiVersion: 'operator.openshift.io/v1',
        kind: 'DNS',
        metadata: { name: 'default' },
        spec: { servers },
      }) as DnsOperator;
    assert.deepEqual(patchOf({ operator: operator([theirs]) }), { spec: { servers: [theirs, ours] } });
    assert.equal(patchOf({ operator: operator([ours, theirs]) }), undefined);
    assert.deepEqual(patchOf({ operator: operator([ours, theirs]) }, none), { spec: { servers: [theirs] } });
  });

  test('is not taken over what others have there', () => {
    assert.ok(problemOf({ kubeDns: configMap('kube-dns', { stubDomains: '{"xcc.test":["192.0.2.1"]}' }) }));
    assert.ok(problemOf({ kubeDns: configMap('kube-dns', { stubDomains: 'not JSON' }) }));
    const custom = configMap('coredns-custom', { 'mine.server': 'xcc.test:53 {\n}\n' });
    assert.ok(problemOf({ coredns: k3s, custom }));
  });
});
