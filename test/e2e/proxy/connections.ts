/** Connections of clients outside, for which a test watches out while it changes things. */
import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Outside } from '../../support/clusters/outside.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';

const HOLDER = join(import.meta.dirname, 'holder.ts');

/** Where and how a client outside connects. */
export interface Entrance {
  outside: Outside;
  bootstrap: string;
  caFile: string;
}

/** Connections that are held open from outside. */
export interface Held {
  /** Fails if one of them was lost, or if they are not answered any more. */
  check(): Promise<void>;
  stop(): Promise<void>;
}

/** Opens connections and waits until they are answered. */
export async function holdConnections(
  name: string,
  { outside, bootstrap, caFile }: Entrance,
  connections = 6,
): Promise<Held> {
  const [host = '', port = ''] = bootstrap.split(':');
  const command = [process.execPath, HOLDER, host, port, caFile, String(connections)];
  const server = outside.serve(`held-${name}`, command);
  const said = async () => readFile(server.logFile, 'utf8');
  const answers = async () => Number(/.*"answers":(\d+)/s.exec(await said())?.[1] ?? 0);
  const held = {
    async check() {
      const before = await answers();
      const more = async () => (await answers()) >= before + 2 * connections;
      const abort = () => (server.running ? undefined : 'nobody holds them any more');
      await waitFor(`answers to ${name}`, more, { abort, everyMs: 250 });
      const lost = (await said()).split('\n').filter((line) => line.includes('"lost"'));
      assert.deepEqual(lost, [], `connections to ${name} were lost`);
    },
    stop: () => server.stop('SIGKILL'),
  };
  await held.check();
  return held;
}

/** The fingerprint of the certificate that a client outside is shown. */
export async function shownCertificate({ outside, bootstrap }: Entrance): Promise<string | undefined> {
  const script = `const [host, port] = process.argv[1].split(':');
    const socket = require('node:tls').connect({ host, port, servername: host, rejectUnauthorized: false }, () => {
      console.log(socket.getPeerCertificate().fingerprint256);
      socket.destroy();
    });`;
  const { code, stdout } = await outside.run([process.execPath, '-e', script, bootstrap]);
  return code === 0 ? stdout.trim() : undefined;
}
