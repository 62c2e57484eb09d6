/** The rules of the DNS specification of the Multi-Cluster Services API, one test a rule. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { VERSION_RECORD, clusterSetIpRecords, headlessRecords } from './mcs-records.ts';
import type { ServiceImport } from '../objects.ts';
import { lines, service, slice } from '../../../../test/support/discover/objects.ts';

const web = { namespace: 'test', name: 'web' };
const name = 'web.test.svc.clusterset.local';

function imported(spec: ServiceImport['spec'] & object): ServiceImport {
  return {
    apiVersion: 'multicluster.x-k8s.io/v1beta1',
    kind: 'ServiceImport',
    metadata: { name: 'web' },
    spec,
  };
}

test('2.2: the version of the schema', () => {
  assert.deepEqual(lines([VERSION_RECORD]), ['dns-version.clusterset.local TXT "1.0.0"']);
});

suite('2.3: a service with a ClusterSetIP', () => {
  const ports = [
    { name: 'https', port: 443, protocol: 'TCP' },
    { port: 80, protocol: 'TCP' },
  ];

  test('2.3.1: has A and AAAA; 2.3.2: SRV for named ports only, to the same name', () => {
    const { records } = clusterSetIpRecords(
      web,
      imported({ type: 'ClusterSetIP', ips: ['10.42.42.42', 'fd00::1'], ports }),
    );
    assert.deepEqual(lines(records), [
      `${name} A 10.42.42.42`,
      `${name} AAAA fd00::1`,
      `_https._tcp.${name} SRV 0 100 443 ${name}`,
    ]);
  });

  test('does not exist before it has an address', () => {
    assert.deepEqual(clusterSetIpRecords(web, imported({ type: 'ClusterSetIP', ports })).records, []);
  });
});

suite('2.4: a headless service', () => {
  const ports = [
    { name: 'client', port: 9092, protocol: 'TCP' },
    { name: '', port: 9, protocol: 'UDP' },
  ];

  test('2.4.1 and 2.4.2: each ready endpoint by service, by host and cluster, and by SRV', () => {
    const endpoints = [
      { addresses: ['10.3.0.1'], hostname: 'pet-1', conditions: { ready: true } },
      { addresses: ['10.3.0.2'], hostname: 'pet-2', conditions: { ready: false } },
    ];
    assert.deepEqual(
      lines(headlessRecords(web, { cluster: 'east', slices: [slice(endpoints, { ports })] }).records),
      [
        `${name} A 10.3.0.1`,
        `pet-1.east.${name} A 10.3.0.1`,
        `_client._tcp.${name} SRV 0 100 9092 pet-1.east.${name}`,
      ],
    );
  });

  test('both families of one host', () => {
    const slices = [
      slice([{ addresses: ['10.3.0.1'], hostname: 'pet-1' }]),
      slice([{ addresses: ['fd00::1'], hostname: 'pet-1' }], { addressType: 'IPv6' }),
    ];
    assert.deepEqual(lines(headlessRecords(web, { cluster: 'east', slices }).records), [
      `${name} A 10.3.0.1`,
      `pet-1.east.${name} A 10.3.0.1`,
      `${name} AAAA fd00::1`,
      `pet-1.east.${name} AAAA fd00::1`,
    ]);
  });

  test('an endpoint without a host name is called by its address', () => {
    const { records } = headlessRecords(web, {
      cluster: 'east',
      slices: [slice([{ addresses: ['10.3.0.1'] }])],
    });
    assert.ok(lines(records).includes(`10-3-0-1.east.${name} A 10.3.0.1`));
  });

  test('no endpoint ready: no record at all, unless the Service publishes them anyway', () => {
    const unready = [slice([{ addresses: ['10.3.0.1'], conditions: { ready: false } }], { ports })];
    assert.deepEqual(headlessRecords(web, { cluster: 'east', slices: unready }).records, []);
    const anyway = service({ clusterIP: 'None', publishNotReadyAddresses: true });
    assert.equal(
      headlessRecords(web, { cluster: 'east', slices: unready, exported: anyway }).records.length,
      3,
    );
  });

  test('2.4.4: there is no name for one cluster as a whole', () => {
    const slices = [slice([{ addresses: ['10.3.0.1'], hostname: 'a' }], { ports })];
    const { records } = headlessRecords(web, { cluster: 'east', slices });
    assert.ok(records.every((record) => record.name !== `east.${name}`));
  });

  test('where another cluster is preferred, endpoints have their names, and the service leads to none of them', () => {
    const slices = [slice([{ addresses: ['10.3.0.1'], hostname: 'a' }], { ports })];
    const { records } = headlessRecords(web, { cluster: 'east', slices, hostsOnly: true });
    assert.deepEqual(lines(records), [`a.east.${name} A 10.3.0.1`]);
  });
});
