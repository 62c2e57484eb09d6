import { setTimeout as delay } from 'node:timers/promises';
import { Command } from 'commander';
import type { Client } from '../../kube/http/client.ts';
import { parseDuration } from '../arguments.ts';
import { EXIT } from '../exit.ts';
import { connectionOptions, namespaceOf, namespaceOptions, withClient } from '../kube/connect.ts';
import type { ConnectionFlags, NamespaceFlags } from '../kube/connect.ts';
import { outputOption, render, renderData } from '../output.ts';
import type { OutputFormat } from '../output.ts';
import type { Terminal } from '../terminal.ts';
import type { ClusterStatus, KindCount, ObjectStatus } from '../../view/status.ts';

interface StatusFlags extends ConnectionFlags, NamespaceFlags {
  wait?: boolean;
  timeout: number;
  output: OutputFormat;
}

const POLL_MS = 1000;
const DEFAULT_TIMEOUT_MS = 300_000;

/** `isthmus status`: how resources are; with `--wait` it ends when they are ready. */
export function statusCommand(terminal: Terminal): Command {
  const command = new Command('status')
    .description('say how resources are; exit code 1 if one is not ready')
    .argument('[kind]', 'a kind, or KIND/NAME (default: all kinds of Isthmus)')
    .argument('[name]', 'one of them')
    .option('--wait', 'wait until all of it is ready')
    .option('--timeout <duration>', 'how long to wait, as in 90s or 5m', parseDuration, DEFAULT_TIMEOUT_MS)
    .addOption(outputOption());
  return connectionOptions(namespaceOptions(command)).action(
    async (word: string | undefined, second: string | undefined, flags: StatusFlags) => {
      const { isSettled, worstFirst } = await import('../../view/status.ts');
      const read = await reader(word, second, flags);
      const end = Date.now() + (flags.wait ? flags.timeout : 0);
      const all = await withClient(flags, async (client) => {
        for (;;) {
          const found = await read(client);
          // Nothing at all is what one waits for only if one has asked for all there is.
          const isThere = found.length > 0 || word === undefined;
          if ((isThere && isSettled(found)) || Date.now() >= end) return found;
          await delay(Math.min(POLL_MS, Math.max(1, end - Date.now())));
        }
      });
      if (!isSettled(all)) terminal.exitCode = EXIT.problems;
      await print(terminal, worstFirst(all), flags.output);
    },
  );
}

type Reader = (client: Client) => Promise<ObjectStatus[]>;

/** What is asked for, read anew each time. */
async function reader(
  word: string | undefined,
  second: string | undefined,
  flags: StatusFlags,
): Promise<Reader> {
  const { parseTarget } = await import('../kube/target.ts');
  const { findIfThere, findObject } = await import('../kube/find.ts');
  const { listOf } = await import('../kube/read.ts');
  const { clustersOf, statusOf } = await import('../../view/status.ts');
  const { RESOURCE_ROADS } = await import('../check/kinds.ts');
  const target = word === undefined ? undefined : parseTarget(word, second);
  const kinds = target ? [target.kind] : RESOURCE_ROADS.map(({ kind }) => kind);
  return async (client) => {
    const namespace = namespaceOf(flags, client);
    const name = target?.name;
    if (target && name !== undefined) {
      const place = { namespace: namespace ?? client.namespace, name };
      // What one waits for may be yet to come.
      const find = flags.wait ? findIfThere : findObject;
      const found = await find(client, target.kind, place);
      if (!found) return [missing(target.kind.kind, place)];
      const clusters = target.kind.kind === 'Kafka' ? clustersOf(await anchorOf(client, place)) : [];
      return [{ ...statusOf(found), ...(clusters.length > 0 && { clusters }) }];
    }
    const lists = await Promise.all(kinds.map((kind) => listOf(client, kind, { namespace })));
    return lists.flat().map(statusOf);
  };
}

/** Somebody may be allowed to see Kafkas, and not those. */
async function anchorOf(client: Client, place: { namespace: string; name: string }) {
  const { kafkaAnchor } = await import('../../resources/isthmus/kafka-anchor.ts');
  const { findIfThere } = await import('../kube/find.ts');
  return findIfThere(client, kafkaAnchor, place).catch(() => undefined);
}

const missing = (kind: string, place: { namespace: string; name: string }): ObjectStatus => ({
  kind,
  ...place,
  state: 'notReady',
  reason: 'NotFound',
  message: 'it does not exist',
});

async function print(terminal: Terminal, all: readonly ObjectStatus[], output: OutputFormat): Promise<void> {
  if (output !== 'table') return terminal.out(renderData(all, output));
  if (all.length === 0) return terminal.err('there are no resources of Isthmus here\n');
  const { countByKind } = await import('../../view/status.ts');
  const { STATE_WORDS } = await import('./columns.ts');
  const told =
    all.length === 1 ? all : all.filter(({ state }) => state === 'notReady' || state === 'warning');
  const lines = told.map(({ kind, namespace, name, state, reason, message, clusters = [] }) => {
    const where = namespace === '' ? name : `${namespace}/${name}`;
    const why = reason === '' ? '' : ` ${reason}`;
    const places = clusters.map((one) => `    ${clusterText(one)}\n`).join('');
    return `${kind} ${where}: ${STATE_WORDS[state]}${why}\n${message === '' ? '' : `    ${message}\n`}${places}`;
  });
  if (all.length > 1) terminal.out(render(countByKind(all), COUNTS, 'table', { columns: terminal.columns }));
  if (lines.length > 0) terminal.out(`${all.length > 1 ? '\n' : ''}${lines.join('')}`);
  if (told.some(({ reason }) => reason !== ''))
    terminal.err('`isthmus explain CODE` says what a reason means\n');
}

/** `cluster east: 1 of 1 nodes ready`. */
function clusterText({
  name,
  reachable,
  since,
  problem,
  nodes,
  ready,
  latencies = [],
}: ClusterStatus): string {
  const far = latencies.map((one) => `, ${one.p99Ms} ms to ${one.name}`).join('');
  if (reachable) return `cluster ${name}: ${ready} of ${nodes} nodes ready${far}`;
  return `cluster ${name}: not reachable${since === undefined ? '' : ` since ${since}`}, ${nodes} nodes there: ${problem ?? ''}`;
}

const COUNTS = {
  kind: ({ kind }: KindCount) => kind,
  all: ({ all }: KindCount) => String(all),
  ready: ({ ready }: KindCount) => String(ready),
  warning: ({ warning }: KindCount) => String(warning),
  'not ready': ({ notReady }: KindCount) => String(notReady),
};
