/** What a CNI's port mapping does for `hostPort`: whoever connects to that port of the node gets to the container. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import type { RunnerNode } from './nodes.ts';
import type { Pod } from './types.ts';

export interface HostPorts {
  close(): void;
}

/** Forwards the host ports of a pod, at every address of its node, until it is closed; connections end with it. */
export async function openHostPorts(
  { internal, external }: RunnerNode,
  { spec }: Pod,
  podIP: string,
): Promise<HostPorts> {
  const sockets = new Set<Socket>();
  const servers: Server[] = [];
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  const mapped = spec.containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort, containerPort }) =>
      hostPort === undefined ? [] : [{ hostPort, containerPort }],
    ),
  );
  for (const { hostPort, containerPort } of mapped)
    for (const host of [internal, external]) {
      const server = createServer((client) => {
        const inside = connect(containerPort, podIP);
        keep(client);
        keep(inside);
        client.pipe(inside).pipe(client);
        client.on('close', () => inside.destroy());
        inside.on('close', () => client.destroy());
      });
      servers.push(server.listen(hostPort, host));
      await once(server, 'listening');
    }
  return {
    close() {
      for (const server of servers) server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
