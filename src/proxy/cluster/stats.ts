import { apiOf } from '../../kafka/apis.ts';
import type { Cell, Family, Metrics, Timing } from '../../ops/metrics.ts';

/** Why a connection was refused or cut; each is a label of a metric. */
export type CutReason =
  | 'limit'
  | 'address_limit'
  | 'cluster_limit'
  | 'open_files'
  | 'proxy_protocol'
  | 'tls'
  | 'server_name'
  | 'bad_traffic'
  | 'upstream'
  | 'idle'
  | 'memory'
  | 'filter'
  | 'internal'
  | 'handshake_timeout'
  | 'drain_timeout';

/** What is counted for one API of one virtual cluster. */
export interface ApiStats {
  requests: Cell;
  latency: Timing;
}

/** The counters of one virtual cluster: plain fields, to be changed directly. */
export interface ClusterStats {
  active: Cell;
  connections: Cell;
  bytesFromClients: Cell;
  bytesToClients: Cell;
  pausedRequests: Cell;
  pausedResponses: Cell;
  upstreamConnects: Cell;
  upstreamErrors: Cell;
  unadvertised: Cell;
  rewritten: Cell;
  neutralised: Cell;
  /** Bytes of frames that are held. */
  buffered: Cell;
  bufferWaits: Cell;
  cut(reason: CutReason): Cell;
  api(apiKey: number): ApiStats;
  /** Forgets the virtual cluster. */
  drop(): void;
}

/** Counters of the process as a whole. */
export interface ProxyStats {
  cluster(name: string): ClusterStats;
  /** Connections that ended before it was known for whom they were. */
  refused(reason: CutReason): Cell;
  /** Connections that the system did not hand over, by its error code. */
  acceptErrors(code: string): Cell;
}

const PREFIX = 'isthmus_proxy_';

/** The metric families of the data plane. */
function createFamilies(metrics: Metrics) {
  const counter = (name: string, help: string) => metrics.counter(PREFIX + name, help);
  return {
    active: metrics.gauge(`${PREFIX}connections_active`, 'Client connections that are open'),
    connections: counter('connections_total', 'Client connections that reached a virtual cluster'),
    cut: counter('connections_cut_total', 'Client connections refused or cut by the proxy, by reason'),
    acceptErrors: counter('accept_errors_total', 'Connections that could not be accepted, by error code'),
    bytes: counter('bytes_total', 'Bytes carried, by direction'),
    paused: counter('paused_reads_total', 'Times that reading stopped because the other side was slower'),
    upstream: counter('upstream_connects_total', 'Connections opened to brokers'),
    upstreamErrors: counter('upstream_errors_total', 'Connections to brokers that failed'),
    unadvertised: counter(
      'unadvertised_brokers_total',
      'Brokers left out of responses because the gateway has no address for their id',
    ),
    rewritten: counter(
      'node_endpoints_rewritten_total',
      'Produce and fetch responses with broker addresses rewritten',
    ),
    neutralised: counter(
      'node_endpoints_neutralised_total',
      'Large responses whose broker addresses were hidden instead, so that the client asks for metadata',
    ),
    buffered: metrics.gauge(`${PREFIX}buffered_bytes`, 'Bytes of frames held in memory'),
    bufferWaits: counter(
      'buffer_waits_total',
      'Times that a connection had to wait because maxBufferedBytes was reached',
    ),
    requests: counter('requests_total', 'Requests by API'),
    latency: metrics.histogram(
      `${PREFIX}request_seconds`,
      'Time from a request to the first byte of its response, by API',
    ),
  };
}

export function createStats(metrics: Metrics): ProxyStats {
  const families = createFamilies(metrics);
  return {
    cluster: (name) => clusterStats(families, name),
    acceptErrors: (code) => families.acceptErrors.of({ code }),
    refused: (reason) => families.cut.of({ virtual_cluster: '', reason }),
  };
}

function clusterStats(families: ReturnType<typeof createFamilies>, name: string): ClusterStats {
  const made: (() => void)[] = [];
  const of = <T>(family: Family<T>, more: Record<string, string> = {}): T => {
    const labels = { virtual_cluster: name, ...more };
    made.push(() => family.drop(labels));
    return family.of(labels);
  };
  const apis: (ApiStats | undefined)[] = [];
  const apiStats = (apiKey: number): ApiStats => {
    const api = apiOf(apiKey)?.name ?? 'unknown';
    return { requests: of(families.requests, { api }), latency: of(families.latency, { api }) };
  };
  const unknown = apiStats(-1);
  const cuts = new Map<CutReason, Cell>();
  const cutFor = (reason: CutReason): Cell => {
    const known = cuts.get(reason) ?? of(families.cut, { reason });
    cuts.set(reason, known);
    return known;
  };
  return {
    active: of(families.active),
    connections: of(families.connections),
    bytesFromClients: of(families.bytes, { direction: 'from_client' }),
    bytesToClients: of(families.bytes, { direction: 'to_client' }),
    pausedRequests: of(families.paused, { direction: 'from_client' }),
    pausedResponses: of(families.paused, { direction: 'to_client' }),
    upstreamConnects: of(families.upstream),
    upstreamErrors: of(families.upstreamErrors),
    unadvertised: of(families.unadvertised),
    rewritten: of(families.rewritten),
    neutralised: of(families.neutralised),
    buffered: of(families.buffered),
    bufferWaits: of(families.bufferWaits),
    cut: cutFor,
    api: (apiKey) => (apiOf(apiKey) ? (apis[apiKey] ??= apiStats(apiKey)) : unknown),
    drop: () => {
      for (const forget of made) forget();
    },
  };
}

/** Metrics of which a family may be asked for twice, as two virtual clusters with the same kind of filter do. */
export function sharedFamilies(metrics: Metrics): Metrics {
  const families = new Map<string, Family<Cell> | Family<Timing>>();
  const once = <T extends Family<Cell> | Family<Timing>>(name: string, make: () => T): T => {
    const known = families.get(name) ?? make();
    families.set(name, known);
    return known as T;
  };
  return {
    ...metrics,
    counter: (name, help) => once(name, () => metrics.counter(name, help)),
    gauge: (name, help) => once(name, () => metrics.gauge(name, help)),
    histogram: (name, help, buckets) => once(name, () => metrics.histogram(name, help, buckets)),
  };
}
