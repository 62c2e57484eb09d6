import { Command, InvalidArgumentError, Option } from 'commander';
import type { JoinRoad } from '../../control/targets/names.ts';
import type { ReachMode } from '../../control/discover/members/nodes.ts';
import { IsthmusError } from '../../ops/errors.ts';
import { VERSION } from '../../ops/version.ts';
import { parseClusterId, parseImage, parseList, parseNamespace, parseNamespaces } from '../arguments.ts';
import { EXIT } from '../exit.ts';
import { outputOption, renderData } from '../output.ts';
import type { OutputFormat } from '../output.ts';
import type { Terminal } from '../terminal.ts';
import { centralFlags, centralOptions, withCluster } from './connect.ts';
import type { TwoClusterFlags } from './connect.ts';

export interface JoinFlags extends TwoClusterFlags {
  name?: string;
  roads: JoinRoad[];
  namespace: string;
  kafkaNamespaces: string[];
  server?: string;
  insecureSkipTlsVerify?: boolean;
  reach?: ReachMode;
  longLived?: boolean;
  tokenLifetime: number;
  image?: string;
  podSets: boolean;
  nodes: boolean;
  crds?: boolean;
  dns?: string;
  dryRun?: boolean;
  output: OutputFormat;
}

/** Spelled out, because the modules that have them are loaded only when the command runs. */
const ROADS = ['stretch', 'discover', 'probe'] as const satisfies JoinRoad[];
const DEFAULT_ROADS = ['stretch', 'discover'] as const satisfies JoinRoad[];
const REACH = ['pods', 'nodes', 'external-nodes'] as const satisfies ReachMode[];

/** `isthmus join`: prepares another cluster, and lets the operator and the DNS server of this one know it. */
export function joinCommand(terminal: Terminal): Command {
  const command = new Command('join')
    .description(
      'let this cluster work with another: an account there with the rights that are used, its kubeconfig here',
    )
    .option('--name <id>', 'what the other cluster is called here (default: its context)', parseClusterId)
    .addOption(
      new Option('--roads <list>', `what for, of ${ROADS.join(',')}`)
        .argParser(parseRoads)
        .default([...DEFAULT_ROADS], DEFAULT_ROADS.join()),
    )
    .option(
      '-n, --namespace <name>',
      'Isthmus’ own namespace in both clusters',
      parseNamespace,
      'isthmus-system',
    )
    .option('--kafka-namespaces <list>', 'where brokers of stretched Kafkas may run', parseNamespaces, [
      'kafka',
    ])
    .option(
      '--server <url>',
      'where pods of this cluster reach the other API server (default: as its context says)',
      parseServer,
    )
    .option(
      '--insecure-skip-tls-verify',
      'do not verify that server: whoever is in between can do everything',
    )
    .addOption(
      new Option('--reach <mode>', 'how exported services of the other cluster are reached').choices(REACH),
    )
    .option('--long-lived', 'a token that never ends, instead of one that is renewed')
    .option('--no-long-lived', 'go back to one that is renewed')
    .option(
      '--token-lifetime <time>',
      'for how long a token is asked for, as in 24h',
      parseLifetime,
      7 * 24 * 60 * 60,
    )
    .option(
      '--image <reference>',
      'what the pod-set controller there runs (default: that of the operator here)',
      parseImage,
    )
    .option('--no-pod-sets', 'install no pod-set controller there')
    .option(
      '--no-nodes',
      'do not let it read nodes, so that brokers are told neither zone nor address of theirs',
    )
    .option('--crds', 'also apply the CRDs that are needed there and missing')
    .option('--dns <file>', 'also run a DNS server there, with this configuration')
    .option('--dry-run', 'say what would be done, and do nothing')
    .addOption(outputOption());
  return centralOptions(command).action(async (flags: JoinFlags, called: Command) => {
    const { runJoin } = await import('./join.ts');
    const { changesText } = await import('./changes.ts');
    const { hasErrors, reportData, reportText } = await import('../check/report.ts');
    if (
      flags.context === undefined &&
      flags.centralContext === undefined &&
      flags.centralKubeconfig === undefined
    )
      throw new IsthmusError('USAGE', 'name the cluster to join with --context');
    const name = flags.name ?? idOf(flags.context);
    const isText = flags.output === 'table';
    const given = new Set(Object.keys(flags).filter((flag) => called.getOptionValueSource(flag) === 'cli'));
    const { changes, checks } = await withCluster(flags, (remote) =>
      withCluster(centralFlags(flags), (central) =>
        runJoin({ ...flags, name, given, defaultImage: `isthmus:${VERSION}` }, central, remote, {
          onPlan: (planned) => isText && terminal.out(changesText(planned)),
          say: (text) => terminal.err(`${text}\n`),
        }),
      ),
    );
    if (checks && hasErrors([checks])) terminal.exitCode = EXIT.problems;
    if (flags.output !== 'table')
      terminal.out(renderData({ cluster: name, changes, ...(checks && reportData([checks])) }, flags.output));
    else if (checks) terminal.out(`\n${reportText([checks], terminal.colors ?? false)}`);
  });
}

/** A context as the id of a cluster: `kind-east` stays, `Admin@East.example` becomes `admin-east-example`. */
function idOf(context: string | undefined): string {
  const id = (context ?? '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .replaceAll(/^-+|-+$/g, '')
    .slice(0, 63);
  if (id === '') throw new IsthmusError('USAGE', 'say what the cluster is called here, with --name');
  return parseClusterId(id.replace(/-+$/, ''));
}

function parseRoads(text: string): JoinRoad[] {
  const roads = parseList(text);
  const unknown = roads.filter((word) => !ROADS.includes(word as JoinRoad));
  if (unknown.length > 0)
    throw new InvalidArgumentError(`unknown: ${unknown.join(', ')}; choose of ${ROADS.join(', ')}.`);
  return roads as JoinRoad[];
}

function parseServer(text: string): string {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' || url.username !== '')
    throw new InvalidArgumentError('a URL, as in https://10.0.0.5:6443.');
  return text.replace(/\/+$/, '');
}

/** Reads `24h` or `90m` as seconds; Kubernetes gives no token for less than ten minutes. */
function parseLifetime(text: string): number {
  const [, amount, unit] = /^(\d{1,6})(h|m)$/.exec(text) ?? [];
  const seconds = Number(amount) * (unit === 'h' ? 3600 : 60);
  if (!(seconds >= 600)) throw new InvalidArgumentError('a time of at least 10m, as in 24h.');
  return seconds;
}
