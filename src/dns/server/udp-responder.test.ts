import assert from 'node:assert/strict';
import test from 'node:test';
import { CELL, createCounters } from './counters.ts';
import { NEVER } from './responder.ts';
import { createUdpResponder } from './udp-responder.ts';
import { createClientAddress, setAddressText } from '../wire/client-address.ts';
import { question, readReply, serveText } from '../../../test/support/dns/testing.ts';

const { zones } = serveText('a.example.test A 10.0.0.1');
const answering = (rateLimit: Parameters<typeof createUdpResponder>[1]['rateLimit']) => {
  const counters = createCounters();
  const cookies = { current: new Uint8Array(16), previous: [] };
  const options = {
    maxUdpPayload: 1232,
    cookies,
    transferAllowed: () => false,
    keys: [],
    isTransferable: () => true,
    rateLimit,
    seed: 1,
  };
  const responder = createUdpResponder(zones, options, counters);
  const client = createClientAddress();
  setAddressText(client, '192.0.2.1');
  responder.setTime(1_000_000);
  const send = (query: Buffer) => {
    const out = Buffer.alloc(responder.bufferSize);
    return out.subarray(0, responder.respond(query, 0, query.length, out, 0, client, NEVER));
  };
  return { send, counters };
};

test('above the limit every second answer is cut to its question, with TC; the rest is dropped', () => {
  const { send, counters } = answering({ perSecond: 1, slip: 2, exempt: [] });
  const query = question('a.example.test', 'A', { id: 99, payload: 1232 });
  assert.equal(readReply(send(query)).answer.length, 1);
  assert.equal(send(query).length, 0);
  const slipped = send(query);
  assert.ok(slipped.length <= query.length, 'never larger than what was sent');
  assert.deepEqual(
    [readReply(slipped).truncated, readReply(slipped).answer, slipped.readUInt16BE(0)],
    [true, [], 99],
  );
  assert.deepEqual([counters.cells[CELL.rateDropped], counters.cells[CELL.rateSlipped]], [1, 1]);
});

test('without a limit nothing is held back; what is no query is counted', () => {
  const { send, counters } = answering(undefined);
  for (let i = 0; i < 100; i++) assert.ok(send(question('a.example.test', 'A')).length > 0);
  assert.equal(send(Buffer.alloc(5)).length, 0);
  assert.equal(counters.cells[CELL.dropped], 1);
});
