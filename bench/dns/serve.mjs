// Our DNS server as a process of its own: `serve.mjs DIST CONFIG.yaml NAMES [UPDATES A SECOND]`. Ends on SIGTERM.
// Plain JavaScript that loads the compiled program, as users have it: what strips types would take memory, too.
const [dist, file, names, updates = '0'] = process.argv.slice(2);
const { dnsConfigSchema } = await import(`${dist}/dns/server/config.js`);
const { startDns } = await import(`${dist}/dns/server/server.js`);
const { loadConfig } = await import(`${dist}/ops/config.js`);
const { createLog } = await import(`${dist}/ops/log.js`);
const { createMetrics } = await import(`${dist}/ops/metrics.js`);

const server = await startDns(loadConfig(dnsConfigSchema, { file }), {
  log: createLog('info'),
  metrics: createMetrics(),
  ready: false,
});

// As a controller would: one source a name. The same records as those of records.ts, one at a time.
const upsert = (name, data) =>
  server.upsert(`Service bench/${name}`, [{ name: `${name}.example.test`, type: 'A', data, ttl: 30 }]);
upsert('ns', '10.255.0.1');
for (let i = 0; i < Number(names); i++) upsert(`h${i}`, `10.${i >> 16}.${(i >> 8) & 255}.${i & 255}`);
await server.settled();
server.setReady(true);

// Each update gives one name another address, so all of them are changes that every worker must take in.
let turn = 0;
const update = () => {
  turn += 1;
  upsert(`updated${turn % 1000}`, `10.200.${turn % 250}.1`);
};
const timer = Number(updates) > 0 ? setInterval(update, 1000 / Number(updates)) : undefined;

process.on('SIGTERM', () => {
  clearInterval(timer);
  process.stderr.write(`updates: ${turn}\n`);
  void server.close();
});
