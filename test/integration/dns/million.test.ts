/** A million mutated packets: through the function that answers, and a share of them through real sockets. */
import assert from 'node:assert/strict';
import { createSocket } from 'node:dgram';
import test from 'node:test';
import { fuzz, mutate, randomPacket, seededRandom } from '../../support/dns/fuzzing.ts';
import { readReply } from '../../support/dns/testing.ts';
import { askAll } from './ask.ts';
import { startOurs } from './server.ts';

const PACKETS = Number(process.env['ISTHMUS_FUZZ_PACKETS'] ?? 1_000_000);
const SEED = Number(process.env['ISTHMUS_FUZZ_SEED'] ?? 1);

test(`${PACKETS} mutated packets: never a crash, each answered properly or dropped`, (t) => {
  const codes = fuzz(PACKETS, SEED);
  t.diagnostic(
    `answers by response code: ${[...codes].map(([code, times]) => `${code}: ${times}`).join(', ')}`,
  );
  assert.ok(codes.size >= 6);
});

for (const udp of ['fast', 'portable'] as const) {
  test(`${udp}: a share of them over a socket, and the server still serves`, async () => {
    const records = [{ name: 'a.example.test', type: 'A' as const, data: '10.0.0.1' }];
    await using server = await startOurs({ zones: [{ name: 'example.test' }], records, udp });
    const random = seededRandom(SEED);
    const socket = createSocket('udp4');
    for (let i = 0; i < PACKETS / 50; i++) {
      const bytes = mutate(random, randomPacket(random, ['a.example.test']));
      await new Promise((resolve) => socket.send(bytes, server.port, '127.0.0.1', resolve));
    }
    socket.close();
    const [answer] = await askAll(server.port, [{ name: 'a.example.test', type: 'A' }]);
    assert.equal(readReply(answer!).answer.length, 1);
    assert.match(await server.metrics(), /rcode="FORMERR"\} [1-9]/);
  });
}
