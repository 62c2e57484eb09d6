/**
 * Ports on this machine's loopback that lead into the hub, so that the test (and kubectl beside it) reaches the API
 * servers in their namespaces while nothing is added to the machine's own network. A socket belongs to the namespace in
 * which it was made: the listening one is made here and handed to a process in the hub, which connects from there.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import type { Namespace } from './namespaces.ts';

export interface Forwarding {
  /** Opens a port on 127.0.0.1 that leads to the address. */
  open(host: string, port: number): Promise<number>;
  stop(): Promise<void>;
}

/** Starts the process in the hub. */
export function startForwarding(hub: Namespace): Forwarding {
  const forwarder = [process.execPath, join(import.meta.dirname, 'forwarder.ts')];
  const child = spawn('setpriv', ['--pdeathsig', 'KILL', ...hub.enter(forwarder)], {
    stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
  });
  child.on('error', () => {}); // seen by whoever opens a port
  return {
    async open(host, port) {
      const server = createServer().listen(0, '127.0.0.1');
      await once(server, 'listening');
      const local = (server.address() as AddressInfo).port;
      const sent = Promise.withResolvers<void>();
      child.send({ host, port }, server, (error) => (error ? sent.reject(error) : sent.resolve()));
      await sent.promise;
      server.close(); // from here on the process in the hub alone accepts
      return local;
    },
    async stop() {
      if (child.exitCode !== null || child.signalCode !== null) return;
      const exit = once(child, 'exit');
      child.kill('SIGKILL');
      await exit;
    },
  };
}
