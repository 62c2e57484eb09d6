import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { test } from 'node:test';
import { connect } from 'node:tls';
import fc from 'fast-check';
import { parseClientHello } from './client-hello.ts';

/** What Node's own TLS client sends first. */
async function realHello(servername: string | undefined): Promise<Buffer> {
  const { promise, resolve } = Promise.withResolvers<Buffer>();
  const socket = new Duplex({
    read() {},
    write(chunk: Buffer, _encoding, done) {
      resolve(chunk);
      done();
    },
  });
  const client = connect({ socket, ...(servername === undefined ? {} : { servername }) });
  client.on('error', () => {});
  const hello = await promise;
  client.destroy();
  return hello;
}

test('the server name is read out of a real ClientHello', async () => {
  const hello = await realHello('b-7.kafka.example.com');
  assert.deepEqual(parseClientHello(hello), { found: 'hello', serverName: 'b-7.kafka.example.com' });
  assert.deepEqual(parseClientHello(await realHello(undefined)), { found: 'hello', serverName: '' });
});

test('any part of it asks for more, also when it is cut into records', async () => {
  const hello = await realHello('x.example.com');
  for (let end = 0; end < hello.length; end += 13)
    assert.equal(parseClientHello(hello.subarray(0, end)).found, 'more', `${end} bytes`);
  const message = hello.subarray(5);
  const record = (part: Buffer) => {
    const head = Buffer.from(hello.subarray(0, 5));
    head.writeUInt16BE(part.length, 3);
    return Buffer.concat([head, part]);
  };
  const cut = Buffer.concat([
    record(message.subarray(0, 3)),
    record(message.subarray(3, 100)),
    record(message.subarray(100)),
  ]);
  assert.deepEqual(parseClientHello(cut), { found: 'hello', serverName: 'x.example.com' });
});

test('what is no TLS is named, and damaged bytes are never an exception', async () => {
  assert.equal(parseClientHello(Buffer.from('GET / HTTP/1.1')).found, 'bad');
  const hello = await realHello('x.example.com');
  fc.assert(
    fc.property(fc.nat(hello.length - 1), fc.nat(255), (at, value) => {
      const damaged = Buffer.from(hello);
      damaged[at] = value;
      parseClientHello(damaged);
    }),
    { numRuns: 500 },
  );
});
