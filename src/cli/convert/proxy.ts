/** KafkaProxy: pods and timeouts. */
import type { Tell } from './convert.ts';
import { given, isEmpty, mapOf, without } from './fields.ts';
import type { Fields } from './fields.ts';

const UNITS_MS: Readonly<Record<string, number>> = {
  m: 60_000,
  s: 1000,
  ms: 1,
  us: 1e-3,
  μs: 1e-3,
  ns: 1e-6,
};

/** There down to nanoseconds; here whole milliseconds. */
function durationOf(text: unknown): string | undefined {
  if (typeof text !== 'string') return undefined;
  const parts = [...text.matchAll(/(\d+)(ms|us|μs|ns|m|s)/g)];
  const ms = parts.reduce((sum, [, count, unit]) => sum + Number(count) * UNITS_MS[unit!]!, 0);
  return ms % 1000 === 0 ? `${ms / 1000}s` : `${Math.ceil(ms)}ms`;
}

/** Fields of `network` that have no counterpart, and why that is no loss. */
const DROPPED: Readonly<Record<string, string>> = {
  workerThreadCount: 'a pod has as many workers as its CPU limit allows',
  shutdownQuietPeriod: 'connections are closed once their last response has gone, without a quiet period',
};

export function proxySpec(spec: Fields, tell: Tell): Fields {
  const { network, replicas, infrastructure } = spec;
  const { proxy = {}, management = {} } = mapOf(network);
  const timeouts = mapOf(proxy);
  for (const [field, why] of Object.entries(DROPPED))
    if (field in timeouts) tell(`spec.network.proxy.${field}`, why);
  if (!isEmpty(mapOf(management)))
    tell('spec.network.management', 'the management port has nothing to be set');
  const limits = given({
    idleTimeout: durationOf(timeouts['authenticatedIdleTimeout']),
    unauthenticatedIdleTimeout: durationOf(timeouts['unauthenticatedIdleTimeout']),
    drainTimeout: durationOf(timeouts['shutdownTimeout']),
    ...mapOf(spec['limits']),
  });
  const { proxyContainer, proxy: pods, ...others } = mapOf(infrastructure);
  const made = given({ replicas, ...mapOf(proxyContainer), ...mapOf(pods) });
  const infra = given({ ...others, proxy: isEmpty(made) ? undefined : made });
  return given({
    ...without(spec, 'network', 'replicas', 'infrastructure', 'limits'),
    infrastructure: isEmpty(infra) ? undefined : infra,
    limits: isEmpty(limits) ? undefined : limits,
  });
}
