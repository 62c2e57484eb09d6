/** The process in the hub that `forward.ts` starts: accepts on sockets it is handed, connects from where it stands. */
import { connect } from 'node:net';
import type { Server } from 'node:net';

process.on('message', ({ host, port }: { host: string; port: number }, server: Server) => {
  server.on('connection', (client) => {
    const upstream = connect({ host, port });
    for (const [socket, other] of [
      [client, upstream],
      [upstream, client],
    ] as const) {
      socket.on('error', () => other.destroy());
      socket.on('close', () => other.destroy());
      socket.pipe(other);
    }
  });
});
