import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { GatewayConfig, SniRouting } from '../config/model.ts';
import { addressingOf, matchServerName } from './addressing.ts';

const gateway = (routing: GatewayConfig['routing']): GatewayConfig => ({
  name: 'g',
  bindAddress: undefined,
  routing,
  tls: undefined,
});

test('ports count through the ranges in their order, and nodes outside have none', () => {
  const { advertise } = addressingOf(
    gateway({
      by: 'port',
      bootstrap: { host: 'kafka', port: 9192 },
      brokerHost: 'broker-$(nodeId).kafka',
      nodeStartPort: 9193,
      listen: { bootstrapPort: 1, nodeStartPort: 2 },
      nodeIdRanges: [
        { start: 0, end: 2, portOffset: 0 },
        { start: 1000, end: 1001, portOffset: 5 },
      ],
    }),
  );
  assert.deepEqual(advertise(0), { host: 'broker-0.kafka', port: 9193 });
  assert.deepEqual(advertise(2), { host: 'broker-2.kafka', port: 9195 });
  assert.deepEqual(advertise(1001), { host: 'broker-1001.kafka', port: 9199 });
  assert.deepEqual([-1, 3, 999, 1002].map(advertise), [undefined, undefined, undefined, undefined]);
});

const sni: SniRouting = {
  by: 'sni',
  bootstrap: { host: 'Bootstrap.example.com', port: 443 },
  brokerHostPattern: 'b-$(nodeId).example.com',
  brokerPort: 443,
  listenPort: 9291,
};

test('a server name means the bootstrap, a broker, or nothing', () => {
  assert.deepEqual(matchServerName(sni, 'bootstrap.EXAMPLE.com'), { node: undefined });
  assert.deepEqual(matchServerName(sni, 'B-12.example.com.'), { node: 12 });
  assert.deepEqual(matchServerName(sni, 'b-0.example.com'), { node: 0 });
  for (const wrong of [
    '',
    'b-.example.com',
    'b-01.example.com',
    'b--1.example.com',
    'b-99999999999.example.com',
  ])
    assert.equal(matchServerName(sni, wrong), undefined, wrong);
  for (const wrong of ['b-1.example.org', 'xb-1.example.com', 'b-1x.example.com', 'b-example.com'])
    assert.equal(matchServerName(sni, wrong), undefined, wrong);
});

test('what is advertised by name is understood by name', () => {
  const { advertise } = addressingOf(gateway(sni));
  assert.deepEqual(matchServerName(sni, advertise(42)!.host), { node: 42 });
  assert.equal(advertise(-1), undefined);
});
