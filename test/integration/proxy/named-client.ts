/**
 * Runs a client in a mount namespace whose /etc/hosts has names of the test's own: librdkafka asks the system's resolver
 * for every name, and can be told nothing else. Needs root, or user namespaces. Started as a program it is the inside.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { consume, produce } from '../../support/clients.ts';
import type { ClientName } from '../../support/clients.ts';
import type { ConsumeRequest, ProduceRequest, TestRecord } from '../../support/clients/types.ts';
import { excerpt, run } from '../../../src/store/embedded/process.ts';
import { workspace } from '../../support/workspace.ts';

type Order =
  | { client: ClientName; produce: ProduceRequest }
  | { client: ClientName; consume: ConsumeRequest };

/** A file for /etc/hosts in which all the names mean this machine. */
export function hostsFile(names: readonly string[]): string {
  const file = join(workspace('hosts'), 'hosts');
  writeFileSync(file, ['localhost', ...names].map((name) => `127.0.0.1 ${name}\n`).join(''));
  return file;
}

/** Carries the order out where `hosts` is /etc/hosts; what was consumed, or nothing. */
export async function runNamed(hosts: string, order: Order): Promise<TestRecord[]> {
  const isolate = ['--mount', ...(process.getuid?.() === 0 ? [] : ['--map-root-user'])];
  const script = 'mount --bind "$1" /etc/hosts && shift && exec "$@"';
  const command = ['sh', '-c', script, 'sh', hosts, process.execPath, import.meta.filename];
  const { code, stdout, stderr } = await run('unshare', [...isolate, ...command], {
    stdin: JSON.stringify(order),
    timeoutMs: 180_000,
  });
  if (code !== 0) throw new Error(`the client in a namespace of its own (${code}): ${excerpt(stderr)}`);
  return JSON.parse(stdout) as TestRecord[];
}

if (import.meta.main) {
  const order = JSON.parse(await text(process.stdin)) as Order;
  const records = 'consume' in order ? await consume(order.client, order.consume) : [];
  if ('produce' in order) await produce(order.client, order.produce);
  process.stdout.write(JSON.stringify(records));
}
