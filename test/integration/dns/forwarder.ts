/** A real CoreDNS that forwards a zone to one of our servers, as the DNS of a cluster does. */
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { reservePorts } from '../../../src/store/embedded/ports.ts';
import { startServer, waitFor } from '../../../src/store/embedded/process.ts';
import { ensureCoreDns } from '../../support/install/coredns.ts';
import { workspace } from '../../support/workspace.ts';
import { askAll } from './ask.ts';

export interface Forwarder extends AsyncDisposable {
  readonly port: number;
}

/** Starts one that keeps answers for up to 30 s, and waits until it answers. */
export async function startForwarder(zone: string, to: number): Promise<Forwarder> {
  const folder = workspace('coredns');
  await using stack = new AsyncDisposableStack();
  const [port = 0] = stack.use(await reservePorts(1)).numbers;
  const corefile = join(folder, 'Corefile');
  await writeFile(
    corefile,
    `.:${port} {\n  bind 127.0.0.1\n  errors\n  cache 30\n  loop\n  forward ${zone} 127.0.0.1:${to}\n}\n`,
  );
  const server = startServer('coredns', await ensureCoreDns(), ['-conf', corefile], {
    logFile: join(folder, 'log'),
  });
  stack.defer(() => server.stop());
  await waitFor('coredns', () => askAll(port, [{ name: zone, type: 'SOA' }]).catch(() => undefined));
  const running = stack.move();
  return { port, [Symbol.asyncDispose]: () => running.disposeAsync() };
}
