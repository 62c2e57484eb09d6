import assert from 'node:assert/strict';
import { Duplex } from 'node:stream';
import { suite, test } from 'node:test';
import { connect } from 'node:tls';
import fc from 'fast-check';
import { clientHelloReader } from './client-hello.ts';

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

const record = (part: Buffer) =>
  Buffer.concat([Buffer.from([22, 3, 1, part.length >> 8, part.length & 0xff]), part]);

/** Cuts at these places, in any order. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map((place) => 1 + (place % (bytes.length - 1))))].toSorted(
    (a, b) => a - b,
  );
  return [0, ...ends].map((from, i) => bytes.subarray(from, ends[i] ?? bytes.length));
}

/** What is found when the bytes come in these packets, and when. */
function readInPackets(packets: readonly Buffer[]) {
  const read = clientHelloReader();
  const bytes = Buffer.concat(packets);
  let end = 0;
  for (const packet of packets) {
    const result = read(bytes.subarray(0, (end += packet.length)));
    if (result.found !== 'more') return { result, end };
  }
  return { result: { found: 'more' as const }, end };
}

const found = (bytes: Buffer) => readInPackets([bytes]).result;

suite('ClientHello', () => {
  test('the server name is read out of a real one', async () => {
    const hello = await realHello('b-7.kafka.example.com');
    assert.deepEqual(found(hello), { found: 'hello', serverName: 'b-7.kafka.example.com' });
    assert.deepEqual(found(await realHello(undefined)), { found: 'hello', serverName: '' });
  });

  test('any part of it asks for more', async () => {
    const hello = await realHello('x.example.com');
    for (let end = 0; end < hello.length; end += 13)
      assert.equal(found(hello.subarray(0, end)).found, 'more', `${end} bytes`);
  });

  test('any cut into packets and records gives the same result, as soon as it is there', async () => {
    const message = (await realHello('x.example.com')).subarray(5);
    const places = fc.array(fc.nat(), { maxLength: 60 });
    fc.assert(
      fc.property(places, places, (records, packets) => {
        const bytes = Buffer.concat(cut(message, records).map(record));
        const { result, end } = readInPackets(cut(bytes, packets));
        assert.deepEqual(result, { found: 'hello', serverName: 'x.example.com' });
        assert.equal(end, bytes.length);
      }),
    );
  });

  test('any bytes give the same result in one packet as in many', async () => {
    const hello = await realHello('x.example.com');
    const damage = fc.array(fc.tuple(fc.nat(hello.length - 1), fc.nat(255)), { maxLength: 5 });
    fc.assert(
      fc.property(damage, fc.array(fc.nat(), { maxLength: 40 }), (changes, packets) => {
        const damaged = Buffer.from(hello);
        for (const [at, value] of changes) damaged[at] = value;
        const whole = found(damaged);
        const { result } = readInPackets(cut(damaged, packets));
        // How the first bytes are described may depend on how many there were.
        assert.deepEqual(result.found === 'bad' ? 'bad' : result, whole.found === 'bad' ? 'bad' : whole);
      }),
      { numRuns: 300 },
    );
  });

  test('what is no TLS is named', () => {
    assert.deepEqual(found(Buffer.from('GET / HTTP/1.1')), {
      found: 'bad',
      why: 'this is no TLS handshake: this looks like HTTP',
    });
  });

  test('one that is too long, in too many records or in empty ones is refused', () => {
    const head = (length: number) => Buffer.from([1, 0, length >> 8, length & 0xff]);
    assert.match(JSON.stringify(found(record(head(16_385)))), /16385 bytes/);
    assert.equal(found(record(head(16_384))).found, 'more');
    const ones = Buffer.concat(
      [...head(1000), ...Buffer.alloc(61)].map((byte) => record(Buffer.from([byte]))),
    );
    assert.equal(found(ones.subarray(0, 64 * 6)).found, 'more');
    assert.match(JSON.stringify(found(ones)), /more than 64 TLS records/);
    assert.match(JSON.stringify(found(record(Buffer.alloc(0)))), /empty TLS record/);
  });
});
