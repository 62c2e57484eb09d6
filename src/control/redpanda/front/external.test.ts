import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import fc from 'fast-check';
import { parseAs } from '../../../resources/parse.ts';
import { redpandaCluster } from '../../../resources/redpanda/cluster.ts';
import { brokerName } from '../host-names.ts';
import { fromCluster } from './cluster.ts';
import { cpuMs } from '../../../../test/support/cpu.ts';
import { readTemplate } from './endpoint-template.ts';

function reading(spec: object, name = 'panda', annotations: Record<string, string> = {}) {
  const document = {
    apiVersion: 'redpanda.vectorized.io/v1alpha1',
    kind: 'Cluster',
    metadata: { name, namespace: 'n', uid: 'u', annotations },
    spec: { version: 'v25.2.1', ...spec },
  };
  const parsed = parseAs(redpandaCluster, document, { unknownFields: 'ignore' });
  assert.ok(parsed.ok, JSON.stringify(parsed));
  return fromCluster(parsed.resource, undefined);
}

const withExternal = (external: object, api: object = {}, more: object[] = []) =>
  reading({ configuration: { kafkaApi: [{ port: 9092 }, { ...api, external: { enabled: true, ...external } }, ...more] } }); // prettier-ignore

const refusalOf = (...given: Parameters<typeof withExternal>) => {
  const { model, faults } = withExternal(...given);
  assert.equal(model, undefined);
  return faults.map(({ reason, message }) => `${reason} ${message}`).join('\n');
};

suite('external connectivity of a Redpanda Cluster', () => {
  test('is asked for in three ways, which mean the same', () => {
    const wishes = [
      { externalDNSSubdomain: 'a.test' },
      { externalConnectivity: { enabled: true, subdomain: 'a.test' } },
      { configuration: { kafkaApi: [{}, { external: { enabled: true, subdomain: 'a.test' } }] } },
      { configuration: { kafkaApi: [{ external: { enabled: true, subdomain: 'a.test' } }] } },
    ].map((spec) => {
      const { model, external, faults } = reading(spec);
      assert.deepEqual(faults, []);
      assert.deepEqual(model?.kafka.map(({ name, port }) => [name, port]), [['kafka', 9092]]); // prettier-ignore
      return external;
    });
    for (const { listener, wantedPort } of wishes.map((wish) => wish!)) {
      assert.deepEqual([listener.name, listener.port, wantedPort], ['kafka-external', 9093, undefined]);
      assert.deepEqual(listener.names, { broker: '$(id).a.test', bootstrap: 'bootstrap.a.test' });
    }
    assert.equal(reading({ externalConnectivity: { enabled: false, subdomain: 'a.test' } }).external, undefined); // prettier-ignore
  });

  test('lets several clusters be in one zone', () => {
    const hostPattern = '$(id).$(cluster).$(subdomain)';
    const names = { broker: '$(id).panda.a.test', bootstrap: 'bootstrap.panda.a.test' };
    for (const { external } of [
      reading({ externalDNSSubdomain: 'a.test', externalConnectivity: { hostPattern } }),
      withExternal({ subdomain: 'a.test', hostPattern }),
    ])
      assert.deepEqual(external?.listener.names, names);
  });

  test('names brokers by a template, as far as that is understood', () => {
    const namesFor = (endpointTemplate: string) =>
      withExternal({ subdomain: 'a.test', endpointTemplate }).external?.listener.names;
    const named = (template: string) => brokerName(namesFor(template)!, 2, '192.0.2.7');
    assert.equal(named('broker-{{.Index}}'), 'broker-2.a.test');
    assert.equal(named('{{ add .Index 10 }}-x'), '12-x.a.test');
    assert.equal(named('{{add 1 .Index}}'), '3.a.test');
    assert.equal(named('{{.HostIP}}'), '192.0.2.7.a.test');
    assert.equal(namesFor('broker-{{.Index}}')?.bootstrap, 'bootstrap.a.test');
    const refused = (endpointTemplate: string) => refusalOf({ subdomain: 'a.test', endpointTemplate });
    assert.match(refused('{{.Index | quote}}'), /^NotSupported kafkaApi\.1\.external\.endpointTemplate: \{\{\.Index \| quote\}\} is not understood; use \{\{\.Index\}\}/); // prettier-ignore
    assert.match(refused('{{.Index'), /not understood/);
    assert.match(refused('broker'), /each broker needs a name of its own/);
    assert.match(refused('{{.Index}}/x'), /^Invalid .*is not a host name/);
    const label = Array.from({ length: 8 }, () => '{{add .Index 99999}}').join('-');
    assert.ok(namesFor(`${label}.${label}`));
    assert.match(refused([label, label, label, label].join('.')), /^Invalid .*use fewer actions/);
  });

  test('takes no time to read, whatever it is', () => {
    for (const text of [
      `{{${' '.repeat(2000)}`,
      `{{${' '.repeat(2000)}}x`,
      '{{ '.repeat(2000),
      '{'.repeat(6000),
    ])
      assert.ok(cpuMs(() => assert.ok('problem' in readTemplate(text))) < 1000, text.slice(0, 4));
  });

  test('gives every broker a name of its own, whatever template is understood', () => {
    const part = fc.oneof(
      fc.constantFrom('{{.Index}}', '{{ .HostIP }}', '{{ add .Index 3 }}', '{{now}}', '{{', '}}', '$(id)'),
      fc.stringMatching(/^[a-z0-9-]{0,5}$/),
    );
    let understood = 0;
    fc.assert(
      fc.property(fc.array(part, { maxLength: 4 }), (parts) => {
        const read = readTemplate(parts.join(''));
        if ('problem' in read) return;
        understood += 1;
        const names = { broker: read.pattern, bootstrap: '' };
        const hosts = [0, 1, 2].map((id) => brokerName(names, id, `192.0.2.${id}`));
        assert.equal(new Set(hosts).size, 3, JSON.stringify(hosts));
      }),
      { numRuns: 300 },
    );
    assert.ok(understood > 10, `${understood} of 300`);
  });

  test('takes the port of the nodes that its owner names, and one of the pods that is free', () => {
    assert.equal(withExternal({}, { port: 30_092 }).external?.wantedPort, 30_092);
    assert.equal(withExternal({}, { port: 0 }).external?.wantedPort, undefined);
    assert.match(refusalOf({}, { port: 9094 }), /^Invalid kafkaApi\.1\.port: this is the port of the nodes/);
    const beside = withExternal({}, {}, [{ name: 'more', port: 9093 }]);
    assert.equal(beside.external?.listener.port, 9094);
  });

  test('chooses a port by itself where that is asked for, by an annotation where the CRD has no field for it', () => {
    assert.equal(withExternal({}).external?.strategy, 'reserve');
    assert.equal(withExternal({ portStrategy: 'range' }).external?.strategy, 'range');
    const spec = { externalConnectivity: { enabled: true } };
    const annotated = (value: string) => reading(spec, 'panda', { 'isthmus.dev/port-strategy': value });
    assert.equal(annotated('range').external?.strategy, 'range');
    assert.match(
      JSON.stringify(annotated('any').faults),
      /write reserve or range into isthmus\.dev\/port-strategy/,
    );
  });

  test('is refused by the field where it cannot be', () => {
    const tls = { enabled: true, nodeSecretRef: { name: 's' } };
    assert.match(refusalOf({}, { tls }), /^Invalid kafkaApi\.1\.tls: add a subdomain/);
    assert.deepEqual(withExternal({ subdomain: 'a.test' }, { tls }).external?.listener.tls, { secret: 's', clientCa: undefined }); // prettier-ignore
    assert.match(refusalOf({ subdomain: 'a.test' }, { tls: { enabled: true } }), /kafkaApi\.1\.tls\.nodeSecretRef/); // prettier-ignore
    assert.match(
      refusalOf({ portStrategy: 'range' }, { port: 30_092 }),
      /^Invalid kafkaApi\.1\.port: remove it/,
    );
    assert.match(refusalOf({ portTemplate: '30000 + {{.Index}}' }), /^NotSupported .*portTemplate/);
    assert.match(refusalOf({ hostPattern: '$(id).$(subdomain)' }), /external\.hostPattern: .*no subdomain/);
    assert.match(refusalOf({}, {}, [{ name: 'two', external: { enabled: true } }]), /kafkaApi\.2\.external: there can be one/); // prettier-ignore
    assert.match(refusalOf({}, { name: 'kafka' }), /^Invalid kafkaApi\.1\.name: another port is called kafka/); // prettier-ignore
    const long = reading({ externalConnectivity: { enabled: true } }, 'p'.repeat(55));
    assert.match(JSON.stringify(long.faults), /at most 54 characters/);
  });

  test('goes on where something else is asked for, and says that this has no effect', () => {
    const external = { enabled: true };
    const { model, faults } = reading({ configuration: { adminApi: [{}, { external }], schemaRegistry: { external } } }); // prettier-ignore
    assert.ok(model);
    assert.match(
      JSON.stringify(faults),
      /FieldIgnored.*adminApi, schemaRegistry has no effect: only kafkaApi/,
    );
    const ignored = withExternal({ bootstrapLoadBalancer: { port: 1 }, excludeFromService: true }).faults;
    assert.deepEqual(ignored.map(({ reason }) => reason), ['FieldIgnored', 'FieldIgnored']); // prettier-ignore
  });
});
