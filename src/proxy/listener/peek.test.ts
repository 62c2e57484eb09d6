import assert from 'node:assert/strict';
import type { Socket } from 'node:net';
import { Duplex } from 'node:stream';
import { mock, test } from 'node:test';
import fc from 'fast-check';
import { clientHelloReader } from './client-hello.ts';
import { peekSocket } from './peek.ts';

/** A socket that has sent these packets, one after the other, and what is written to it. */
function socketWith(packets: readonly Buffer[]): Socket {
  const rest = [...packets];
  const stream = new Duplex({ read() {}, write: (_chunk, _encoding, done) => done() });
  const next = () => {
    const packet = rest.shift();
    if (!packet || stream.destroyed) return;
    stream.push(packet);
    setImmediate(next);
  };
  setImmediate(next);
  return stream as unknown as Socket;
}

/** Runs, and says how many bytes were copied from buffer to buffer meanwhile. */
async function bytesCopied(run: () => Promise<unknown>): Promise<number> {
  let bytes = 0;
  const { copy } = Buffer.prototype;
  const concat = Buffer.concat.bind(Buffer);
  const count = (copied: number) => {
    bytes += copied;
    return copied;
  };
  const copies = mock.method(
    Buffer.prototype,
    'copy',
    function (this: Buffer, ...args: Parameters<typeof copy>) {
      return count(copy.apply(this, args));
    },
  );
  const concats = mock.method(Buffer, 'concat', (list: Buffer[], length?: number) => {
    const joined = concat(list, length);
    count(joined.length);
    return joined;
  });
  await run().finally(() => {
    copies.mock.restore();
    concats.mock.restore();
  });
  return bytes;
}

const LONGEST = 16_384;
/** A record with a ClientHello that ends with its last byte. */
function helloOf(length: number): Buffer {
  const record = Buffer.alloc(5 + 4 + length);
  record.set([22, 3, 1, (length + 4) >> 8, (length + 4) & 0xff, 1, 0, length >> 8, length & 0xff]);
  return record;
}

test('what a first look costs is linear in the bytes, however small the packets are', async () => {
  const length = fc.integer({ min: 100, max: LONGEST });
  await fc.assert(
    fc.asyncProperty(length, fc.integer({ min: 1, max: 2000 }), async (helloLength, packetLength) => {
      const hello = helloOf(helloLength);
      const packets: Buffer[] = [];
      for (let at = 0; at < hello.length; at += packetLength)
        packets.push(hello.subarray(at, at + packetLength));
      const read = clientHelloReader();
      let first: Buffer | null = null;
      const copied = await bytesCopied(async () => {
        const socket = socketWith(packets);
        await peekSocket(socket, 60_000, (bytes) =>
          read(bytes).found === 'hello' ? { length: 0 } : undefined,
        );
        first = socket.read() as Buffer | null;
      });
      assert.deepEqual(first, hello);
      assert.ok(copied <= 6 * hello.length + 1024, `${copied} bytes copied for ${hello.length}`);
    }),
    { numRuns: 15, examples: [[LONGEST, 1]] },
  );
});
