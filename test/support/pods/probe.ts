/** Probes of a container, as the kubelet makes them: TCP connections and HTTP requests to the pod's address, and commands inside. */
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

/** As with a kubelet, every answer below 400 is a good one. */
async function answers(host: string, port: number, path: string, timeoutMs: number): Promise<boolean> {
  const signal = AbortSignal.timeout(timeoutMs);
  const options = { signal, headers: { connection: 'close' } };
  const response = await fetch(`http://${host}:${port}${path}`, options).catch(() => undefined);
  await response?.body?.cancel().catch(() => {});
  return response !== undefined && response.status >= 200 && response.status < 400;
}

const portNumber = ({ ports = [] }: ContainerSpec, port: number | string) =>
  typeof port === 'number' ? port : ports.find(({ name }) => name === port)?.containerPort;

/** What the pod runner cannot do for a container, rather than leaving it out in silence. */
export function problemOf(spec: ContainerSpec): string | undefined {
  const unknown = ['startupProbe', 'lifecycle', 'envFrom'].find((key) => key in spec);
  if (unknown !== undefined) return `the pod runner knows no ${unknown}`;
  for (const { tcpSocket, httpGet, exec } of [spec.readinessProbe ?? [], spec.livenessProbe ?? []].flat()) {
    const port = (tcpSocket ?? httpGet)?.port;
    if (port === undefined && !exec) return 'the pod runner knows only tcpSocket, httpGet and exec probes';
    if (port !== undefined && portNumber(spec, port) === undefined) return `no port is named ${port}`;
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
  if (probe.httpGet) {
    const { port, path = '/' } = probe.httpGet;
    return answers(podIP, portNumber(spec, port) ?? 0, path, timeoutMs);
  }
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
