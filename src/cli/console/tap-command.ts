import { Command, InvalidArgumentError, Option } from 'commander';
import type { TrafficBatch, TrafficEntry } from '../../console/api.ts';
import { paint } from '../paint.ts';
import type { Terminal } from '../terminal.ts';

interface TapFlags {
  console: string;
  proxy?: string;
  tokenFile?: string;
  verdict?: TrafficEntry['verdict'];
  output: 'table' | 'json';
}

/** `isthmus tap`: requests as they come by, as the console shows them, or straight from a proxy. */
export function tapCommand(terminal: Terminal): Command {
  return new Command('tap')
    .description('print requests as they come by: who asked what of which topic, and what became of it')
    .argument('[words...]', 'only those with all of these words in them, e.g. the name of a topic')
    .option('--console <url>', 'the console that `isthmus up` serves', parseAddress, 'http://127.0.0.1:9080/')
    .option('--proxy <url>', 'the management port of a proxy, in its place', parseAddress)
    .option('--token-file <file>', 'with the bearer token for that port, where it needs one')
    .addOption(
      new Option('--verdict <verdict>', 'only those that ended so').choices([
        'forwarded',
        'answered',
        'closed',
      ]),
    )
    .addOption(
      new Option('-o, --output <format>', 'how to print them: json is one document a line')
        .choices(['table', 'json'])
        .default('table'),
    )
    .action(async (words: string[], { console, proxy, tokenFile, verdict, output }: TapFlags) => {
      const { readEvents } = await import('./tap-events.ts');
      const { untilStopped } = await import('../terminal.ts');
      const stop = new AbortController();
      void untilStopped().then(() => stop.abort());
      if (output === 'table') terminal.out(`${HEADINGS}\n`);
      const url = proxy === undefined ? new URL('/api/traffic', console) : new URL('/tap', proxy);
      for await (const data of readEvents(url, { tokenFile, signal: stop.signal })) {
        const { entries, missed } = JSON.parse(data) as TrafficBatch;
        for (const entry of entries.filter((one) => isWanted(one, words, verdict)))
          terminal.out(
            `${output === 'json' ? JSON.stringify(entry) : lineOf(entry, terminal.colors ?? false)}\n`,
          );
        if (missed > 0) terminal.err(`… and ${missed} more, too many to show\n`);
      }
    });
}

function parseAddress(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:')
    throw new InvalidArgumentError('a URL, as in http://127.0.0.1:9080/.');
  return url.href;
}

function isWanted(entry: TrafficEntry, words: readonly string[], verdict: string | undefined): boolean {
  const text = Object.values(entry).join(' ').toLowerCase();
  return (
    (verdict === undefined || entry.verdict === verdict) &&
    words.every((word) => text.includes(word.toLowerCase()))
  );
}

const WIDTHS = [12, 22, 16, 22, 24, 10, 9, 9] as const;
const columns = (cells: readonly string[]) =>
  cells.map((cell, index) => cell.padEnd(WIDTHS[index] ?? 0)).join(' ');

const HEADINGS = columns([
  'TIME',
  'CLIENT',
  'VIRTUAL CLUSTER',
  'API',
  'TOPIC',
  'VERDICT',
  'LATENCY',
  'BYTES IN',
  'OUT',
]);

const COLOURS = { forwarded: undefined, answered: 'yellow', closed: 'red' } as const;

/** One entry in a line. */
export function lineOf(entry: TrafficEntry, colors: boolean): string {
  const { at, client, virtualCluster, api, apiVersion, topic = '-', verdict, reason, latencyMs } = entry;
  const line = columns([
    new Date(at).toISOString().slice(11, 23),
    client,
    virtualCluster,
    api === undefined ? 'connection' : `${api} v${apiVersion}`,
    topic,
    verdict,
    latencyMs === undefined ? '-' : `${latencyMs.toFixed(1)} ms`,
    String(entry.requestBytes),
    String(entry.responseBytes),
  ]);
  const colour = COLOURS[verdict];
  const whole = reason === undefined ? line : `${line}  ${reason}`;
  return colour === undefined ? whole : paint(whole, colour, colors);
}
