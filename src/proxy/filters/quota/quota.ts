import { ALL_APIS } from '../../../kafka/apis.ts';
import type { ApiName } from '../../../kafka/apis.ts';
import type { Requests, Responses } from '../../../kafka/schemas/types.ts';
import type { Cell, Family } from '../../../ops/metrics.ts';
import type { ConnectionContext, ConnectionFilter, FilterType, MessageContext } from '../../filter.ts';
import { createBuckets } from './buckets.ts';
import type { Buckets, Throttle } from './buckets.ts';
import { quotaSchema } from './config.ts';
import type { QuotaConfig, Unit } from './config.ts';

/**
 * Slows down who uses more than is theirs, as brokers do it: what was asked for is done, the response says for how long
 * the client should wait (`throttleTimeMs`), and for that long nothing further is read from its connection.
 */
export const quota: FilterType<QuotaConfig> = {
  config: quotaSchema,
  create(config, { virtualCluster, name, metrics, peers }) {
    const labels = { virtual_cluster: virtualCluster, filter: name };
    const throttles: Throttles = {
      times: metrics.counter('isthmus_filter_quota_throttles_total', 'How often clients were slowed down'),
      ms: metrics.counter(
        'isthmus_filter_quota_throttle_milliseconds_total',
        'For how long clients were slowed down',
      ),
      labels,
    };
    const buckets = createBuckets(config, peers);
    return {
      connect: (context) => connectionFilter(buckets, throttles, context),
      close: () => buckets.close(),
    };
  },
};

interface Throttles {
  times: Family<Cell>;
  ms: Family<Cell>;
  labels: Record<string, string>;
}

/** What belongs to a login is free, as it is at brokers. */
const LOGIN: ReadonlySet<ApiName> = new Set<ApiName>(['ApiVersions', 'SaslHandshake', 'SaslAuthenticate']);
const COUNTED = ALL_APIS.map(({ name }) => name).filter((name) => !LOGIN.has(name));
const FETCHES: readonly ApiName[] = ['Fetch', 'ShareFetch'];

type Request = Requests[ApiName];
type Response = Responses[ApiName];

function connectionFilter(
  buckets: Buckets,
  throttles: Throttles,
  context: ConnectionContext,
): ConnectionFilter {
  let clientId = '';
  /** Until when the client has to wait. */
  let until = 0;
  const slowDown = ({ ms, per }: Throttle) => {
    const labels = { ...throttles.labels, per };
    throttles.times.of(labels).value += 1;
    throttles.ms.of(labels).value += Math.max(0, ms - Math.max(0, until - performance.now()));
    until = Math.max(until, performance.now() + ms);
    context.pauseFor(ms);
  };
  const use = (unit: Unit, amount: number) => {
    const { principal = '', virtualCluster } = context;
    const throttle = buckets.take({ principal, clientId, virtualCluster }, unit, amount);
    if (throttle) slowDown(throttle);
  };
  const onRequest = (_request: Request, message: MessageContext): undefined => {
    clientId = message.clientId ?? '';
    use('requests', 1);
    if (message.api === 'Produce') use('produceBytes', message.bytes);
  };
  const onResponse = (response: Response, { api, bytes }: MessageContext) => {
    if (FETCHES.includes(api)) use('fetchBytes', bytes);
    const ms = Math.ceil(until - performance.now());
    if (!('throttleTimeMs' in response) || ms <= response.throttleTimeMs) return undefined;
    response.throttleTimeMs = ms;
    return { forward: response };
  };
  const apis = apisOf(buckets);
  const forAll = <T>(handler: T) => Object.fromEntries(apis.map((api) => [api, handler]));
  return {
    // A request that is not seen is not counted.
    onlyKnownApis: buckets.counts('requests'),
    onRequest: forAll(onRequest),
    onResponse: forAll(onResponse),
  };
}

/** As few as have to be decoded. */
function apisOf(buckets: Buckets): readonly ApiName[] {
  if (buckets.counts('requests')) return COUNTED;
  return [
    ...(buckets.counts('produceBytes') ? (['Produce'] as const) : []),
    ...(buckets.counts('fetchBytes') ? FETCHES : []),
  ];
}
