/** What a CNI's port mapping does for `hostPort`: whoever connects to that port of the node gets to the container. */
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import type { Server, Socket } from 'node:net';
import type { RunnerNode } from './nodes.ts';
import type { Pod } from './types.ts';

export interface HostPorts {
  /** Opens them at addresses that the node has been given since, too. */
  settle(): Promise<void>;
  close(): void;
}

/** Forwards the host ports of a pod, at every address of its node, until it is closed; connections end with it. */
export async function openHostPorts(node: RunnerNode, { spec }: Pod, podIP: string): Promise<HostPorts> {
  const sockets = new Set<Socket>();
  const servers = new Map<string, Server>();
  const keep = (socket: Socket) => {
    sockets.add(socket);
    socket.on('error', () => {}).on('close', () => sockets.delete(socket));
  };
  const mapped = spec.containers.flatMap(({ ports = [] }) =>
    ports.flatMap(({ hostPort, containerPort }) =>
      hostPort === undefined ? [] : [{ hostPort, containerPort }],
    ),
  );
  const addresses = () => [node.internal, node.external, ...node.more];
  async function settle(): Promise<void> {
    for (const host of addresses())
      for (const { hostPort, containerPort } of mapped)
        if (!servers.has(`${host} ${hostPort}`)) await open(host, hostPort, containerPort);
  }
  async function open(host: string, hostPort: number, containerPort: number): Promise<void> {
    const server = createServer((client) => {
      const inside = connect(containerPort, podIP);
      keep(client);
      keep(inside);
      client.pipe(inside).pipe(client);
      client.on('close', () => inside.destroy());
      inside.on('close', () => client.destroy());
    });
    servers.set(`${host} ${hostPort}`, server.listen(hostPort, host));
    await once(server, 'listening');
  }
  await settle();
  return {
    settle,
    close() {
      for (const server of servers.values()) server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
