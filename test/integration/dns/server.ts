/** Our own DNS server, in this process, on loopback ports that the system chooses. */
import { dnsConfigSchema } from '../../../src/dns/server/config.ts';
import { startDns } from '../../../src/dns/server/server.ts';
import { createLog } from '../../../src/ops/log.ts';
import { createMetrics, metricsText } from '../../../src/ops/metrics.ts';
import type { DnsConfigInput } from '../../support/dns/testing.ts';
import type { DnsServer } from '../../../src/dns/server/server.ts';

export interface TestServer extends DnsServer, AsyncDisposable {
  /** The text of /metrics. */
  metrics(): Promise<string>;
}

/** Starts a server; what the configuration leaves out is made for tests. */
export async function startOurs(
  input: DnsConfigInput,
  options: { ready?: boolean; serials?: 'own' | 'given' } = {},
): Promise<TestServer> {
  const metrics = createMetrics();
  const config = dnsConfigSchema.parse({ listen: ['127.0.0.1:0'], ...input });
  const server = await startDns(config, { log: createLog('warn'), metrics, ...options });
  return Object.assign(server, {
    metrics: async () => metricsText([await metrics.snapshot()]),
    [Symbol.asyncDispose]: () => server.close(),
  });
}
