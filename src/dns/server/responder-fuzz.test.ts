import assert from 'node:assert/strict';
import test from 'node:test';
import fc from 'fast-check';
import { checkReply, fuzz, FUZZ_ZONE } from '../../../test/support/dns/fuzzing.ts';
import { serveText } from '../../../test/support/dns/testing.ts';

// A share of the million that the integration tests send.
const PACKETS = 40_000;

test(`${PACKETS} mutated packets: never a crash, each answered properly or dropped`, () => {
  const codes = fuzz(PACKETS, 20_261_115);
  assert.ok(codes.size >= 6, 'the mutations reach most response codes');
});

test('arbitrary bytes', () => {
  const server = serveText(FUZZ_ZONE);
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600, size: 'max' }), fc.boolean(), (bytes, tcp) => {
      const reply = server.send(bytes, tcp);
      const { questionEnd } = server.responder.outcome;
      if (reply.length > 0) checkReply(Buffer.from(bytes), reply, { tcp, questionEnd, decode: true });
    }),
    { numRuns: 2000 },
  );
});
