import { isIP } from 'node:net';
import { join } from 'node:path';
import { Command, InvalidArgumentError, Option } from 'commander';
import type { Console } from '../console/server.ts';
import { IsthmusError } from '../ops/errors.ts';
import { createLog } from '../ops/log.ts';
import type { Log, LogLevel } from '../ops/log.ts';
import type { Listing } from '../store/local-plan.ts';
import type { Up, UpState } from '../store/up.ts';
import { logLevelOption, parsePort } from './arguments.ts';
import { render } from './output.ts';
import { untilStopped } from './terminal.ts';
import type { Terminal } from './terminal.ts';

interface UpFlags {
  filename?: string;
  example?: string;
  kafka?: string;
  port?: number;
  console: boolean;
  consolePort?: number;
  dnsPort?: number;
  logLevel: LogLevel;
}

/** `isthmus up`: the same resources as in a cluster, from a folder, on this machine. */
export function upCommand(terminal: Terminal): Command {
  return new Command('up')
    .description(
      'serve a folder of resources on this machine, no Kubernetes needed; follows changes of the files',
    )
    .option('-f, --filename <folder>', 'the folder with YAML files')
    .addOption(
      new Option(
        '--example <name>',
        'run an example, from a copy in this folder; `list` lists them',
      ).conflicts('filename'),
    )
    .option('--kafka <host:port>', 'use this Kafka where an embedded one is asked for', parseBootstrap)
    .option('--port <port>', 'where the ports of clusterIP ingresses begin', parseListenPort)
    .option('--console-port <port>', 'where the console is (default: 9080, or any that is free)', parsePort)
    .option('--no-console', 'serve no console')
    .option(
      '--dns-port <port>',
      'where names are answered for (default: 9053, or any that is free)',
      parsePort,
    )
    .addOption(logLevelOption('warn'))
    .action(async ({ logLevel, kafka, port, dnsPort, ...flags }: UpFlags) => {
      const { startUp } = await import('../store/up.ts');
      const folder = await folderOf(flags, terminal);
      const stopped = untilStopped();
      const log = createLog(logLevel, { role: 'up' });
      const up = await startUp({
        folder,
        kafka,
        port,
        dnsPort,
        log,
        onChange: (state) => terminal.out(describe(state, folder)),
        onProgress: (line) => terminal.err(`isthmus: ${line}\n`),
      });
      const console = flags.console ? await openConsole(up, folder, flags.consolePort, log) : undefined;
      terminal.out(placesText(up, console?.url));
      terminal.err('isthmus: edit the files and the change takes effect; Ctrl-C stops everything\n');
      await stopped;
      terminal.err('isthmus: stopping …\n');
      await console?.close();
      await up.stop();
    });
}

/** The folder that was named, or that the example is copied to. */
async function folderOf(
  { filename, example }: Pick<UpFlags, 'filename' | 'example'>,
  terminal: Terminal,
): Promise<string> {
  if (filename !== undefined) return filename;
  if (example === undefined)
    throw new IsthmusError(
      'USAGE',
      'name a folder with -f, or an example with --example (`list` lists them)',
    );
  const { copyExample } = await import('../store/examples.ts');
  const folder = `isthmus-${example}`;
  const isNew = (await copyExample(example, folder)) === 'copied';
  terminal.err(`isthmus: ${isNew ? 'copied the example to' : 'serving what is in'} ${folder}\n`);
  return folder;
}

const CONSOLE_PORT = 9080;

/** A port that was asked for is used or refused; the usual one may be another program's. */
async function openConsole(up: Up, folder: string, port: number | undefined, log: Log): Promise<Console> {
  const { localSource } = await import('../console/local-source.ts');
  const { serveConsole } = await import('../console/server.ts');
  const serve = (at: number) => serveConsole({ source: localSource(up, folder), log, port: at });
  return port === undefined ? serve(CONSOLE_PORT).catch(() => serve(0)) : serve(port);
}

/** Where to look, and where to ask. */
export function placesText({ names }: Pick<Up, 'names'>, console: string | undefined): string {
  const dns = names.endpoint();
  return [
    ...(dns
      ? [`Names are answered for at ${dns.address} port ${dns.port}: ${names.zones().join(', ')}`]
      : []),
    ...(console === undefined ? [] : [`The console: ${console}`]),
  ]
    .map((line) => `\n${line}\n`)
    .join('');
}

const COLUMNS = {
  'virtual cluster': (listing: Listing) => listing.virtualCluster,
  bootstrap: (listing: Listing) => listing.bootstrap,
  protocol: (listing: Listing) => listing.protocol,
  filters: (listing: Listing) => listing.filters.join(', ') || '-',
};

/** What is served, what is wrong, and lines to paste. */
export function describe({ listings, problems, held, kafka }: UpState, folder: string): string {
  const wrong = problems.map(({ file, line, message }) => `✖ ${file}:${line}: ${message}\n`).join('');
  if (listings.length === 0) return `\n${wrong}Nothing is served: no VirtualKafkaCluster is usable.\n`;
  const before = held.map((one) => `${heldText(one)}\n`).join('');
  const columns = held.length > 0 ? { ...COLUMNS, state: stateOf(held) } : COLUMNS;
  const embedded = kafka ? `Apache Kafka itself listens on ${kafka.bootstrap}\n` : '';
  return `\n${wrong}${before}${render(listings, columns, 'table')}${embedded}${paste(listings, { kafka, ca: join(folder, 'ca.crt') })}`;
}

function heldText({ kind, name, sinceMs }: UpState['held'][number]): string {
  const since = new Date(sinceMs).toISOString().replace('T', ' ').replace(/\..*/, ' UTC');
  const used = kind === 'VirtualKafkaCluster' ? 'served' : 'used';
  return `${kind} "${name}" is ${used} as it was last good, since ${since}`;
}

const stateOf =
  (held: UpState['held']) =>
  ({ virtualCluster }: Listing) =>
    held.some(({ kind, name }) => kind === 'VirtualKafkaCluster' && name === virtualCluster)
      ? 'last good'
      : 'newest';

interface Tools {
  kafka: UpState['kafka'];
  /** Where tools read whom to trust; the example of TLS has it there. */
  ca: string;
}

/** Lines that work as they are: with the tools of the Kafka that was started, else with kcat. */
function paste(listings: readonly Listing[], tools: Tools): string {
  const tries = listings.flatMap((listing) => tryLines(listing, tools).map((line) => `  ${line}\n`));
  return `\nTo try it, in another terminal:\n${tries.join('')}`;
}

/** In, out, and, where filters work on it, what the broker itself has of it. */
function tryLines(listing: Listing, tools: Tools): string[] {
  const { kafka } = tools;
  const { bootstrap, filters, protocol } = listing;
  const line = kafka?.libs === undefined ? kcatLine : kafkaLine;
  const at = { ...tools, topic: `hello-${listing.virtualCluster}` };
  return [
    headingOf(listing, tools),
    `echo hello | ${line('in', { ...at, bootstrap, protocol })}`,
    line('out', { ...at, bootstrap, protocol }),
    ...(kafka && filters.length > 0
      ? [
          '# the same as the broker has it',
          line('out', { ...at, bootstrap: kafka.bootstrap, protocol: 'TCP' }),
        ]
      : []),
  ];
}

function headingOf({ virtualCluster, bootstrap, protocol }: Listing, { ca }: Tools): string {
  if (protocol === 'TCP') return `# ${virtualCluster}`;
  const host = bootstrap.slice(0, bootstrap.lastIndexOf(':'));
  const isHere = host === 'localhost' || isIP(host.replace(/^\[|\]$/g, '')) !== 0;
  const names = isHere ? '' : ', and its names have to lead to this machine';
  return `# ${virtualCluster}, by TLS: ${ca} has to be the authority of its certificate${names}`;
}

interface Try extends Tools, Pick<Listing, 'bootstrap' | 'protocol'> {
  topic: string;
}

const CONSOLE_TOOLS = {
  in: { name: 'ConsoleProducer', end: '' },
  out: { name: 'consumer.ConsoleConsumer', end: ' --from-beginning --max-messages 1' },
};

function kafkaLine(way: 'in' | 'out', { kafka, ca, bootstrap, protocol, topic }: Try): string {
  const { name, end } = CONSOLE_TOOLS[way];
  const properties = ['security.protocol=SSL', 'ssl.truststore.type=PEM', `'ssl.truststore.location=${ca}'`];
  const tls = protocol === 'TLS' ? properties.map((one) => ` --command-property ${one}`).join('') : '';
  return `java -cp '${kafka?.libs}/*' org.apache.kafka.tools.${name} --bootstrap-server ${bootstrap} --topic ${topic}${tls}${end}`;
}

function kcatLine(way: 'in' | 'out', { ca, bootstrap, protocol, topic }: Try): string {
  const tls = protocol === 'TLS' ? ` -X security.protocol=ssl -X 'ssl.ca.location=${ca}'` : '';
  return `kcat -b ${bootstrap}${tls} -t ${topic} ${way === 'in' ? '-P' : '-C -o beginning -e'}`;
}

/** Reads HOST:PORT, or several with commas. */
function parseBootstrap(text: string): string {
  const isAddress = (word: string) => /^(\[[0-9a-fA-F:.]+\]|[^\s:/,]+):\d{1,5}$/.test(word);
  if (!text.split(',').every(isAddress))
    throw new InvalidArgumentError('write HOST:PORT, e.g. localhost:9092.');
  return text;
}

function parseListenPort(text: string): number {
  const port = parsePort(text);
  if (port === 0) throw new InvalidArgumentError('a port is 1 to 65535.');
  return port;
}
