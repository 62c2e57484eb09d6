/** confluent-kafka for Python: the newest librdkafka that a registry has. */
import { randomUUID } from 'node:crypto';
import { join } from 'node:path';
import { ensureConfluentKafka } from '../install/python.ts';
import { excerpt, run } from '../../../src/store/embedded/process.ts';
import { librdkafkaSecurity } from './librdkafka.ts';
import { DEFAULT_TIMEOUT_MS } from './types.ts';
import type { Client, Target, TestRecord } from './types.ts';

const SCRIPT = join(import.meta.dirname, 'confluent.py');

async function ask(action: string, target: Target, particulars: object): Promise<TestRecord[]> {
  const { bootstrap, topic, security = {}, timeoutMs = DEFAULT_TIMEOUT_MS } = target;
  const config = { 'bootstrap.servers': bootstrap, ...librdkafkaSecurity(security) };
  const { code, stdout, stderr } = await run('python3', [SCRIPT], {
    stdin: JSON.stringify({ action, config, topic, timeoutMs, ...particulars }),
    env: { PYTHONPATH: await ensureConfluentKafka() },
    timeoutMs: timeoutMs + 10_000,
  });
  if (code !== 0) throw new Error(`confluent-kafka (${code}): ${excerpt(stderr)}`);
  return JSON.parse(stdout) as TestRecord[];
}

export const confluentClient: Client = {
  async produce({ records, ...target }) {
    await ask('produce', target, { records });
  },
  consume: ({ count, group = randomUUID(), ...target }) => ask('consume', target, { count, group }),
};
