import assert from 'node:assert/strict';
import { test } from 'node:test';
import { pino } from 'pino';
import type { ApiName } from '../../../kafka/apis.ts';
import type { ConnectionContext, FilterSetting, MessageContext } from '../../filter.ts';
import { protocolLogger } from './protocol-logger.ts';

/** What is logged of a request. */
async function logged(api: ApiName, request: object): Promise<{ message: unknown }> {
  const lines: string[] = [];
  const log = pino({ level: 'debug' }, { write: (line: string) => void lines.push(line) });
  const filter = await protocolLogger.create(protocolLogger.config.parse({}), {} as FilterSetting);
  const connection = filter.connect({ log, clientAddress: '192.0.2.1' } as ConnectionContext);
  const handler = connection.onRequest![api] as (request: object, context: MessageContext) => unknown;
  handler(request, { api, apiVersion: 1, correlationId: 2, clientId: 'test', bytes: 0 });
  return JSON.parse(lines[0]!) as { message: unknown };
}

test('messages are logged without the bytes in them', async () => {
  const request = { producerId: 7n, topics: [{ name: 't', records: Buffer.alloc(3), missing: null }] };
  assert.deepEqual((await logged('Produce', request)).message, {
    producerId: '7',
    topics: [{ name: 't', records: '(3 bytes)', missing: null }],
  });
});

test('what a client sends a million of makes a short line', async () => {
  const topics = Array.from({ length: 1_000_000 }, () => ({ name: 'x'.repeat(32_000) }));
  const line = JSON.stringify(await logged('Metadata', { topics }));
  assert.ok(line.length < 100_000, `${line.length} characters`);
  assert.match(line, /\(32000 characters\).*"\(999900 more\)"\]/);
});

test('what can hold a secret is not logged at all', async () => {
  const configs = [{ name: 'ssl.keystore.password', value: 'hunter2' }];
  for (const api of ['AlterConfigs', 'IncrementalAlterConfigs', 'SaslAuthenticate'] as const)
    assert.equal((await logged(api, { resources: [{ configs }] })).message, '(secret)');
});
