/** Our DNS server as a process of its own: `serve.ts CONFIG.yaml NAMES [UPDATES A SECOND]`. Ends on SIGTERM. */
import { dnsConfigSchema } from '../../src/dns/server/config.ts';
import { startDns } from '../../src/dns/server/server.ts';
import { loadConfig } from '../../src/ops/config.ts';
import { createLog } from '../../src/ops/log.ts';
import { createMetrics } from '../../src/ops/metrics.ts';
import { recordsOf } from './records.ts';

const [file, names, updates = '0'] = process.argv.slice(2);
const server = await startDns(loadConfig(dnsConfigSchema, { file: file! }), {
  log: createLog('info'),
  metrics: createMetrics(),
  ready: false,
});

// As a controller would: one source a name.
for (const record of recordsOf(Number(names))) server.upsert(`Service bench/${record.name}`, [record]);
await server.settled();
server.setReady(true);

// Each update gives one name another address, so all of them are changes that every worker must take in.
let turn = 0;
const update = () => {
  turn += 1;
  const name = `updated${turn % 1000}.example.test`;
  server.upsert(`Service bench/${name}`, [{ name, type: 'A', data: `10.200.${turn % 250}.1` }]);
};
const timer = Number(updates) > 0 ? setInterval(update, 1000 / Number(updates)) : undefined;

process.on('SIGTERM', () => {
  clearInterval(timer);
  process.stderr.write(`updates: ${turn}\n`);
  void server.close();
});
