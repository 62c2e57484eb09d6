import { IsthmusError, messageOf } from '../../ops/errors.ts';
import { endpointsOf, ipv4Only } from './endpoint.ts';
import type { DnsConfig } from './config.ts';
import type { Endpoint } from './endpoint.ts';
import type { TcpListener } from './tcp.ts';

/** How to open the sockets of each transport. */
export interface Transports {
  openTcp(endpoint: Endpoint): Promise<TcpListener>;
  /** Opens all endpoints, or none and throws. */
  openUdp(endpoints: readonly Endpoint[]): Promise<void>;
}

/** What is listened on, with the true ports. */
export interface Listening {
  tcp: TcpListener[];
  endpoints: Endpoint[];
}

const ATTEMPTS = 5;

/**
 * Listens on all configured endpoints, or on none and throws. The system chooses a port for TCP where it is 0; it may be
 * taken for UDP, or at another address: then the system chooses again.
 */
export async function listen(config: DnsConfig, transports: Transports): Promise<Listening> {
  const wanted = endpointsOf(config.listen);
  const isChosen = wanted.some(({ port }) => port === 0);
  for (let attempt = 1; ; attempt++) {
    try {
      return await listenOnce(wanted, transports);
    } catch (error) {
      const isTaken = error instanceof IsthmusError && error.code === 'LISTEN_FAILED';
      if (!isTaken || !isChosen || attempt === ATTEMPTS) throw error;
    }
  }
}

async function listenOnce(wanted: readonly Endpoint[], transports: Transports): Promise<Listening> {
  const listening = await listenTcp(wanted, transports);
  try {
    await transports.openUdp(listening.endpoints);
    return listening;
  } catch (cause) {
    await closeAll(listening.tcp);
    throw cause;
  }
}

/** Listens on TCP first: UDP takes the ports that the system chose. */
async function listenTcp(wanted: readonly Endpoint[], transports: Transports): Promise<Listening> {
  const tcp: TcpListener[] = [];
  const endpoints: Endpoint[] = [];
  try {
    for (const { port, ...rest } of wanted) {
      const endpoint = { ...rest, port: port || (endpoints[0]?.port ?? 0) };
      const opened = await openTcp(endpoint, transports);
      tcp.push(opened.listener);
      endpoints.push({ ...opened.endpoint, port: opened.listener.port });
    }
  } catch (cause) {
    await closeAll(tcp);
    throw new IsthmusError('LISTEN_FAILED', messageOf(cause), { cause });
  }
  return { tcp, endpoints };
}

async function openTcp(
  endpoint: Endpoint,
  transports: Transports,
): Promise<{ listener: TcpListener; endpoint: Endpoint }> {
  try {
    return { listener: await transports.openTcp(endpoint), endpoint };
  } catch (error) {
    const fallback = ipv4Only(endpoint);
    if (!fallback || (error as NodeJS.ErrnoException).code !== 'EAFNOSUPPORT') throw error;
    return { listener: await transports.openTcp(fallback), endpoint: fallback };
  }
}

async function closeAll(listeners: readonly TcpListener[]): Promise<void> {
  await Promise.all(listeners.map((listener) => listener.close(0)));
}
