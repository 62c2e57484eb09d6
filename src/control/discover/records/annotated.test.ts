import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { endpointObjectRecords, serviceRecords, sliceRecords } from './annotated.ts';
import { HOSTNAME_ANNOTATION } from '../names.ts';
import type { DnsEndpoint } from '../objects.ts';
import { MAX_RECORDS } from './dns-record.ts';
import { lines, service, slice } from '../../../../test/support/discover/objects.ts';

const fqdn = 'foo.xcc.test';

suite('an annotated Service', () => {
  test('leads to its cluster addresses of both families', () => {
    const result = serviceRecords(service({ clusterIPs: ['10.0.0.7', 'fd00::7'] }, { fqdn }), []);
    assert.deepEqual(lines(result.records), ['foo.xcc.test A 10.0.0.7', 'foo.xcc.test AAAA fd00::7']);
  });

  test('without the annotation says nothing, and before it has an address neither', () => {
    assert.deepEqual(serviceRecords(service({ clusterIPs: ['10.0.0.7'] }), []), {
      records: [],
      problems: [],
    });
    assert.deepEqual(serviceRecords(service(undefined, { fqdn }), []).records, []);
  });

  test('headless leads to the endpoints that are ready, and hosts have names below it', () => {
    const endpoints = [
      { addresses: ['10.1.0.1'], hostname: 'pet-0', conditions: { ready: true } },
      { addresses: ['10.1.0.2'], conditions: { ready: false } },
      { addresses: ['10.1.0.3'] },
    ];
    const result = serviceRecords(service({ clusterIP: 'None' }, { fqdn }), [slice(endpoints)]);
    assert.deepEqual(lines(result.records), [
      'foo.xcc.test A 10.1.0.1',
      'pet-0.foo.xcc.test A 10.1.0.1',
      'foo.xcc.test A 10.1.0.3',
    ]);
  });

  test('headless with publishNotReadyAddresses leads to all', () => {
    const unready = slice([{ addresses: ['10.1.0.2'], conditions: { ready: false } }]);
    const all = service({ clusterIP: 'None', publishNotReadyAddresses: true }, { fqdn });
    assert.deepEqual(lines(serviceRecords(all, [unready]).records), ['foo.xcc.test A 10.1.0.2']);
  });

  test('of type LoadBalancer leads to its address, or to its host name', () => {
    const balanced = (ingress: { ip?: string; hostname?: string }[]) =>
      lines(
        serviceRecords(
          service(
            { type: 'LoadBalancer', clusterIPs: ['10.0.0.7'] },
            { fqdn, status: { loadBalancer: { ingress } } },
          ),
          [],
        ).records,
      );
    assert.deepEqual(balanced([]), ['foo.xcc.test A 10.0.0.7'], 'until then, as in its own cluster');
    assert.deepEqual(balanced([{ ip: '192.0.2.1' }, { ip: '2001:db8::1' }]), [
      'foo.xcc.test A 192.0.2.1',
      'foo.xcc.test AAAA 2001:db8::1',
    ]);
    assert.deepEqual(balanced([{ hostname: 'b.elb.test' }, { hostname: 'a.elb.test' }]), [
      'foo.xcc.test CNAME a.elb.test',
    ]);
    assert.deepEqual(balanced([{ hostname: 'b.elb.test' }, { ip: '192.0.2.1' }]), [
      'foo.xcc.test A 192.0.2.1',
    ]);
  });

  test('of type ExternalName is an alias of what it names, and nothing while it names nothing', () => {
    const records = (spec: { externalName?: string }) =>
      lines(serviceRecords(service({ type: 'ExternalName', ...spec }, { fqdn }), []).records);
    assert.deepEqual(records({ externalName: 'db.example.com' }), ['foo.xcc.test CNAME db.example.com']);
    assert.deepEqual([records({}), records({ externalName: '' })], [[], []]);
  });

  test('with a malformed name, or one of an exported service, gets a sentence about it', () => {
    for (const bad of ['', 'not a name', 'web.default.svc.clusterset.local'])
      assert.equal(
        serviceRecords(service({ clusterIPs: ['10.0.0.7'] }, { fqdn: bad }), []).problems.length,
        1,
        bad,
      );
  });
});

suite('an annotated EndpointSlice', () => {
  const annotations = { [HOSTNAME_ANNOTATION]: '*.gateway.a.xcc.test' };

  test('may have a wildcard', () => {
    const result = sliceRecords(slice([{ addresses: ['192.0.2.1', '192.0.2.2'] }], { annotations }));
    assert.deepEqual(lines(result.records), [
      '*.gateway.a.xcc.test A 192.0.2.1',
      '*.gateway.a.xcc.test A 192.0.2.2',
    ]);
  });

  test('of names is an alias', () => {
    const result = sliceRecords(
      slice([{ addresses: ['lb.example.test'] }], { annotations, addressType: 'FQDN' }),
    );
    assert.deepEqual(lines(result.records), ['*.gateway.a.xcc.test CNAME lb.example.test']);
  });

  test('without annotation or endpoints says nothing', () => {
    assert.deepEqual(sliceRecords(slice([{ addresses: ['192.0.2.1'] }])).records, []);
    assert.deepEqual(sliceRecords({ ...slice([], { annotations }), endpoints: null }).records, []);
  });
});

suite('a DNSEndpoint', () => {
  const object = (endpoints: NonNullable<DnsEndpoint['spec']>['endpoints'] & object): DnsEndpoint => ({
    apiVersion: 'externaldns.k8s.io/v1alpha1',
    kind: 'DNSEndpoint',
    metadata: { name: 'x', namespace: 'default' },
    spec: { endpoints },
  });

  test('says what it says, each record with its TTL', () => {
    const result = endpointObjectRecords(
      object([
        { dnsName: '0.kafka.test', recordType: 'A', targets: ['192.0.2.1', '192.0.2.2'], recordTTL: 30 },
        { dnsName: 'kafka.test', recordType: 'TXT', targets: ['hello'] },
      ]),
    );
    assert.deepEqual(result.records, [
      { name: '0.kafka.test', type: 'A', data: '192.0.2.1', ttl: 30 },
      { name: '0.kafka.test', type: 'A', data: '192.0.2.2', ttl: 30 },
      { name: 'kafka.test', type: 'TXT', data: 'hello' },
    ]);
  });

  test('with one bad record keeps the others', () => {
    const result = endpointObjectRecords(
      object([
        { dnsName: 'a b', recordType: 'A' },
        { dnsName: 'a.test', recordType: 'MX', targets: ['x'] },
        {
          dnsName: 'b.test',
          recordType: 'A',
          targets: ['192.0.2.1'],
        },
      ]),
    );
    assert.deepEqual(lines(result.records), ['b.test A 192.0.2.1']);
    assert.equal(result.problems.length, 2);
  });

  test('cannot fill the memory', () => {
    const targets = Array.from({ length: MAX_RECORDS + 1 }, (_, i) => `10.0.${i >> 8}.${i & 255}`);
    const result = endpointObjectRecords(object([{ dnsName: 'a.test', recordType: 'A', targets }]));
    assert.equal(result.records.length, MAX_RECORDS);
    assert.equal(result.problems.length, 1);
  });
});
