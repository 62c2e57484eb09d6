import { readFileSync } from 'node:fs';
import { isIPv6 } from 'node:net';
import type { ConnectionOptions } from 'node:tls';
import { Command, InvalidArgumentError, Option } from 'commander';
import { stringify } from 'yaml';
import type { Credentials } from '../kafka/client.ts';
import { IsthmusError, messageOf } from '../ops/errors.ts';
import type { Endpoint, ProbeOptions } from '../probe/endpoint.ts';
import type { Finding } from '../probe/findings.ts';
import type { ProbedAddress, ProbedCluster, ProbedEndpoint, Step } from '../probe/probed.ts';
import { parseCount, parseResolver } from './arguments.ts';
import { EXIT } from './exit.ts';
import { outputOption, render } from './output.ts';
import type { OutputFormat } from './output.ts';
import type { Terminal } from './terminal.ts';

interface ProbeFlags {
  resolver?: string;
  tls?: boolean;
  ca?: string;
  cert?: string;
  key?: string;
  saslMechanism?: Credentials['mechanism'];
  user?: string;
  passwordFile?: string;
  timeout: number;
  output: OutputFormat;
}

/** `isthmus probe HOST:PORT`: whether a Kafka client gets from here to every broker, and if not, where it ends. */
export function probeCommand(terminal: Terminal): Command {
  return new Command('probe')
    .description(
      'take the way of a Kafka client from here to every broker, and say how far it comes; exit code 1 if not all the way',
    )
    .argument('<bootstrap>', 'host:port, several separated by commas', parseBootstrap)
    .option('--resolver <address[:port]>', 'ask this DNS server instead of the system', parseResolver)
    .option('--tls', 'the listener speaks TLS (implied by --ca and --cert)')
    .option('--ca <file>', 'whom to trust, PEM; the public authorities otherwise')
    .option('--cert <file>', 'a certificate of our own, PEM')
    .option('--key <file>', 'its key, PEM')
    .addOption(
      new Option('--sasl-mechanism <name>', 'log in').choices(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512']),
    )
    .option('--user <name>', 'who logs in')
    .option('--password-file <file>', 'the password; - for standard input')
    .option('--timeout <seconds>', 'for the way to one address', parseCount, 10)
    .addOption(outputOption())
    .action(async (bootstrap: Endpoint[], flags: ProbeFlags) => {
      const options = await optionsOf(flags);
      const { probeCluster } = await import('../probe/cluster.ts');
      const { findingsOf } = await import('../probe/findings.ts');
      const probed = await probeCluster(bootstrap, options);
      const findings = findingsOf(probed);
      if (findings.length > 0) terminal.exitCode = EXIT.problems;
      terminal.out(show(probed, findings, flags.output));
    });
}

/** Reads `host:port,[::1]:port`. */
function parseBootstrap(text: string): Endpoint[] {
  return text.split(',').map((one) => {
    const match = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(one.trim());
    const port = Number(match?.[3]);
    if (!match || port < 1 || port > 65_535)
      throw new InvalidArgumentError(`"${one}" is not host:port, as in kafka.example.com:9092.`);
    return { host: match[1] ?? match[2]!, port };
  });
}

async function optionsOf(flags: ProbeFlags): Promise<ProbeOptions> {
  const { resolveBy, resolveBySystem } = await import('../probe/resolve.ts');
  const timeoutMs = flags.timeout * 1000;
  return {
    resolve: flags.resolver === undefined ? resolveBySystem : resolveBy(flags.resolver, timeoutMs),
    tls: tlsOf(flags),
    sasl: saslOf(flags),
    timeoutMs,
  };
}

function tlsOf({ tls, ca, cert, key }: ProbeFlags): ConnectionOptions | undefined {
  if ((cert === undefined) !== (key === undefined))
    throw new IsthmusError('USAGE', '--cert and --key are given together');
  if (tls !== true && ca === undefined && cert === undefined) return undefined;
  return {
    ...(ca !== undefined && { ca: fileOf('--ca', ca) }),
    ...(cert !== undefined && { cert: fileOf('--cert', cert), key: fileOf('--key', key!) }),
  };
}

function saslOf({ saslMechanism: mechanism, user, passwordFile }: ProbeFlags): Credentials | undefined {
  const given = [mechanism, user, passwordFile].filter((one) => one !== undefined).length;
  if (given === 0) return undefined;
  if (given < 3)
    throw new IsthmusError('USAGE', '--sasl-mechanism, --user and --password-file are given together');
  const password = fileOf('--password-file', passwordFile!).replace(/\r?\n$/, '');
  return { mechanism: mechanism!, username: user!, password };
}

function fileOf(flag: string, file: string): string {
  try {
    return readFileSync(file === '-' ? 0 : file, 'utf8');
  } catch (error) {
    throw new IsthmusError('USAGE', `${flag}: ${messageOf(error)}`, { cause: error });
  }
}

interface Row {
  endpoint: ProbedEndpoint;
  /** None if the name has none. */
  at: ProbedAddress | undefined;
}

const msOf = (ms: number | undefined) => (ms === undefined ? '' : `${ms.toFixed(1)} ms`);

const stepCell =
  (step: Step) =>
  ({ at }: Row) => {
    if (at?.failed?.step === step) return 'FAILED';
    return msOf(at?.passed.find((one) => one.step === step)?.ms);
  };

const COLUMNS = {
  node: ({ endpoint }: Row) => String(endpoint.nodeId ?? '-'),
  'told to clients': ({ endpoint: { host, port } }: Row) =>
    isIPv6(host) ? `[${host}]:${port}` : `${host}:${port}`,
  address: ({ at }: Row) => at?.address ?? 'none',
  resolve: ({ endpoint }: Row) => (endpoint.unresolved === undefined ? msOf(endpoint.resolveMs) : 'FAILED'),
  connect: stepCell('connect'),
  tls: stepCell('tls'),
  versions: stepCell('versions'),
  login: stepCell('login'),
  metadata: stepCell('metadata'),
  identity: stepCell('identity'),
};

function show(probed: ProbedCluster, findings: readonly Finding[], format: OutputFormat): string {
  if (format === 'json') return `${JSON.stringify({ ...probed, findings }, null, 2)}\n`;
  if (format === 'yaml') return stringify({ ...probed, findings });
  const rows = [...probed.bootstrap, ...probed.brokers].flatMap((endpoint): Row[] =>
    endpoint.addresses.length === 0
      ? [{ endpoint, at: undefined }]
      : endpoint.addresses.map((at) => ({ endpoint, at })),
  );
  const used = Object.entries(COLUMNS).filter(([, cell]) => rows.some((row) => cell(row) !== ''));
  const table = render(rows, Object.fromEntries(used), 'table');
  const words = findings.map(({ where, problem, hint }) => `\n${where}: ${problem}\n  ${hint}\n`);
  const { clusterId, brokers } = probed;
  const head =
    clusterId === null
      ? ''
      : `cluster ${clusterId}, ${brokers.length} ${brokers.length === 1 ? 'broker' : 'brokers'}\n`;
  return `${head}${table}${words.join('')}`;
}
