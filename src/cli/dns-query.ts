import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import { stringify } from 'yaml';
import type { DiscoverSettings } from '../control/discover/settings.ts';
import type { RecordSink } from '../control/discover/records/dns-record.ts';
import type { DnsConfig } from '../dns/server/config.ts';
import type { ExplainedRRset, Explanation } from '../dns/zone/explain.ts';
import type { Cluster } from '../kube/cluster.ts';
import { IsthmusError } from '../ops/errors.ts';
import { createLog } from '../ops/log.ts';
import { createMetrics } from '../ops/metrics.ts';
import { parseNamespace } from './arguments.ts';
import { outputOption, render } from './output.ts';
import type { OutputFormat } from './output.ts';
import type { Terminal } from './terminal.ts';

interface QueryFlags {
  config: string;
  namespace: string;
  output: OutputFormat;
}

/** `isthmus dns query`: what would be answered, and which objects it came from. Asks the clusters, not a running server. */
export function dnsQueryCommand(terminal: Terminal): Command {
  return new Command('query')
    .description('say what would be answered to a question, and which objects the answer came from')
    .argument('<name>', 'the name asked for')
    .argument('[type]', 'A, AAAA, CNAME, SRV, TXT, PTR, NS, SOA', 'A')
    .option(
      '-n, --namespace <name>',
      'where the DNS server runs, and the Secrets of joined clusters are',
      parseNamespace,
      'isthmus-system',
    )
    .addOption(outputOption())
    .action(async (name: string, type: string, _flags: object, command: Command) => {
      const { config, namespace, output } = command.optsWithGlobals<QueryFlags>();
      const { loadDnsCommandConfig } = await import('./dns-config.ts');
      const { dns, kubernetes } = loadDnsCommandConfig(config, process.env);
      const answers = await openAnswers(dns);
      if (kubernetes) await fill(answers, { secretsNamespace: namespace, ...kubernetes });
      terminal.out(show(answers.explain(name, type), output));
    });
}

/** How long reading the cluster may take, apart from the clusters that it is joined with. */
const READ_MS = 15_000;

interface Answers extends RecordSink {
  explain(name: string, type: string): Explanation;
}

/** The DNS server's zones and lookup, without its sockets. */
async function openAnswers(config: DnsConfig): Promise<Answers> {
  const { zoneSpecOf } = await import('../dns/server/config.ts');
  const { loadRecords } = await import('../dns/zone/records-file.ts');
  const { typeNumber } = await import('../dns/wire/constants.ts');
  const { explain } = await import('../dns/zone/explain.ts');
  const { parseName } = await import('../dns/wire/name.ts');
  const { createStore } = await import('../dns/zone/store.ts');
  const { applyUpdate } = await import('../dns/zone/update.ts');
  const { createZones } = await import('../dns/zone/zones.ts');
  const zones = createZones();
  const now = () => Math.floor(Date.now() / 1000);
  const store = createStore(config.zones.map(zoneSpecOf), (update) => applyUpdate(zones, update), { now });
  store.upsert('config records', config.records);
  const { recordsFile } = config;
  if (recordsFile !== undefined) store.upsert(`file ${recordsFile}`, loadRecords(recordsFile));
  store.setReady(true);
  return {
    upsert: (source, records) => store.upsert(source, records),
    setReady: (ready) => store.setReady(ready),
    explain(nameText, typeText) {
      const [name, type] = [parseName(nameText), typeNumber(typeText)];
      if (name === undefined) throw new IsthmusError('USAGE', `"${nameText}" is not a domain name`);
      if (type === undefined) throw new IsthmusError('USAGE', `"${typeText}" is not a type of records`);
      return explain(zones, store, name, type);
    },
  };
}

/** Reads the clusters once, as the server does when it starts, but records no Events. */
async function fill(sink: RecordSink, settings: DiscoverSettings): Promise<void> {
  const { joinClusters } = await import('../control/discover/members/join.ts');
  const { startDiscovery } = await import('../control/discover/discovery.ts');
  const log = createLog('error', { role: 'dns query' });
  const joined = joinClusters(settings, log);
  const reachability = await joined.local.probe();
  if (reachability.state === 'unreachable') {
    await joined.clusters.stop();
    throw new IsthmusError('CLUSTER_UNREACHABLE', reachability.problem);
  }
  const events = { record: () => {}, flush: async () => {}, stop: async () => {} };
  const joinWaitMs = settings.joinWaitSeconds * 1000;
  const { importNamespace, preferLocal } = settings;
  const given = { ...joined, importNamespace, preferLocal, sink, events, log, joinWaitMs };
  const discovery = startDiscovery({ ...given, metrics: createMetrics() });
  const done = new AbortController();
  const late = delay(joinWaitMs + READ_MS, 'late', { signal: done.signal }).catch(() => 'done');
  try {
    if ((await Promise.race([discovery.ready, late])) === 'late') throw unread(joined.local);
  } finally {
    done.abort();
    await discovery.stop();
    await joined.clusters.stop();
  }
}

/** The caches that could not be read: a server waits for missing rights, a query does not. */
function unread(local: Cluster): IsthmusError {
  const lacking = local
    .caches()
    .filter(({ isSynced }) => !isSynced)
    .map(({ type, problem }) => `${type.kind}: ${problem ?? 'not read yet'}`);
  return new IsthmusError('CLUSTER_REFUSED', `\n  ${lacking.join('\n  ')}`);
}

const COLUMNS = {
  section: ({ section }: Row) => section,
  name: ({ set }: Row) => set.name,
  ttl: ({ set }: Row) => String(set.ttl),
  type: ({ set }: Row) => set.type,
  data: ({ data }: Row) => data,
  from: ({ set }: Row) => [...set.sources, ...(set.wildcard ? [`(${set.wildcard})`] : [])].join(', '),
};

interface Row {
  section: string;
  set: ExplainedRRset;
  data: string;
}

function show(explanation: Explanation, format: OutputFormat): string {
  if (format === 'json') return `${JSON.stringify(explanation, null, 2)}\n`;
  if (format === 'yaml') return stringify(explanation);
  const { rcode, kind, zone = 'no zone that is served' } = explanation;
  const rows = (['answer', 'authority'] as const).flatMap((section) =>
    explanation[section].flatMap((set) => set.data.map((data) => ({ section, set, data }))),
  );
  const table = rows.length > 0 ? render(rows, COLUMNS, 'table') : '';
  return `${rcode} (${kind}), from ${zone}\n${table}`;
}
