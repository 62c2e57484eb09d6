/** Probes of a container, as the kubelet makes them: TCP connections to the pod's address, and commands inside. */
import { createConnection } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Container } from './container.ts';
import type { ContainerSpec, Probe } from './types.ts';

function accepts(host: string, port: number, timeout: number): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>();
  const socket = createConnection({ host, port, timeout });
  const end = (is: boolean) => () => {
    socket.destroy();
    resolve(is);
  };
  socket.on('connect', end(true)).on('error', end(false)).on('timeout', end(false));
  return promise;
}

const portNumber = ({ ports = [] }: ContainerSpec, port: number | string) =>
  typeof port === 'number' ? port : ports.find(({ name }) => name === port)?.containerPort;

/** What the pod runner cannot do for a container, rather than leaving it out in silence. */
export function problemOf(spec: ContainerSpec): string | undefined {
  const unknown = ['startupProbe', 'lifecycle', 'envFrom'].find((key) => key in spec);
  if (unknown !== undefined) return `the pod runner knows no ${unknown}`;
  for (const { tcpSocket, exec } of [spec.readinessProbe ?? [], spec.livenessProbe ?? []].flat()) {
    if (!tcpSocket && !exec) return 'the pod runner knows only tcpSocket and exec probes';
    if (tcpSocket && portNumber(spec, tcpSocket.port) === undefined)
      return `no port is named ${tcpSocket.port}`;
  }
  return undefined;
}

/** Looks once. */
export async function probeOnce(
  probe: Probe,
  spec: ContainerSpec,
  container: Container,
  podIP: string,
): Promise<boolean> {
  const timeoutMs = (probe.timeoutSeconds ?? 1) * 1000;
  if (probe.tcpSocket) return accepts(podIP, portNumber(spec, probe.tcpSocket.port) ?? 0, timeoutMs);
  const { code } = await container.exec(probe.exec?.command ?? [], timeoutMs).catch(() => ({ code: 1 }));
  return code === 0;
}

/** Looks again and again until `signal`; tells when as many in a row as the thresholds ask for say the same. */
export async function watchProbe(
  probe: Probe,
  look: () => Promise<boolean>,
  tell: (isHealthy: boolean) => void,
  signal: AbortSignal,
): Promise<void> {
  const { initialDelaySeconds = 0, periodSeconds = 10, successThreshold = 1, failureThreshold = 3 } = probe;
  const sleep = (seconds: number) => delay(seconds * 1000, undefined, { signal }).catch(() => {});
  let last: boolean | undefined;
  let row = 0;
  await sleep(initialDelaySeconds);
  while (!signal.aborted) {
    const isHealthy = await look();
    row = isHealthy === last ? row + 1 : 1;
    last = isHealthy;
    if (!signal.aborted && row >= (isHealthy ? successThreshold : failureThreshold)) tell(isHealthy);
    await sleep(periodSeconds);
  }
}
