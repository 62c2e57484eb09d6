/** Every frame that passes between real clients and a real broker comes back to the byte from our codec. */
import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { CLIENT_NAMES } from '../../support/clients.ts';
import { converse } from './conversations.ts';
import { verifyFrame } from './verify.ts';

suite('conversations', () => {
  test('of every client with a broker are understood to the byte', async () => {
    const heard = new Set<string>();
    await converse({ clients: CLIENT_NAMES, tools: 0 }, (frame) => {
      verifyFrame(frame);
      heard.add(`${frame.speaker} ${frame.apiKey} ${frame.side}`);
    });
    for (const client of CLIENT_NAMES) {
      for (const apiKey of [0, 1, 3, 18]) {
        assert.ok(heard.has(`${client} ${apiKey} request`) && heard.has(`${client} ${apiKey} response`));
      }
    }
  });
});
