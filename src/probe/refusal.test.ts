import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { suite, test } from 'node:test';
import { probeEndpoint } from './endpoint.ts';
import { refuseSpecial } from './refusal.ts';

suite('addresses that are not probed', () => {
  test('the machine itself, its neighbours and the metadata services of clouds, however they are written', () => {
    const refusal = refuseSpecial([]);
    for (const address of [
      '127.0.0.1',
      '::1',
      '169.254.169.254',
      'fe80::1',
      '::ffff:169.254.169.254',
      '64:ff9b::7f00:1',
      'fd00:ec2::254',
      '0.0.0.0',
    ])
      // prettier-ignore
      assert.match(refusal(address) ?? '', / is .*--probe-networks/, address);
    for (const address of ['10.0.0.1', '192.0.2.1', '2001:db8::1'])
      assert.equal(refusal(address), undefined, address);
  });

  test('unless they are named, and a wide network names none', () => {
    assert.equal(refuseSpecial(['127.0.0.0/8'])('127.0.0.7'), undefined);
    assert.equal(refuseSpecial(['169.254.169.254'])('169.254.169.254'), undefined);
    assert.ok(refuseSpecial(['127.0.0.0/8'])('169.254.169.254'));
    assert.ok(refuseSpecial(['0.0.0.0/0'])('127.0.0.1'));
  });

  test('nothing is connected to, and the answer of DNS is reported all the same', async (t) => {
    let connections = 0;
    const server = createServer((socket) => {
      connections += 1;
      socket.destroy();
    });
    await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
    t.after(() => void server.close());
    const endpoint = { host: 'kafka.example', port: (server.address() as AddressInfo).port };
    const options = { resolve: () => Promise.resolve(['127.0.0.1']), timeoutMs: 30_000 };
    const { addresses } = await probeEndpoint(endpoint, { ...options, refusal: refuseSpecial([]) });
    assert.deepEqual([addresses[0]?.address, addresses[0]?.failed?.step], ['127.0.0.1', 'connect']);
    assert.match(addresses[0]?.failed?.problem ?? '', /is loopback/);
    assert.equal(connections, 0);
    await probeEndpoint(endpoint, { ...options, refusal: refuseSpecial(['127.0.0.0/8']) });
    assert.equal(connections, 1);
  });
});
