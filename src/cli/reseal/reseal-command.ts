import { Command } from 'commander';
import type { Admin } from '../../kafka/admin/admin.ts';
import type { Endpoint } from '../../probe/endpoint.ts';
import { parseBootstrap, saslOf, tlsOf, withKafkaFlags } from '../kafka-flags.ts';
import type { KafkaFlags } from '../kafka-flags.ts';
import type { Terminal } from '../terminal.ts';
import type { Work } from './copy.ts';
import type { Prepared } from './prepare.ts';

interface ResealFlags extends KafkaFlags {
  into: string;
  from: Endpoint[];
  to?: Endpoint[];
  group?: string;
  dryRun?: boolean;
}

const REPORT_MS = 2000;
const REQUEST_MS = 60_000;

/** `isthmus reseal TOPIC --into TOPIC`: copies a topic through a proxy, so that it is sealed as the target's rules say. */
export function resealCommand(terminal: Terminal): Command {
  const command = new Command('reseal')
    .description(
      'copy a topic through virtual clusters, so that the copy has the key and format that their rules say',
    )
    .argument('<topic>', 'what to copy')
    .requiredOption('--into <topic>', 'the copy; made like the original if there is none')
    .requiredOption(
      '--from <bootstrap>',
      'the virtual cluster that can read it: host:port, several separated by commas',
      parseBootstrap,
    )
    .option(
      '--to <bootstrap>',
      'the virtual cluster that seals the copy (default: that of --from)',
      parseBootstrap,
    )
    .option(
      '--group <name>',
      'keeps how far it has come; also the transactional id (default: isthmus-reseal.TOPIC.INTO)',
    )
    .option('--dry-run', 'say what would be done');
  return withKafkaFlags(command).action(async (topic: string, flags: ResealFlags) => {
    const { openAdmin } = await import('../../kafka/admin/admin.ts');
    const { TRANSACTION_VERSIONS } = await import('./target.ts');
    const [tls, sasl] = [tlsOf(flags), saslOf(flags)];
    const open = (bootstrap: Endpoint[]): Admin =>
      openAdmin({
        bootstrap: bootstrap.map(({ host, port }) => ({ host, port })),
        newestVersions: TRANSACTION_VERSIONS,
        requestTimeoutMs: REQUEST_MS,
        callTimeoutMs: REQUEST_MS,
        clientId: 'isthmus-reseal',
        ...(tls && { tls }),
        ...(sasl && { sasl }),
      });
    const { into, group = `isthmus-reseal.${topic}.${into}` } = flags;
    const [from, to] = [open(flags.from), open(flags.to ?? flags.from)];
    try {
      await reseal({ from, to, topic, into, group }, flags.dryRun ?? false, terminal);
    } finally {
      from.close();
      to.close();
    }
  });
}

async function reseal(work: Work, isDryRun: boolean, terminal: Terminal): Promise<void> {
  const { createTarget, prepare } = await import('./prepare.ts');
  const { copyTopic } = await import('./copy.ts');
  const { progressLine } = await import('./progress.ts');
  const prepared = await prepare(work);
  if (isDryRun) return terminal.out(intention(prepared));
  await createTarget(work.to, prepared);
  let next = 0;
  const { records, partitions } = await copyTopic(work, {
    onProgress(progress) {
      if (performance.now() < next && progress.left > 0) return;
      next = performance.now() + REPORT_MS;
      terminal.err(`${progressLine(progress)}\n`);
    },
  });
  terminal.out(
    `${records} records of ${work.topic} copied into ${work.into}, ${partitions} partitions; what was copied before is not counted\n`,
  );
}

function intention({ topic, into, partitions, offsets, left, creates }: Prepared): string {
  const made = creates ? `${into} would be made, with ${partitions} partitions` : `${into} is there`;
  const settings = Object.entries(creates?.configs ?? {}).map(([name, value]) => `  ${name}=${value}\n`);
  return `${made}\n${settings.join('')}${left} of ${offsets} records of ${topic} would be copied, in ${partitions} partitions\n`;
}
