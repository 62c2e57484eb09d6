/** kcat. Debian 12's librdkafka 2.0.2 fails at SCRAM, with the right password too: use PLAIN with it. */
import { ensureKcat } from '../install/kcat.ts';
import { excerpt, run } from '../../../src/store/embedded/process.ts';
import { librdkafkaSecurity } from './librdkafka.ts';
import { DEFAULT_TIMEOUT_MS } from './types.ts';
import type { Client, Target, TestRecord } from './types.ts';

async function kcat(target: Target, args: readonly string[], stdin?: string): Promise<string> {
  const { program, env } = await ensureKcat();
  const { bootstrap, security = {}, timeoutMs = DEFAULT_TIMEOUT_MS } = target;
  const config = Object.entries(librdkafkaSecurity(security)).flatMap(([key, value]) => [
    '-X',
    `${key}=${value}`,
  ]);
  const { code, stdout, stderr } = await run(program, ['-b', bootstrap, '-m', '60', ...config, ...args], {
    env,
    stdin,
    timeoutMs,
  });
  if (code !== 0) throw new Error(`kcat (${code}): ${excerpt(stderr)}`);
  return stdout;
}

export const kcatClient: Client = {
  async produce({ records, ...target }) {
    // -Z: what is empty is null.
    const stdin = records.map(({ key, value }) => `${key ?? ''}\t${value ?? ''}\n`).join('');
    await kcat(target, ['-P', '-t', target.topic, '-K', '\t', '-Z', '-X', 'acks=all'], stdin);
  },
  async consume({ count, group, ...target }) {
    const from = ['-o', 'beginning', '-c', String(count), '-J', '-q'];
    const simple = ['-C', '-t', target.topic, ...from];
    const grouped = ['-G', group ?? '', ...from, '-X', 'auto.offset.reset=earliest', target.topic];
    const lines = (await kcat(target, group === undefined ? simple : grouped)).split('\n').slice(0, -1);
    return lines.map((line) => {
      const { key = null, payload = null } = JSON.parse(line) as { key?: string; payload?: string };
      return { key, value: payload } satisfies TestRecord;
    });
  },
};
