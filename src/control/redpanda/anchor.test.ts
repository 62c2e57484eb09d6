/** The port of an exposed Redpanda cluster in its anchor, which outlives it, and what is said of clients outside. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { conditionsOf, find, objectsFor, observed, plan } from '../../../test/support/control/redpanda.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { Observed } from './observe.ts';

const NAMED = { externalConnectivity: { enabled: true, subdomain: 'panda.test' } };
const RANGE = {
  configuration: { kafkaApi: [{}, { external: { enabled: true, portStrategy: 'range' } }] },
};

const service = (nodePort: number): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'panda-external', namespace: 'n' },
  spec: { ports: [{ port: 9093, nodePort }] },
});

const anchor = (
  ports: { name: string; port: number }[],
  status: object = {},
  uid = 'u',
  names: object[] = [NAMES],
): AnyObject => ({
  apiVersion: 'isthmus.dev/v1alpha1',
  kind: 'RedpandaAnchor',
  metadata: { name: 'panda', namespace: 'n', uid: 'a', resourceVersion: '7', labels: { mine: 'too' } },
  spec: { cluster: { name: 'panda', uid }, ports, names },
  status,
});
const NAMES = {
  name: 'kafka-external',
  pattern: '$(id).panda.test',
  bootstrap: 'bootstrap.panda.test',
  since: '2026-11-01T00:00:00.000Z',
  count: 4,
};
const HELD = anchor([{ name: 'kafka-external', port: 31_234 }]);

const written = (spec: object, rest: Partial<Observed> = {}) => {
  const [document] = plan(observed(spec, rest)).documents ?? [];
  return document?.object as
    | (AnyObject & { spec: { cluster: object; ports: { name: string; port: number }[] } })
    | undefined;
};
const hostPorts = (spec: object, rest: Partial<Observed>) =>
  JSON.stringify(find(objectsFor(spec, rest), 'StatefulSet') ?? {}).match(/"hostPort":(\d+)/)?.[1];

suite('the anchor of an exposed Redpanda cluster', () => {
  test('is written before brokers use names, and the port that the API server has given, and once', () => {
    assert.equal(written({}), undefined);
    assert.equal(written({ externalConnectivity: { enabled: true } }), undefined, 'there is no number yet');
    const cluster = { name: 'panda', uid: 'u' };
    assert.deepEqual(written(NAMED)?.spec, { cluster, ports: [], names: [NAMES] });
    const given = { externalService: service(31_234) };
    assert.deepEqual(written(NAMED, given)?.spec, {
      cluster,
      ports: [{ name: 'kafka-external', port: 31_234 }],
      names: [NAMES],
    });
    assert.equal(written(NAMED, { ...given, anchor: HELD }), undefined);
    assert.equal(written(NAMED, { ...given, hasAnchors: false }), undefined);
  });

  test('outlives its cluster: the Service is its own, too, and the next cluster of the name has the same number', () => {
    const again = anchor([{ name: 'kafka-external', port: 31_234 }], {}, 'u-before');
    const objects = objectsFor(NAMED, { anchor: again });
    const keeper = find(objects, 'Service', 'panda-external')!;
    assert.deepEqual(keeper.spec['ports'], [{ name: 'reserved', port: 9093, targetPort: 9093, protocol: 'TCP', nodePort: 31_234 }]); // prettier-ignore
    assert.deepEqual(keeper.metadata.ownerReferences?.map(({ kind, controller }) => [kind, controller]), [['Cluster', true], ['RedpandaAnchor', false]]); // prettier-ignore
    const { metadata, spec } = written(NAMED, { anchor: again })!;
    assert.deepEqual([metadata.resourceVersion, metadata.labels?.['mine']], ['7', 'too']);
    assert.deepEqual(spec.cluster, { name: 'panda', uid: 'u' });
  });

  test('keeps others from its number: one that the API server gives all the same goes back', () => {
    const claimed = { externalService: service(31_234), otherHostPorts: new Set([31_234]) };
    const keeper = find(objectsFor(NAMED, claimed), 'Service', 'panda-external')!;
    assert.equal(keeper.spec['type'], 'ClusterIP');
    assert.deepEqual(written(NAMED, claimed)?.spec.ports, []);
    assert.equal(find(objectsFor(NAMED, claimed), 'StatefulSet'), undefined);
    assert.equal(conditionsOf(observed(NAMED, claimed)).get('OperatorQuiescent')?.reason, 'HostPortPending');
  });

  test('has a port of our own choice before it is used, and no Service keeps that', () => {
    const [chosen] = written(RANGE)!.spec.ports;
    assert.ok(chosen!.port >= 16_000 && chosen!.port <= 19_999);
    assert.equal(chosen!.name, 'kafka-external.range');
    assert.equal(hostPorts(RANGE, {}), undefined);
    assert.equal(find(objectsFor(RANGE), 'Service', 'panda-external'), undefined);
    const seen = { anchor: anchor([chosen!], {}, 'u', []) };
    assert.equal(hostPorts(RANGE, seen), String(chosen!.port));
    assert.equal(written(RANGE, seen), undefined);
    const [other] = written(RANGE, { ...seen, otherHostPorts: new Set([chosen!.port]) })!.spec.ports;
    assert.notEqual(other!.port, chosen!.port, 'another cluster has chosen the same, and was first');
    const statefulSet = find(objectsFor(RANGE, seen), 'StatefulSet')!;
    const used = { ...seen, statefulSet, otherHostPorts: new Set([chosen!.port]) };
    assert.equal(hostPorts(RANGE, used), String(chosen!.port), 'clients know it');
    assert.match(
      JSON.stringify([...conditionsOf(observed(RANGE, used))]),
      /used here and by another cluster/,
    );
  });

  test('changes how a port is chosen without taking the former one away', () => {
    const both = anchor([
      { name: 'kafka-external', port: 31_234 },
      { name: 'kafka-external.range', port: 16_005 },
    ]);
    assert.equal(hostPorts(RANGE, { anchor: both }), '16005');
    assert.equal(hostPorts(NAMED, { anchor: both, externalService: service(31_234) }), '31234');
    const statefulSet = find(objectsFor(NAMED, { externalService: service(31_234) }), 'StatefulSet')!;
    assert.equal(
      hostPorts(RANGE, { anchor: HELD, statefulSet }),
      '31234',
      'until the new one is written down',
    );
    const later = written(RANGE, { anchor: HELD, statefulSet })!.spec.ports;
    assert.deepEqual(later.map(({ name }) => name), ['kafka-external', 'kafka-external.range']); // prettier-ignore
  });
});

const place = (id: number, ...addresses: string[]): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: `panda-${id}`,
    namespace: 'n',
    annotations: {
      'isthmus.dev/node-address': addresses[0]!,
      'isthmus.dev/node-addresses': JSON.stringify(addresses.map((address) => ({ type: 'ExternalIP', address }))), // prettier-ignore
    },
  },
  spec: { nodeName: `node-${id}` },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
});

suite('what is probed of an exposed Redpanda cluster', () => {
  const given = { externalService: service(31_234), anchor: HELD };
  const pods = [place(0, '192.0.2.1', '2001:db8::1'), place(1, '2001:db8::2')];

  test('is each name with the addresses that brokers listen on, or each address where there are no names', () => {
    const told = (spec: object) => plan(observed(spec, { ...given, pods })).told;
    const [named] = told(NAMED)!;
    assert.deepEqual(
      named!.endpoints.map(({ node, host, expected }) => [node, host, ...expected]),
      [
        [undefined, 'bootstrap.panda.test', '192.0.2.1', '2001:db8::2'],
        [0, '0.panda.test', '192.0.2.1'],
        [1, '1.panda.test', '2001:db8::2'],
      ],
    );
    const [plain] = told({ externalConnectivity: { enabled: true } })!;
    assert.deepEqual(plain!.endpoints.map(({ node, host, port }) => [node, host, port]), [[0, '192.0.2.1', 31_234], [1, '2001:db8::2', 31_234]]); // prettier-ignore
    assert.deepEqual(told({}), []);
  });

  test('without a login, or a certificate, that the operator has not', () => {
    const tls = { enabled: true, nodeSecretRef: { name: 's' } };
    const loginOf = (api: object) => {
      const kafkaApi = [{}, { ...api, external: { enabled: true, subdomain: 'a.test' } }];
      const [told] = plan(observed({ configuration: { kafkaApi } }, { ...given, pods })).told!;
      return [told?.tls, told?.authentication];
    };
    assert.deepEqual(loginOf({}), [false, 'none']);
    assert.deepEqual(loginOf({ authenticationMethod: 'sasl', tls }), [true, 'scram-sha-512']);
    assert.deepEqual(loginOf({ tls: { ...tls, requireClientAuth: true, clientCACertRef: { name: 'c' } } }), [true, 'tls']); // prettier-ignore
  });

  test('is said by the Cluster as far as its CRD has words for it, and keeps it from nothing', () => {
    const unreached = {
      type: 'Reachable',
      status: 'False',
      reason: 'BrokersUnreachable',
      message: 'a firewall',
    };
    const anchored = anchor([{ name: 'kafka-external', port: 31_234 }], { conditions: [unreached] });
    const ready = pods.slice(0, 1);
    const seen = observed({ ...NAMED, replicas: 1 }, { ...given, anchor: anchored, pods: ready });
    const { status, reason, message } = conditionsOf(seen).get('OperatorQuiescent')!;
    assert.deepEqual([status, reason], ['True', 'BrokersUnreachable']);
    assert.match(message, /a firewall/);
    const off = conditionsOf(observed({ replicas: 1 }, { anchor: anchored, pods: ready }));
    assert.doesNotMatch(JSON.stringify([...off]), /firewall/);
  });
});
