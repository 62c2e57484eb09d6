/** How long our DNS server keeps its main thread at most: see turns.mjs. */
import { dirname, join } from 'node:path';
import { DNS_NODE_OPTIONS } from '../../src/control/discover/install.ts';
import { run } from '../../src/store/embedded/process.ts';
import { workspace } from '../../test/support/workspace.ts';

/** The longest turn of the event loop in milliseconds, by kind of change. `program` is the compiled one. */
export async function measureTurns(program: string, names: number): Promise<Record<string, number>> {
  const script = join(import.meta.dirname, 'turns.mjs');
  const args = [...DNS_NODE_OPTIONS.split(' '), script, dirname(program), workspace('turns'), String(names)];
  const { code, stdout, stderr } = await run(process.execPath, args, { timeoutMs: 600_000 });
  if (code !== 0) throw new Error(`the longest turns could not be measured:\n${stderr}`);
  return JSON.parse(stdout.trim().split('\n').at(-1)!) as Record<string, number>;
}
