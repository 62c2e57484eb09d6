import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import {
  OPEN_NAMES,
  conditionsOf,
  fileOf,
  find,
  live,
  objectsFor,
  observed,
  plan,
  revisionOf,
  setOf,
} from '../../../test/support/control/redpanda.ts';
import { propertiesOf } from '../../../test/support/redpanda/properties.ts';
import type { NodeFile } from '../../../test/support/redpanda/properties.ts';
import type { AnyObject } from '../../kube/object.ts';
import { namePolicy } from '../../resources/isthmus/name-policy.ts';
import { read } from '../kernel/read.ts';
import { createHostIndex } from '../shared/host-index.ts';
import { HOST_PORT_ANNOTATION, NAMES_ANNOTATION } from './names.ts';
import type { Observed } from './observe.ts';

const NAMED = { externalConnectivity: { enabled: true, subdomain: 'panda.test' } };
const BY_ADDRESS = { externalConnectivity: { enabled: true } };

const service = (nodePort?: number): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Service',
  metadata: { name: 'panda-external', namespace: 'n' },
  spec: { ports: [{ port: 9093, ...(nodePort && { nodePort }) }] },
});
const GIVEN = { externalService: service(31_234) };

const pod = (
  id: number,
  place: { ip?: string; node?: string; hostIP?: string; ready?: boolean } = {},
): AnyObject => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: {
    name: `panda-${id}`,
    namespace: 'n',
    uid: `uid-${id}`,
    annotations: place.ip
      ? {
          'isthmus.dev/node-address': place.ip,
          'isthmus.dev/node-addresses': JSON.stringify([{ type: 'ExternalIP', address: place.ip }]),
        }
      : {},
  },
  spec: place.node === undefined ? {} : { nodeName: place.node },
  status: {
    ...(place.hostIP && { hostIP: place.hostIP }),
    conditions: [{ type: 'Ready', status: place.ready === false ? 'False' : 'True' }],
  },
});
const PODS = [0, 1, 2].map((id) => pod(id, { ip: `192.0.2.${id}`, node: `node-${id}` }));

const containerOf = (set: AnyObject) =>
  (set as unknown as { spec: { template: { spec: { containers: { ports: { name: string; hostPort?: number }[] }[] } } } }).spec.template.spec.containers[0]!; // prettier-ignore
const hostPortsOf = (set: AnyObject) => containerOf(set).ports.flatMap(({ hostPort }) => hostPort ?? []);
const keeperOf = (objects: readonly AnyObject[]) => find(objects, 'Service', 'panda-external')?.spec;
const nodePortIn = (objects: readonly AnyObject[]) =>
  (keeperOf(objects)?.['ports'] as { nodePort?: number }[] | undefined)?.[0]?.nodePort;
const recordsIn = (objects: readonly AnyObject[]) => {
  const found = find(objects, 'DNSEndpoint', 'panda-external')?.spec['endpoints'];
  return (found as { dnsName: string; targets: string[]; recordTTL: number }[] | undefined)?.map(({ dnsName, targets }) => `${dnsName} ${targets.join()}`); // prettier-ignore
};
const nodesIn = (...given: Parameters<typeof observed>) =>
  (plan(observed(...given)).statuses[0]!.status as { nodes: Record<string, unknown> }).nodes;
const told = (...given: Parameters<typeof fileOf>) =>
  fileOf(...given).redpanda['advertised_kafka_api'] as { name: string; address: string; port: number }[];

suite('the port of an exposed Redpanda cluster', () => {
  test('is reserved by a Service without selector before there is a broker', () => {
    const objects = objectsFor(NAMED);
    assert.deepEqual(keeperOf(objects), {
      type: 'NodePort',
      externalTrafficPolicy: 'Local',
      ports: [{ name: 'reserved', port: 9093, targetPort: 9093, protocol: 'TCP' }],
    });
    assert.equal(find(objects, 'StatefulSet'), undefined);
    assert.equal(conditionsOf(observed(NAMED)).get('OperatorQuiescent')?.reason, 'HostPortPending');
  });

  test('is waited for by brokers that run, which go on as they are', () => {
    const statefulSet = live({});
    assert.equal(revisionOf(NAMED, { statefulSet }), revisionOf({}));
    assert.deepEqual(told(NAMED, 0, { statefulSet }).map(({ name }) => name), ['kafka']); // prettier-ignore
  });

  test('is written into the Service, onto the StatefulSet and into the pods once it is given', () => {
    const objects = objectsFor(NAMED, GIVEN);
    const set = find(objects, 'StatefulSet')!;
    assert.equal(nodePortIn(objects), 31_234);
    assert.deepEqual(hostPortsOf(set), [31_234]);
    assert.equal(set.metadata.annotations?.[HOST_PORT_ANNOTATION], '31234');
  });

  test('is the one that its owner names, once that is the cluster’s', () => {
    const spec = { configuration: { kafkaApi: [{}, { port: 30_092, external: { enabled: true } }] } };
    const asked = objectsFor(spec);
    assert.deepEqual([nodePortIn(asked), find(asked, 'StatefulSet')], [30_092, undefined]);
    assert.deepEqual(hostPortsOf(setOf(spec, { externalService: service(30_092) })), [30_092]);
    const statefulSet = setOf(NAMED, GIVEN);
    const refused = objectsFor(spec, { statefulSet, ...GIVEN });
    assert.deepEqual([nodePortIn(refused), hostPortsOf(find(refused, 'StatefulSet')!)], [30_092, [31_234]]);
  });

  test('comes back when the Service is deleted, and stays while nobody is let in by it', () => {
    const statefulSet = setOf(NAMED, GIVEN);
    assert.deepEqual(hostPortsOf(setOf(NAMED, { statefulSet })), [31_234]);
    assert.equal(nodePortIn(objectsFor(NAMED, { statefulSet })), 31_234);
    assert.equal(nodePortIn(objectsFor(NAMED, { statefulSet, externalService: service(30_000) })), 31_234);
    const off = setOf({}, { statefulSet });
    assert.equal(off.metadata.annotations?.[HOST_PORT_ANNOTATION], '31234');
    assert.deepEqual(hostPortsOf(off), []);
    assert.equal(revisionOf({}, { statefulSet }), revisionOf({}));
    const again = { statefulSet: off, externalService: undefined };
    assert.deepEqual([nodePortIn(objectsFor(NAMED, again)), hostPortsOf(setOf(NAMED, again))], [31_234, []]);
    assert.equal(setOf(NAMED, again).metadata.annotations?.[HOST_PORT_ANNOTATION], '31234');
    const spoilt = { ...statefulSet, metadata: { ...statefulSet.metadata, annotations: { [HOST_PORT_ANNOTATION]: 'x' } } }; // prettier-ignore
    assert.equal(nodePortIn(objectsFor(NAMED, { statefulSet: spoilt, ...GIVEN })), 31_234);
  });
});

suite('what clients outside of a Redpanda cluster are told', () => {
  test('is a name of each broker, and the listener inside stays as it was', () => {
    const [inside, outside] = told(NAMED, 1, GIVEN);
    assert.deepEqual(inside, told({}, 1)[0]);
    assert.deepEqual(outside, { name: 'kafka-external', address: '1.panda.test', port: 31_234 });
    const { kafka_api: bound } = fileOf(NAMED, 1, GIVEN).redpanda;
    assert.deepEqual((bound as object[])[1], { name: 'kafka-external', address: '0.0.0.0', port: 9093 });
    for (const name of ['panda', 'panda-cluster'])
      assert.deepEqual(
        find(objectsFor(NAMED, GIVEN), 'Service', name),
        find(objectsFor({}), 'Service', name),
      );
  });

  test('is what Kafka would tell them, by the same file', () => {
    const tls = { enabled: true, nodeSecretRef: { name: 's' } };
    const external = { enabled: true, subdomain: 'panda.test' };
    const spec = { configuration: { kafkaApi: [{}, { tls, external }] } };
    const file = fileOf(spec, 2, GIVEN) as unknown as NodeFile;
    const { properties } = propertiesOf(file, {}, '10.0.0.2');
    assert.match(properties.get('listeners')!, /,KAFKA_EXTERNAL:\/\/10\.0\.0\.2:9093,/);
    assert.match(properties.get('advertised.listeners')!, /,KAFKA_EXTERNAL:\/\/2\.panda\.test:31234$/);
    assert.match(properties.get('listener.security.protocol.map')!, /KAFKA:PLAINTEXT,KAFKA_EXTERNAL:SSL/);
  });

  test('restarts brokers where it changes, and not for where they run', () => {
    const named = revisionOf(NAMED, GIVEN);
    assert.notEqual(named, revisionOf({}));
    const other = { externalConnectivity: { enabled: true, subdomain: 'other.test' } };
    assert.notEqual(named, revisionOf(other, GIVEN));
    assert.equal(named, revisionOf({ externalDNSSubdomain: 'panda.test' }, GIVEN));
    assert.equal(named, revisionOf({ ...NAMED, replicas: 5 }, { ...GIVEN, pods: PODS }));
  });

  test('is published by records, of which one changes when a broker moves', () => {
    const records = recordsIn(objectsFor(NAMED, { ...GIVEN, pods: PODS }));
    assert.deepEqual(records, [
      'bootstrap.panda.test 192.0.2.0,192.0.2.1,192.0.2.2',
      '0.panda.test 192.0.2.0',
      '1.panda.test 192.0.2.1',
      '2.panda.test 192.0.2.2',
    ]);
    const moved = [pod(0), PODS[1]!, pod(2, { ip: '192.0.2.9', node: 'x', ready: false })];
    assert.deepEqual(recordsIn(objectsFor(NAMED, { ...GIVEN, pods: moved })), [
      'bootstrap.panda.test 192.0.2.1',
      '1.panda.test 192.0.2.1',
      '2.panda.test 192.0.2.9',
    ]);
  });

  test('stays published while a broker has no place, and is looked at meanwhile', () => {
    const dnsEndpoint = find(objectsFor(NAMED, { ...GIVEN, pods: PODS }), 'DNSEndpoint', 'panda-external')!;
    const told = (pods: AnyObject[]) =>
      plan(observed(NAMED, { ...GIVEN, dnsEndpoint, pods })).told![0]!.endpoints.map(
        ({ host, expected }) => `${host} ${expected.join()}`,
      );
    for (const away of [
      [PODS[0]!, PODS[2]!],
      [PODS[0]!, pod(1), PODS[2]!],
    ]) {
      const records = recordsIn(objectsFor(NAMED, { ...GIVEN, dnsEndpoint, pods: away }));
      assert.deepEqual(records, [
        'bootstrap.panda.test 192.0.2.0,192.0.2.2',
        '0.panda.test 192.0.2.0',
        '1.panda.test 192.0.2.1',
        '2.panda.test 192.0.2.2',
      ]);
      assert.deepEqual(told(away), records);
    }
    const all = recordsIn(objectsFor(NAMED, { ...GIVEN, pods: PODS }));
    assert.deepEqual(recordsIn(objectsFor(NAMED, { ...GIVEN, dnsEndpoint })), all, 'all are away');
    const fewer = recordsIn(
      objectsFor({ ...NAMED, replicas: 1 }, { ...GIVEN, dnsEndpoint, pods: [PODS[0]!] }),
    );
    assert.deepEqual(fewer, ['bootstrap.panda.test 192.0.2.0', '0.panda.test 192.0.2.0']);
  });

  test('is taken from DNS again where names go, and is no reason to make anything where there were none', () => {
    const dnsEndpoint = find(objectsFor(NAMED, GIVEN), 'DNSEndpoint', 'panda-external')!;
    assert.deepEqual(recordsIn(objectsFor({}, { dnsEndpoint, pods: PODS })), []);
    assert.deepEqual(recordsIn(objectsFor(BY_ADDRESS, { ...GIVEN, dnsEndpoint, pods: PODS })), []);
    assert.equal(recordsIn(objectsFor({}, { pods: PODS })), undefined);
    assert.equal(recordsIn(objectsFor(NAMED, { ...GIVEN, dns: 'absent' })), undefined);
  });

  test('is in the status, for brokers that have no place yet, too, if they have names', () => {
    const { internal, external, externalBootstrap } = nodesIn(NAMED, GIVEN);
    assert.deepEqual(internal, nodesIn({})['internal']);
    assert.deepEqual(external, [0, 1, 2].map((id) => `${id}.panda.test:31234`)); // prettier-ignore
    const ingress = [{ hostname: 'bootstrap.panda.test', ports: [{ port: 31_234, protocol: 'TCP' }] }];
    assert.deepEqual(externalBootstrap, { ingress });
    assert.deepEqual(Object.keys(nodesIn({})), ['internal']);
    assert.deepEqual(Object.keys(nodesIn(NAMED)), ['internal']);
  });

  test('is the address of the node where there are no names, and nothing where there is none', () => {
    const pods = [PODS[0]!, pod(1), pod(2, { ip: '2001:db8::1', node: 'x' })];
    const { external, externalBootstrap } = nodesIn(BY_ADDRESS, { ...GIVEN, pods });
    assert.deepEqual(external, ['192.0.2.0:31234', '[2001:db8::1]:31234']);
    assert.equal(externalBootstrap, undefined);
    assert.deepEqual(told(BY_ADDRESS, 1, GIVEN)[1], { name: 'kafka-external', address: '@node-address@', port: 31_234 }); // prettier-ignore
  });

  test('may be by the address of the host as the pod sees it', () => {
    const external = { enabled: true, subdomain: 'panda.test', endpointTemplate: 'b-{{.HostIP}}' };
    const spec = { configuration: { kafkaApi: [{}, { external }] } };
    assert.equal(told(spec, 0, GIVEN)[1]?.address, 'b-@host-ip@.panda.test');
    const pods = [
      pod(0, { ip: '192.0.2.1', node: 'a', hostIP: '10.0.0.1' }),
      pod(1, { ip: '192.0.2.2', node: 'b' }),
    ];
    assert.deepEqual(nodesIn(spec, { ...GIVEN, pods })['external'], ['b-10.0.0.1.panda.test:31234']);
    assert.deepEqual(recordsIn(objectsFor(spec, { ...GIVEN, pods }))?.slice(1), ['b-10.0.0.1.panda.test 192.0.2.1']); // prettier-ignore
  });
});

suite('an exposed Redpanda cluster', () => {
  const messageOf = (...given: Parameters<typeof observed>) =>
    conditionsOf(observed(...given)).get('OperatorQuiescent')!;

  test('says what keeps clients out', () => {
    const lost = [pod(0, { node: 'a' }), PODS[1]!, PODS[2]!];
    assert.match(messageOf(BY_ADDRESS, { ...GIVEN, pods: lost }).message, /broker 0 runs on has no address/);
    const unpublished = messageOf(NAMED, { ...GIVEN, pods: PODS, dns: 'absent' });
    assert.match(unpublished.message, /published by DNSEndpoints/);
    assert.equal(unpublished.status, 'True');
    assert.doesNotMatch(messageOf(NAMED, { ...GIVEN, dns: 'unknown' }).message, /DNSEndpoints/);
    assert.doesNotMatch(messageOf(BY_ADDRESS, { ...GIVEN, dns: 'absent' }).message, /DNSEndpoints/);
  });

  test('says so where clients are told an address within, and nobody said that this is meant', () => {
    const within = (id: number, ...addresses: object[]) => {
      const { metadata, ...rest } = pod(id, { node: `node-${id}` });
      const annotations = {
        'isthmus.dev/node-address': '10.0.0.1',
        'isthmus.dev/node-addresses': JSON.stringify([{ type: 'InternalIP', address: `10.0.0.${id}` }, ...addresses]), // prettier-ignore
      };
      return { ...rest, metadata: { ...metadata, annotations } };
    };
    const pods = [within(0), PODS[1]!, within(2)];
    const words = /^listener "kafka-external": the nodes of brokers 0, 2 have no ExternalIP, so clients are told the InternalIP; set preferredAddressType: InternalIP if they reach that$/; // prettier-ignore
    for (const spec of [NAMED, BY_ADDRESS]) {
      const { status, reason, message } = messageOf(spec, { ...GIVEN, pods });
      assert.deepEqual([status, reason], ['True', 'NoPublicAddress']);
      assert.match(message, words);
      assert.equal(messageOf(spec, { ...GIVEN, pods: PODS }).reason, 'OperatorQuiescent');
    }
    const meant = { configuration: { kafkaApi: [{}, { external: { enabled: true, preferredAddressType: 'InternalIP' } }] } }; // prettier-ignore
    assert.equal(messageOf(meant, { ...GIVEN, pods }).reason, 'OperatorQuiescent');
    const both = [0, 1, 2].map((id) => within(id, { type: 'ExternalIP', address: `192.0.2.${id}` }));
    assert.equal(messageOf(NAMED, { ...GIVEN, pods: both }).reason, 'OperatorQuiescent');
  });

  test('says what the scheduler says where there are more brokers than nodes', () => {
    const message = '0/2 nodes are available: 2 node(s) didn’t have free ports.';
    const conditions = [{ type: 'PodScheduled', status: 'False', reason: 'Unschedulable', message }];
    const pods = [PODS[0]!, PODS[1]!, { ...pod(2), status: { phase: 'Pending', conditions } }];
    const said = messageOf(NAMED, { ...GIVEN, pods });
    assert.deepEqual([said.status, said.reason], ['False', 'PodsNotReady']);
    assert.match(said.message, /^panda-2 Unschedulable \(0\/2 nodes are available/);
  });

  test('has its brokers come back to where they were', () => {
    const preferred = (set: AnyObject) =>
      JSON.stringify(set).match(/"values":\["[^"]+"\]/g)?.map((text) => text.slice(11, -2)) ?? []; // prettier-ignore
    const all = setOf(NAMED, { ...GIVEN, pods: PODS });
    assert.deepEqual(preferred(all), ['node-0', 'node-1', 'node-2']);
    const away = setOf(NAMED, { ...GIVEN, pods: [PODS[0]!, PODS[2]!], statefulSet: all });
    assert.deepEqual(preferred(away), ['node-0', 'node-1', 'node-2']);
    const moved = setOf(NAMED, { ...GIVEN, pods: [PODS[0]!, pod(1, { node: 'new' }), PODS[2]!], statefulSet: all }); // prettier-ignore
    assert.deepEqual(preferred(moved), ['new', 'node-0', 'node-2']);
    assert.deepEqual(preferred(setOf({}, { pods: PODS })), []);
  });
});

suite('names of an exposed Redpanda cluster', () => {
  const withNames = (name: string): Observed['names'] => {
    const index = createHostIndex();
    index.add(name, { holder: 'DNSEndpoint "x" in namespace "sales"', rank: '0 ~' });
    return { ...OPEN_NAMES, published: () => index };
  };
  const policy = (namespaces: object) =>
    read(namePolicy, {
      apiVersion: 'isthmus.dev/v1alpha1',
      kind: 'NamePolicy',
      metadata: { name: 'p' },
      spec: { zone: 'panda.test', namespaces },
    } as AnyObject).resource!;
  const CLOSED = { ...OPEN_NAMES, namePolicies: [policy({ matchLabels: { team: 'a' } })] };
  const OTHER = { externalConnectivity: { enabled: true, subdomain: 'other.test' } };
  const reasonOf = (...given: Parameters<typeof observed>) =>
    conditionsOf(observed(...given)).get('OperatorQuiescent') ?? assert.fail('nothing is said');
  const running = () => ({
    ...GIVEN,
    pods: PODS,
    statefulSet: setOf(NAMED, GIVEN),
    dnsEndpoint: find(objectsFor(NAMED, { ...GIVEN, pods: PODS }), 'DNSEndpoint', 'panda-external')!,
  });

  test('are not had where somebody else has one: the listener is left out, and its port kept', () => {
    for (const name of ['bootstrap.panda.test', '7.panda.test', '$(nodeId).panda.test']) {
      const seen = { ...GIVEN, names: withNames(name) };
      assert.equal(reasonOf(NAMED, seen).reason, 'HostNameTaken');
      assert.match(reasonOf(NAMED, seen).message, /DNSEndpoint "x".*choose another subdomain/);
      const objects = objectsFor(NAMED, seen);
      assert.deepEqual(hostPortsOf(find(objects, 'StatefulSet')!), []);
      assert.deepEqual(recordsIn(objects), undefined);
      assert.equal(nodePortIn(objects), 31_234);
    }
    const otherwise = { ...GIVEN, names: withNames('7.other.test') };
    assert.notEqual(reasonOf(NAMED, otherwise).reason, 'HostNameTaken');
    assert.match(reasonOf(OTHER, otherwise).message, /hostPattern: \$\(id\)\.\$\(cluster\)/);
  });

  test('stay with whom has them, whatever somebody else publishes later', () => {
    const seen = { ...running(), names: withNames('bootstrap.panda.test') };
    assert.notEqual(reasonOf(NAMED, seen).reason, 'HostNameTaken');
    assert.equal(recordsIn(objectsFor(NAMED, seen))?.length, 4);
  });

  test('that cannot be had leave those of before: no broker is restarted', () => {
    const seen = { ...running(), names: withNames('bootstrap.other.test') };
    assert.match(reasonOf(OTHER, seen).message, /goes on as bootstrap\.panda\.test/);
    assert.equal(revisionOf(OTHER, seen), revisionOf(NAMED, running()));
    assert.deepEqual(recordsIn(objectsFor(OTHER, seen)), recordsIn(objectsFor(NAMED, running())));
  });

  test('are had as policies say; what a later one forbids is published no more, and brokers run on', () => {
    assert.equal(reasonOf(NAMED, { ...GIVEN, names: CLOSED }).reason, 'HostNameNotAllowed');
    const allowed = { ...GIVEN, names: { ...CLOSED, namespaceLabels: { team: 'a' } } };
    assert.notEqual(reasonOf(NAMED, allowed).reason, 'HostNameNotAllowed');
    const forbidden = { ...running(), names: CLOSED };
    assert.equal(reasonOf(NAMED, forbidden).reason, 'HostNameNotAllowed');
    assert.deepEqual(recordsIn(objectsFor(NAMED, forbidden)), []);
    assert.equal(revisionOf(NAMED, forbidden), revisionOf(NAMED, running()));
    const dnsEndpoint = find(objectsFor(NAMED, forbidden), 'DNSEndpoint', 'panda-external')!;
    assert.equal(recordsIn(objectsFor(NAMED, { ...running(), dnsEndpoint }))?.length, 4);
    const withdrawn = { ...running(), statefulSet: setOf(NAMED, forbidden), dnsEndpoint };
    assert.equal(recordsIn(objectsFor(NAMED, withdrawn))?.length, 4, 'all is back with the right to it');
    const lost = { ...withdrawn, names: withNames('bootstrap.panda.test') };
    assert.equal(reasonOf(NAMED, lost).reason, 'HostNameTaken');
    assert.deepEqual(hostPortsOf(setOf(NAMED, lost)), [], 'it is somebody else’s by now');
  });

  test('of all clusters of a namespace together are no more than a policy allows', () => {
    const limited = read(namePolicy, {
      apiVersion: 'isthmus.dev/v1alpha1',
      kind: 'NamePolicy',
      metadata: { name: 'p' },
      spec: { zone: 'panda.test', namespaces: {}, limits: { namesPerNamespace: 6 } },
    } as AnyObject).resource!;
    const beside = (kind: 'Kafka' | 'Redpanda cluster', count: number) => ({
      ...OPEN_NAMES,
      namePolicies: [limited],
      others: [
        {
          cluster: { kind, namespace: 'n', name: 'b' },
          pattern: '$(id).b.panda.test',
          since: '2026-01-01T00:00:00Z',
          count,
        },
      ],
    });
    const reasonBeside = (...others: Parameters<typeof beside>) =>
      reasonOf(NAMED, { ...GIVEN, names: beside(...others) }).reason;
    assert.equal(reasonBeside('Redpanda cluster', 3), 'HostNameLimitReached');
    assert.notEqual(reasonBeside('Redpanda cluster', 2), 'HostNameLimitReached');
    assert.notEqual(reasonBeside('Kafka', 3), 'HostNameLimitReached');
  });

  test('that were written down in a way that nobody can read count as none', () => {
    for (const text of ['', '{}', '[]', '{"broker":7,"bootstrap":"x"}', 'null']) {
      const { metadata, ...rest } = setOf(NAMED, GIVEN);
      const annotations = { ...metadata.annotations, [NAMES_ANNOTATION]: text };
      const statefulSet = { ...rest, metadata: { ...metadata, annotations } };
      assert.equal(
        reasonOf(NAMED, { ...GIVEN, statefulSet, names: withNames('bootstrap.panda.test') }).reason,
        'HostNameTaken',
      );
    }
  });
});
