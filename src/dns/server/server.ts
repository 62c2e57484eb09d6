import { randomBytes } from 'node:crypto';
import { isIPv4 } from 'node:net';
import { IsthmusError, messageOf } from '../../ops/errors.ts';
import { zoneSpecOf } from './config.ts';
import { createCounters, reportCounters } from './counters.ts';
import { inNetworks } from './networks.ts';
import { serveTcp } from './tcp.ts';
import { startWorker } from './worker-handle.ts';
import { typeNumber } from '../wire/constants.ts';
import { parseName } from '../wire/name.ts';
import { explain } from '../zone/explain.ts';
import { watchRecordsFile } from '../zone/records-file.ts';
import { createStore } from '../zone/store.ts';
import { applyUpdate } from '../zone/update.ts';
import { createZones } from '../zone/zones.ts';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { DnsConfig } from './config.ts';
import type { Counters } from './counters.ts';
import type { RateLimitOptions } from './rate-limit.ts';
import type { TcpOptions, TcpService } from './tcp.ts';
import type { Endpoint } from './udp-portable.ts';
import type { WorkerLink } from './worker-handle.ts';
import type { UdpMode } from './worker-protocol.ts';
import type { CookieSecrets } from '../wire/cookie.ts';
import type { DnsRecord } from '../wire/record.ts';
import type { Explanation } from '../zone/explain.ts';
import type { RejectedRecord } from '../zone/source-record.ts';
import type { Store } from '../zone/store.ts';
import type { Update } from '../zone/update.ts';
import type { Zones } from '../zone/zones.ts';

export interface DnsParts {
  log: Log;
  metrics: Metrics;
  /** False: SERVFAIL until setReady(true), for whoever fills in records later. */
  ready?: boolean;
}

/** A running DNS server. */
export interface DnsServer {
  /** Where it listens, with the true port; UDP and TCP have the same. */
  readonly endpoints: readonly { address: string; port: number }[];
  readonly port: number;
  readonly udpMode: UdpMode;
  /** Replaces all records of a source (`<kind> <which>`, e.g. `Service default/web`); what cannot be served comes back. */
  upsert(source: string, records: readonly DnsRecord[]): RejectedRecord[];
  remove(source: string): void;
  setReady(ready: boolean): void;
  /** Resolves when every change made so far is in every answer. */
  settled(): Promise<void>;
  /** What would be answered, and which objects it came from; undefined if name or type make no sense. */
  explain(name: string, type: string): Explanation | undefined;
  /** Why it is not ready to be sent queries, or undefined. */
  problem(): string | undefined;
  close(): Promise<void>;
}

const TCP_GRACE_MS = 2000;

/** Starts the DNS server of a configuration. */
export async function startDns(config: DnsConfig, parts: DnsParts): Promise<DnsServer> {
  const { log, metrics } = parts;
  const zones = createZones();
  const workers: WorkerLink[] = [];
  const emit = (update: Update) => {
    applyUpdate(zones, update);
    for (const worker of workers) worker.post(update);
  };
  const store = createStore(config.zones.map(zoneSpecOf), emit, () => Math.floor(Date.now() / 1000));
  const stopFollowing = takeConfiguredRecords(config, store, log);
  store.setReady(parts.ready ?? true);

  const cookies = cookieSecrets(config);
  const counters = createCounters();
  const open = () => openEndpoints(config, { zones, cookies, counters, store, log, workers });
  const { services, endpoints } = await withChosenPort(config, open);
  reportCounters(metrics, () => [counters, ...workers.map((worker) => worker.counters)]);
  reportRecords(metrics, store, services);
  log.info({ endpoints, udp: workers[0]!.mode, workers: workers.length }, 'DNS server listens');

  const close = async () => {
    stopFollowing();
    await new Promise((resolve) => setTimeout(resolve, config.drainSeconds * 1000));
    await Promise.all(workers.map((worker) => worker.close()));
    await Promise.all(services.map((service) => service.close(TCP_GRACE_MS)));
    log.info('DNS server stopped');
  };
  return { ...handle(endpoints, zones, store, workers), close };
}

function handle(
  endpoints: readonly Endpoint[],
  zones: Zones,
  store: Store,
  workers: readonly WorkerLink[],
): Omit<DnsServer, 'close'> {
  return {
    endpoints,
    port: endpoints[0]!.port,
    udpMode: workers[0]!.mode,
    upsert: (source, records) => store.upsert(source, records),
    remove: (source) => store.remove(source),
    setReady: (ready) => store.setReady(ready),
    settled: async () => void (await Promise.all(workers.map((worker) => worker.settled()))),
    explain(nameText, typeText) {
      const name = parseName(nameText);
      const type = typeNumber(typeText);
      return name === undefined || type === undefined ? undefined : explain(zones, store, name, type);
    },
    problem() {
      if (!store.ready) return 'waiting for the first complete data';
      return workers.some((worker) => worker.serving) ? undefined : 'no UDP worker runs';
    },
  };
}

/** Serves the records of the configuration and of the file it names, and follows that file; returns how to stop. */
function takeConfiguredRecords(config: DnsConfig, store: Store, log: Log): () => void {
  const take = (source: string, records: readonly DnsRecord[]) => {
    for (const { record, reason } of store.upsert(source, records)) {
      log.warn({ source, record, reason }, 'a record is not served');
    }
  };
  take('config records', config.records);
  const { recordsFile } = config;
  if (recordsFile === undefined) return () => undefined;
  return watchRecordsFile(recordsFile, (records) => take(`file ${recordsFile}`, records), log);
}

interface WorkerParts {
  cookies: CookieSecrets;
  endpoints: Endpoint[];
  store: Store;
  log: Log;
  workers: WorkerLink[];
}

interface Listening {
  services: TcpService[];
  endpoints: Endpoint[];
}

type EndpointParts = Omit<WorkerParts, 'endpoints'> & { zones: Zones; counters: Counters };

/** Listens on TCP and UDP, or on nothing and says why. */
async function openEndpoints(config: DnsConfig, parts: EndpointParts): Promise<Listening> {
  const { zones, cookies, counters } = parts;
  const { services, endpoints } = await listenTcp(config, zones, cookies, counters);
  try {
    await startWorkers(config, { ...parts, endpoints });
    return { services, endpoints };
  } catch (cause) {
    await Promise.all(services.map((service) => service.close(0)));
    throw cause;
  }
}

const ATTEMPTS = 5;

/** A port that the system chose for TCP may be somebody's for UDP, or at another address: then it chooses again. */
async function withChosenPort<T>(config: DnsConfig, open: () => Promise<T>): Promise<T> {
  const isChosen = config.listen.some(({ port }) => port === 0);
  for (let attempt = 1; ; attempt++) {
    try {
      return await open();
    } catch (error) {
      const isTaken = error instanceof IsthmusError && error.code === 'LISTEN_FAILED';
      if (!isTaken || !isChosen || attempt === ATTEMPTS) throw error;
    }
  }
}

/** Starts all workers, each with the whole data; from then on `workers` gets every update. */
async function startWorkers(config: DnsConfig, parts: WorkerParts): Promise<void> {
  const { cookies, endpoints, store, log, workers } = parts;
  const start = {
    endpoints,
    mode: config.udp === 'portable' ? ('portable' as const) : ('fast' as const),
    maxUdpPayload: config.maxUdpPayload,
    cookies,
    rateLimit: rateLimitOf(config),
    seed: randomBytes(4).readInt32LE(),
  };
  const launches = Array.from({ length: config.workers }, () =>
    startWorker({ start, snapshot: () => store.snapshot(), log }),
  );
  for (const result of await Promise.allSettled(launches)) {
    if (result.status === 'fulfilled') workers.push(result.value);
  }
  const failed = (await Promise.allSettled(launches)).find((result) => result.status === 'rejected');
  const slow = config.udp === 'fast' && workers.some((worker) => worker.mode !== 'fast');
  if (!failed && !slow) return;
  await Promise.all(workers.splice(0).map((worker) => worker.close()));
  if (failed) throw new IsthmusError('LISTEN_FAILED', messageOf(failed.reason), { cause: failed.reason });
  throw new IsthmusError('CONFIG_INVALID', 'udp: "fast" needs Linux and a Node with node:ffi; take "auto"');
}

function rateLimitOf(config: DnsConfig): RateLimitOptions | undefined {
  const limit = config.rateLimit;
  return limit ? { perSecond: limit.responsesPerSecond, slip: limit.slip, exempt: limit.exempt } : undefined;
}

function cookieSecrets(config: DnsConfig): CookieSecrets {
  const [current, ...previous] = config.cookieSecrets.map((hex) => Uint8Array.from(Buffer.from(hex, 'hex')));
  return { current: current ?? Uint8Array.from(randomBytes(16)), previous };
}

/** Listens on TCP first: where the port is 0, the system chooses one, and UDP takes the same. */
async function listenTcp(
  config: DnsConfig,
  zones: Zones,
  cookies: CookieSecrets,
  counters: Counters,
): Promise<Listening> {
  const options: TcpOptions = {
    maxUdpPayload: config.maxUdpPayload,
    cookies,
    transferAllowed: (client) => inNetworks(client, config.transferAllow),
    idleMs: config.tcp.idleSeconds * 1000,
    maxConnections: config.tcp.maxConnections,
    maxConnectionsPerClient: config.tcp.maxConnectionsPerClient,
  };
  const hasIPv4 = config.listen.some(({ address }) => isIPv4(address));
  const services: TcpService[] = [];
  const endpoints: Endpoint[] = [];
  try {
    for (const { address, port } of config.listen) {
      const ipv6Only = hasIPv4 && !isIPv4(address);
      let endpoint: Endpoint = { address, port: port || (endpoints[0]?.port ?? 0), ipv6Only };
      const service = await serveTcp(endpoint, zones, options, counters).catch((error: unknown) => {
        // "All addresses" is meant where a kernel has no IPv6, too; not more than that.
        const isMissing = (error as NodeJS.ErrnoException).code === 'EAFNOSUPPORT';
        if (address !== '::' || hasIPv4 || !isMissing) throw error;
        endpoint = { ...endpoint, address: '0.0.0.0' };
        return serveTcp(endpoint, zones, options, counters);
      });
      services.push(service);
      endpoints.push({ ...endpoint, port: service.port });
    }
  } catch (cause) {
    await Promise.all(services.map((service) => service.close(0)));
    throw new IsthmusError('LISTEN_FAILED', messageOf(cause), { cause });
  }
  return { services, endpoints };
}

/** Records by the kind of object they came from: a label for each object would be too many. */
function reportRecords(metrics: Metrics, store: Store, services: readonly TcpService[]): void {
  const records = metrics.gauge(
    'isthmus_dns_records',
    'Records served, by the kind of object they came from.',
  );
  const connections = metrics.gauge('isthmus_dns_tcp_connections', 'Open TCP connections.');
  const ready = metrics.gauge(
    'isthmus_dns_ready',
    '1 when the data are complete, 0 while every query gets SERVFAIL.',
  );
  const kinds = new Set<string>();
  metrics.beforeReport(() => {
    for (const kind of kinds) records.of({ kind }).value = 0;
    for (const [source, number] of store.counts()) {
      const kind = source.split(' ', 1)[0]!;
      kinds.add(kind);
      records.of({ kind }).value += number;
    }
    connections.of().value = services.reduce((sum, service) => sum + service.connections, 0);
    ready.of().value = Number(store.ready);
  });
}
