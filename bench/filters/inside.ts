/**
 * The benchmark itself, to be run in a network namespace with nothing else in it. The first argument is our program.
 * Prints one line of JSON.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { startServer } from '../../src/store/embedded/process.ts';
import type { Server } from '../../src/store/embedded/process.ts';
import { ensureKroxylicious } from '../../test/support/install/kroxylicious.ts';
import { startKafka } from '../../test/support/kafka.ts';
import { workspace } from '../../test/support/workspace.ts';
import type { Direction, RecordSize } from '../proxy/figures.ts';
import { PARTITIONS, produce, produceOne } from '../proxy/load.ts';
import { cpuSeconds } from '../proxy/usage.ts';
import type { Target } from '../proxy/wire.ts';
import { prepareNetwork } from '../support/namespace.ts';
import { CONTESTANTS, figuresOf, ratiosOf } from './figures.ts';
import type { Contestant, FilterSample } from './figures.ts';
import { consumeByName, measureStored } from './load.ts';

interface Plan {
  warmRounds: number;
  rounds: number;
  loadBytes: Record<RecordSize, number>;
}

const FULL: Plan = { warmRounds: 3, rounds: 7, loadBytes: { '1k': 160e6, '100b': 80e6 } };
const QUICK: Plan = { warmRounds: 2, rounds: 3, loadBytes: { '1k': 60e6, '100b': 25e6 } };

const SIZES: Record<RecordSize, number> = { '1k': 1024, '100b': 100 };
const HOST = '127.0.0.1';
const FIRST_PORT = 9192;
const START_LIMIT_MS = 180_000;

const KEY = {
  kms: 'UnitTestingKmsService',
  kmsConfig: {
    numIvBytes: 12,
    numAuthBits: 128,
    existingKeks: [
      {
        uuid: '11111111-2222-3333-4444-555555555555',
        key: Buffer.alloc(32, 107).toString('base64'),
        algorithm: 'AES',
        alias: 'the-key',
      },
    ],
  },
};
const COMPATIBLE = {
  type: 'RecordEncryption',
  config: { ...KEY, selector: 'TemplateKekSelector', selectorConfig: { template: 'the-key' } },
};
const byRule = (rule: object) => ({
  type: 'record-encryption',
  config: { ...KEY, rules: [{ pattern: '*', ...rule }] },
});

/** The filter of each contestant. */
const FILTERS: Record<Contestant, object | undefined> = {
  none: undefined,
  passthrough: byRule({ action: 'plain' }),
  compatible: COMPATIBLE,
  isthmus: byRule({ action: 'seal', key: 'the-key', format: 'isthmus/1' }),
  multi_tenant: { type: 'multi-tenant', config: {} },
  kroxylicious: COMPATIBLE,
};
/** A tenant's name has no separator in it. */
const clusterName = (contestant: Contestant) => contestant.replace('_', '');

const OURS = CONTESTANTS.filter((each) => each !== 'kroxylicious');

function log(line: string): void {
  process.stderr.write(`${line}\n`);
}

const portOf = (contestant: Contestant) => FIRST_PORT + 10 * CONTESTANTS.indexOf(contestant);
const brokerOf = (contestant: Contestant): Target => ({ host: HOST, port: portOf(contestant) + 1 });

/** A configuration for ours and for Kroxylicious alike: a virtual cluster for each contestant. */
function configOf(contestants: readonly Contestant[], bootstrapServers: string): object {
  const filtered = contestants.filter((each) => FILTERS[each]);
  return {
    filterDefinitions: filtered.map((each) => ({ name: clusterName(each), ...FILTERS[each] })),
    virtualClusters: contestants.map((each) => ({
      name: clusterName(each),
      targetCluster: { bootstrapServers },
      ...(FILTERS[each] ? { filters: [clusterName(each)] } : {}),
      gateways: [
        {
          name: 'plain',
          portIdentifiesNode: {
            bootstrapAddress: `${HOST}:${portOf(each)}`,
            nodeStartPort: portOf(each) + 1,
            nodeIdRanges: [{ name: 'only', start: 1, end: 1 }],
          },
        },
      ],
    })),
  };
}

interface Load {
  direction: Direction;
  size: RecordSize;
}

const LOADS: readonly Load[] = (['1k', '100b'] as const).flatMap((size) =>
  (['produce', 'consume'] as const).map((direction) => ({ direction, size })),
);

/** Both that read the original's format read the same topic. */
const sourceOf = (contestant: Contestant, size: RecordSize) =>
  `source-${contestant === 'kroxylicious' ? 'compatible' : clusterName(contestant)}-${size}`;

async function measure(
  contestant: Contestant,
  { direction, size }: Load,
  bytes: number,
  server: Server,
): Promise<FilterSample> {
  const target = brokerOf(contestant);
  const before = cpuSeconds(server.pid);
  const carried =
    direction === 'produce'
      ? await produce(target, 'sink', SIZES[size], bytes)
      : await consumeByName(target, sourceOf(contestant, size), bytes);
  const cpu = cpuSeconds(server.pid) - before;
  return { contestant, direction, size, gigabytes: carried.bytes / 1e9, cpuSeconds: cpu };
}

/** Waits until a record that is sent through it is acknowledged. */
async function untilReady(contestant: Contestant, server: Server): Promise<void> {
  const started = performance.now();
  for (;;) {
    try {
      return await produceOne(brokerOf(contestant), 'sink');
    } catch (error) {
      if (performance.now() - started > START_LIMIT_MS || !server.running)
        throw new Error(`${contestant} does not start; see ${server.logFile}`, { cause: error });
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
  }
}

const BROKER = {
  'log.segment.bytes': 67_108_864,
  'log.retention.bytes': 134_217_728,
  'log.retention.check.interval.ms': 5000,
  'log.segment.delete.delay.ms': 1000,
};

async function main(plan: Plan, program: string): Promise<void> {
  await prepareNetwork();
  log('starting the broker and the proxies');
  await using kafka = await startKafka({ heapMb: 512, properties: BROKER });
  const upstream = kafka.bootstrap.plaintext;
  const create = (topic: string, partitions = PARTITIONS) => kafka.createTopic(topic, { partitions });
  for (const name of ['sink', `${clusterName('multi_tenant')}-sink`]) await create(name);

  const directory = workspace('filters');
  const write = (name: string, contestants: readonly Contestant[]) => {
    const file = join(directory, `${name}.yaml`);
    writeFileSync(file, JSON.stringify(configOf(contestants, upstream)));
    return file;
  };
  const ours = startServer(
    'isthmus',
    process.execPath,
    [program, 'proxy', '--config', write('isthmus', OURS)],
    { logFile: join(directory, 'isthmus.log') },
  );
  const java = ['-Xmx1g', '-cp', await ensureKroxylicious(), 'Launcher', write('peer', ['kroxylicious'])];
  const peer = startServer('kroxylicious', 'java', java, { logFile: join(directory, 'kroxylicious.log') });
  const serverOf = (contestant: Contestant) => (contestant === 'kroxylicious' ? peer : ours);
  try {
    for (const each of CONTESTANTS) await untilReady(each, serverOf(each));
    for (const each of OURS)
      for (const size of ['1k', '100b'] as const) {
        const topic = sourceOf(each, size);
        await create(each === 'multi_tenant' ? `${clusterName(each)}-${topic}` : topic);
        await produce(brokerOf(each), topic, SIZES[size], 12e6);
      }
    const samples: FilterSample[] = [];
    for (let round = 0; round < plan.warmRounds + plan.rounds; round++) {
      const counts = round >= plan.warmRounds;
      log(`round ${round + 1} of ${plan.warmRounds + plan.rounds}${counts ? '' : ' (warming up)'}`);
      for (const load of LOADS) {
        const line: string[] = [];
        // Nobody is always first.
        for (const i of CONTESTANTS.keys()) {
          const contestant = CONTESTANTS[(i + round) % CONTESTANTS.length]!;
          const sample = await measure(contestant, load, plan.loadBytes[load.size], serverOf(contestant));
          if (counts) samples.push(sample);
          line.push(`${contestant} ${(sample.cpuSeconds / sample.gigabytes).toFixed(2)}`);
        }
        log(`  ${load.direction}_${load.size} CPU-s/GB: ${line.join(', ')}`);
      }
    }
    log('stored bytes');
    const direct: Target = { host: HOST, port: Number(upstream.split(':')[1]) };
    const stored = await measureStored(brokerOf('none'), brokerOf('isthmus'), direct, (topic) =>
      create(topic, 1),
    );
    const result = { ratios: ratiosOf(samples, stored), figures: figuresOf(samples, stored) };
    process.stdout.write(`${JSON.stringify(result)}\n`);
  } finally {
    await ours.stop('SIGKILL');
    await peer.stop('SIGKILL');
  }
}

await main(process.argv.includes('--quick') ? QUICK : FULL, process.argv[2]!);
