import assert from 'node:assert/strict';
import test from 'node:test';
import { dnsConfigSchema } from './config.ts';
import { nameserverRecords } from './nameservers.ts';
import type { NetworkInterfaceInfo } from 'node:os';

const card = (address: string, internal = false, scopeid = 0) =>
  ({ address, internal, scopeid }) as NetworkInterfaceInfo;
const interfaces = {
  lo: [card('127.0.0.1', true)],
  eth0: [card('192.0.2.7'), card('fe80::1', false, 2), card('fd00::7')],
};

function lines(listen: string[], env = {}): string[] {
  const zones = [{ name: 'example.test' }, { name: 'own.test', nameservers: ['ns1.own.test'] }];
  const config = dnsConfigSchema.parse({ listen, zones });
  return nameserverRecords(config, env, interfaces).map(({ name, type, data }) => `${name} ${type} ${data}`);
}

test('the default name server of a zone has the addresses where it can be asked', () => {
  assert.deepEqual(lines(['127.0.0.1:53', '[::1]:53']), [
    'ns.example.test. A 127.0.0.1',
    'ns.example.test. AAAA ::1',
  ]);
  const all = ['[::]:53', '0.0.0.0:53'];
  assert.deepEqual(lines(all, { ISTHMUS_DNS_SERVICE_HOST: '10.96.0.53' }), ['ns.example.test. A 10.96.0.53']);
  assert.deepEqual(lines(all), ['ns.example.test. A 192.0.2.7', 'ns.example.test. AAAA fd00::7']);
});
