import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayConfig } from '../config/model.ts';
import { destinationOf } from './destination.ts';

const gateway = (name: string, host: string): GatewayConfig => ({
  name,
  bindAddress: undefined,
  routing: {
    by: 'sni',
    bootstrap: { host, port: 443 },
    brokerHostPattern: `b-$(nodeId).${host}`,
    brokerPort: 443,
    listenPort: 9291,
  },
  tls: undefined,
});

test('virtual clusters that share a port are told apart by server name', () => {
  const sni = [
    { cluster: 'one', gateway: gateway('g1', 'one.example') },
    { cluster: 'two', gateway: gateway('g2', 'two.example') },
  ];
  const binding = { host: undefined, port: 9291, tls: true, destination: undefined, sni };
  assert.deepEqual(destinationOf(binding, 'one.example'), { cluster: 'one', gateway: 'g1', node: undefined });
  assert.deepEqual(destinationOf(binding, 'b-7.two.example'), { cluster: 'two', gateway: 'g2', node: 7 });
  assert.equal(destinationOf(binding, 'three.example'), undefined);
  assert.equal(destinationOf(binding, ''), undefined);
});
