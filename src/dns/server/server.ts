import { randomBytes } from 'node:crypto';
import { networkInterfaces } from 'node:os';
import { setTimeout as delay } from 'node:timers/promises';
import { inSlices } from '../../ops/time-slice.ts';
import { typeNumber } from '../wire/constants.ts';
import { formatName, parseName } from '../wire/name.ts';
import { explain } from '../zone/explain.ts';
import { watchRecordsFile } from '../zone/records-file.ts';
import { keepOutside } from '../zone/outside.ts';
import { DEFAULT_SOURCE } from '../zone/merge.ts';
import { createStore } from '../zone/store.ts';
import { applyUpdate } from '../zone/update.ts';
import { createZones, shareZones } from '../zone/zones.ts';
import { zoneSpecOf } from './config.ts';
import { createCounters } from './counters.ts';
import { listen } from './listen.ts';
import { nameserverRecords } from './nameservers.ts';
import { reportMetrics } from './metrics.ts';
import { loadKeys } from '../secondary/keys.ts';
import { inNetworks, parseNetwork } from './networks.ts';
import { createSecondaries } from '../secondary/secondaries.ts';
import { createHeldQueries } from './held-queries.ts';
import type { AskOutside } from './held-queries.ts';
import { openResolver } from '../resolver/open-resolver.ts';
import { createSnapshotFile } from '../zone/snapshot-file.ts';
import { serveTcp } from './tcp.ts';
import { createWorkerPool } from './worker-pool.ts';
import type { Log } from '../../ops/log.ts';
import type { Metrics } from '../../ops/metrics.ts';
import type { ClientAddress } from '../wire/client-address.ts';
import type { CookieSecrets } from '../wire/cookie.ts';
import type { TsigKey } from '../wire/tsig.ts';
import type { DnsRecord } from '../wire/record.ts';
import type { Explanation } from '../zone/explain.ts';
import type { RejectedRecord } from '../zone/source-record.ts';
import type { Store } from '../zone/store.ts';
import type { Update } from '../zone/update.ts';
import type { WritableZones, Zones } from '../zone/zones.ts';
import type { Secondaries, ZoneVersions } from '../secondary/secondaries.ts';
import type { DnsConfig } from './config.ts';
import type { Endpoint } from './endpoint.ts';
import type { SnapshotFile } from '../zone/snapshot-file.ts';
import type { TcpOptions } from './tcp.ts';
import type { WorkerPool } from './worker-pool.ts';
import type { UdpMode } from './worker-protocol.ts';

export interface DnsParts {
  log: Log;
  metrics: Metrics;
  /** False: SERVFAIL until setReady(true), for a caller that adds records later. */
  ready?: boolean;
  /** Gets the records of the configuration, and of the file that it names each time that changes. */
  onConfigured?: ((source: string, records: readonly DnsRecord[]) => Promise<void>) | undefined;
  /** Whether each change of a zone makes its serial (by default), or `versions` says which it has. */
  serials?: 'own' | 'given';
}

/** A running DNS server. */
export interface DnsServer {
  /** Where it listens, with the true port; UDP and TCP have the same. */
  readonly endpoints: readonly { address: string; port: number }[];
  readonly port: number;
  readonly udpMode: UdpMode;
  /** Replaces all records of a source (`<kind> <which>`, e.g. `Service default/web`), and returns those that cannot be served. */
  upsert(source: string, records: readonly DnsRecord[]): RejectedRecord[];
  setReady(ready: boolean): void;
  /** Exempts addresses from the rate limit, instead of those of the last call. */
  trust(addresses: readonly string[]): void;
  /** The serials of the zones, where they are given. */
  readonly versions: ZoneVersions;
  /** Resolves when every change made so far is in every response. */
  settled(): Promise<void>;
  /** What a query would be answered with, and from which sources; undefined if name or type are invalid. */
  explain(name: string, type: string): Explanation | undefined;
  /** Why it is not ready for queries, or undefined. */
  problem(): string | undefined;
  close(): Promise<void>;
}

const TCP_GRACE_MS = 2000;
/** Address space for records: ten million names or so. */
const ZONE_MEMORY = 1 << 30;

/** Starts the DNS server of a configuration. */
export async function startDns(config: DnsConfig, parts: DnsParts): Promise<DnsServer> {
  const { log, metrics } = parts;
  const zones = createZones(ZONE_MEMORY, (done) => void workers.settled().then(done));
  const cookies = cookieSecrets(config);
  const keys = loadKeys(config);
  const ask: AskOutside = (name, type, client) => void resolver?.ask(name, type, client);
  const held = createHeldQueries<() => void>(ask, (client) => inNetworks(client, workers.trusted));
  const resolver = openResolver(config.resolver, zones, log, (answers) => {
    keepOutside(zones.outside, answers);
    workers.post({ kind: 'outside', answers });
    for (const respond of held.release(answers)) respond();
  });
  const workers = createWorkerPool({
    config,
    cookies,
    keys,
    zones: () => shareZones(zones),
    ask: resolver && ask,
    log,
  });
  const { serials = 'own' } = parts;
  const { store, secondaries } = openStore(config, keys, zones, { serials, log });
  const stopWatching = await addConfiguredRecords(config, store, parts);
  store.upsert(DEFAULT_SOURCE, nameserverRecords(config, process.env, networkInterfaces()));
  const serialsOf = serials === 'given' ? config.zones.map(({ name }) => name) : [];
  const snapshot = createSnapshotFile({ file: config.snapshotFile, store, serialsOf, log });
  store.setReady(parts.ready ?? true);
  if (!store.ready && (await snapshot.restore())) store.setReady(true);

  const zoneNames = config.zones.map(({ name }) => formatName(name));
  const counters = createCounters(zoneNames.length);
  const tcpOptions = tcpOptionsOf(config, cookies, keys, secondaries, store);
  const { tcp, endpoints } = await listen(config, {
    openTcp: (endpoint) => serveTcp(endpoint, zones, tcpOptions, counters, held),
    openUdp: (all) => workers.start(all),
  });
  const all = () => [counters, ...workers.counters()];
  const isStale = () => snapshot.isStale;
  reportMetrics(metrics, { counters: all, store, tcp, resolver, secondaries, zones: zoneNames, isStale });
  log.info({ endpoints, udp: workers.mode, workers: config.workers }, 'DNS server listening');

  const close = async () => {
    stopWatching();
    await secondaries.close();
    await snapshot.close();
    await delay(config.drainSeconds * 1000);
    await workers.close();
    await Promise.all(tcp.map((listener) => listener.close(TCP_GRACE_MS)));
    log.info('DNS server stopped');
  };
  return { ...handle(endpoints, zones, store, workers, snapshot), versions: secondaries, close };
}

/** The records, and what secondaries are told of them. */
function openStore(
  config: DnsConfig,
  keys: readonly TsigKey[],
  zones: WritableZones,
  { serials, log }: { serials: 'own' | 'given'; log: Log },
): { store: Store; secondaries: Secondaries } {
  const isAllowed = (client: ClientAddress) => inNetworks(client, config.transferAllow);
  const secondaries = createSecondaries({ config, keys, isAllowed, store: () => store, serials, log });
  const apply = (update: Update) => {
    applyUpdate(zones, update);
    secondaries.noteUpdate(update);
  };
  const now = () => Math.floor(Date.now() / 1000);
  const store = createStore(config.zones.map(zoneSpecOf), apply, { now, serials });
  return { store, secondaries };
}

function handle(
  endpoints: readonly Endpoint[],
  zones: Zones,
  store: Store,
  workers: WorkerPool,
  snapshot: SnapshotFile,
): Omit<DnsServer, 'close' | 'versions'> {
  return {
    endpoints,
    port: endpoints[0]!.port,
    udpMode: workers.mode,
    upsert(source, records) {
      snapshot.touch();
      return store.upsert(source, records);
    },
    setReady(ready) {
      if (ready) snapshot.replace();
      store.setReady(ready || snapshot.isStale);
    },
    trust: (addresses) => workers.trust(addresses.flatMap((text) => parseNetwork(text) ?? [])),
    settled: () => snapshot.settled().then(() => workers.settled()),
    explain(nameText, typeText) {
      const name = parseName(nameText);
      const type = typeNumber(typeText);
      return name === undefined || type === undefined ? undefined : explain(zones, store, name, type);
    },
    problem() {
      if (!store.ready) return 'records are not complete yet';
      return workers.isServing ? undefined : 'no UDP worker is running';
    },
  };
}

/** The most rejected records of one source that are logged: a whole file may be of another zone. */
const MAX_LOGGED = 20;

/** Serves the records of the configuration and of the file it names, and watches that file; returns how to stop. */
async function addConfiguredRecords(
  config: DnsConfig,
  store: Store,
  { log, onConfigured }: DnsParts,
): Promise<() => void> {
  const add = async (source: string, records: readonly DnsRecord[]) => {
    const rejected = await inSlices(store.upsertSteps(source, records));
    for (const { record, reason } of rejected.slice(0, MAX_LOGGED)) {
      log.warn({ source, record, reason }, 'record rejected');
    }
    const more = rejected.length - MAX_LOGGED;
    if (more > 0) log.warn({ source, more }, 'more records rejected');
    await onConfigured?.(source, records);
  };
  await add('config records', config.records);
  const { recordsFile } = config;
  if (recordsFile === undefined) return () => undefined;
  return watchRecordsFile(recordsFile, (records) => add(`file ${recordsFile}`, records), log);
}

function cookieSecrets(config: DnsConfig): CookieSecrets {
  const [current, ...previous] = config.cookieSecrets.map((hex) => Uint8Array.from(Buffer.from(hex, 'hex')));
  return { current: current ?? Uint8Array.from(randomBytes(16)), previous };
}

function tcpOptionsOf(
  config: DnsConfig,
  cookies: CookieSecrets,
  keys: readonly TsigKey[],
  { transferAllowed, isTransferable }: Secondaries,
  transfers: Store,
): TcpOptions {
  return {
    maxUdpPayload: config.maxUdpPayload,
    cookies,
    keys,
    transferAllowed,
    isTransferable,
    transfers,
    idleMs: config.tcp.idleSeconds * 1000,
    maxConnections: config.tcp.maxConnections,
    maxConnectionsPerClient: config.tcp.maxConnectionsPerClient,
  };
}
