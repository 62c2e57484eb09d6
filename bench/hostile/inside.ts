/** The benchmark itself, to be run in a network namespace of its own: `inside.ts PROGRAM [--quick] [ATTACK…]`. Prints one line of JSON. */
import { spawn } from 'node:child_process';
import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { writeFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { startServer, waitFor } from '../../src/store/embedded/process.ts';
import type { Server } from '../../src/store/embedded/process.ts';
import { startKafka } from '../../test/support/kafka.ts';
import type { KafkaCluster } from '../../test/support/kafka.ts';
import { workspace } from '../../test/support/workspace.ts';
import type { BenchResult } from '../main.ts';
import { processTree, residentBytes } from '../proxy/usage.ts';
import { prepareNetwork } from '../support/namespace.ts';
import { ATTACK_NAMES } from './attacks.ts';
import type { AttackName, Ports } from './attacks.ts';
import { attackDns } from './dns.ts';
import { produceSteadily } from './neighbour.ts';
import type { Producing } from './neighbour.ts';
import { createTrials, p99Of, report } from './report.ts';
import type { Trial, Trials } from './report.ts';

interface Plan {
  seconds: number;
  rounds: number;
  /** Whether an attack was asked for. */
  has: (attack: string) => boolean;
}

const FULL = { seconds: 8, rounds: 3 };
const QUICK = { seconds: 4, rounds: 1 };
/** Queries take a fraction of a millisecond, so the wait for a core is most of what is seen: that differs more from round to round. */
const DNS_ROUNDS = 3;
const ATTACKER = join(import.meta.dirname, 'attacker.ts');

const MANAGEMENT = 9190;
const NEIGHBOUR = 9200;
const SEALED_NEIGHBOUR = 9250;
const PORTS: Ports = { plain: 9210, named: 9220, sealed: 9230, evil: 9240, announced: 9260 };

/** What frames may take of the proxy's memory by default: so much for each of its workers. */
const WORKERS = 2;
const BUDGET_BYTES = WORKERS * 128 * 1_048_576;

const log = (line: string) => process.stderr.write(`${line}\n`);

function gateway(port: number, more: object = {}): object {
  const nodeIdRanges = [{ name: 'only', start: 1, end: 1 }];
  const portIdentifiesNode = { bootstrapAddress: `127.0.0.1:${port}`, nodeStartPort: port + 1, nodeIdRanges };
  return { name: 'ports', portIdentifiesNode, ...more };
}

/** One proxy for the neighbour and for the attackers' virtual clusters, with the limits that it has by default. */
function proxyConfig(kafka: KafkaCluster, evilBroker: number): object {
  const targetCluster = { bootstrapServers: kafka.bootstrap.plaintext };
  const { certPem, keyPem } = kafka.tls.server;
  const sniHostIdentifiesNode = {
    bootstrapAddress: `kafka.localhost:${PORTS.named}`,
    advertisedBrokerAddressPattern: 'b-$(nodeId).localhost',
  };
  const tls = { key: { certificate: certPem, privateKey: keyPem } };
  return {
    management: { bindAddress: '127.0.0.1', port: MANAGEMENT },
    workers: WORKERS,
    filterDefinitions: [
      {
        name: 'sealing',
        type: 'RecordEncryption',
        config: {
          kms: 'UnitTestingKmsService',
          kmsConfig: {
            existingKeks: [
              {
                uuid: '11111111-2222-3333-4444-555555555555',
                key: Buffer.alloc(32, 7).toString('base64'),
                algorithm: 'AES',
                alias: 'key',
              },
            ],
          },
          selector: 'TemplateKekSelector',
          selectorConfig: { template: 'key' },
        },
      },
    ],
    virtualClusters: [
      { name: 'neighbour', targetCluster, gateways: [gateway(NEIGHBOUR)] },
      { name: 'plain', targetCluster, gateways: [gateway(PORTS.plain)] },
      {
        name: 'announced',
        targetCluster,
        gateways: [gateway(PORTS.announced, { proxyProtocol: { mode: 'required' } })],
      },
      { name: 'named', targetCluster, gateways: [{ name: 'named', sniHostIdentifiesNode, tls }] },
      {
        name: 'neighbour-named',
        targetCluster,
        gateways: [
          {
            name: 'named',
            tls,
            sniHostIdentifiesNode: {
              bootstrapAddress: `neighbour.localhost:${PORTS.named}`,
              advertisedBrokerAddressPattern: 'n-$(nodeId).localhost',
            },
          },
        ],
      },
      { name: 'sealed', targetCluster, gateways: [gateway(PORTS.sealed)], filters: ['sealing'] },
      {
        name: 'neighbour-sealed',
        targetCluster,
        gateways: [gateway(SEALED_NEIGHBOUR)],
        filters: ['sealing'],
      },
      {
        name: 'evil',
        targetCluster: { bootstrapServers: `127.0.0.1:${evilBroker}` },
        gateways: [gateway(PORTS.evil)],
      },
    ],
  };
}

async function startEvil(): Promise<{ port: number; child: ChildProcess }> {
  const child = spawn(process.execPath, [ATTACKER], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return { port: Number(line.toString()), child };
}

async function startProxy(program: string, config: object): Promise<Server> {
  const directory = workspace('hostile');
  const file = join(directory, 'proxy.yaml');
  writeFileSync(file, JSON.stringify(config));
  const logFile = join(directory, 'proxy.log');
  const server = startServer('isthmus', process.execPath, [program, 'proxy', '--config', file], { logFile });
  const isReady = () =>
    fetch(`http://127.0.0.1:${MANAGEMENT}/readyz`).then(
      ({ ok }) => ok,
      () => false,
    );
  await waitFor('the proxy', isReady, { abort: () => (server.running ? undefined : `see ${logFile}`) });
  return server;
}

/** So that an attack is well under way: a bomb takes a while to pack. */
const HEAD_START_MS = 2000;

/** The neighbour's work with something going on beside it; and the most memory that the proxy had meanwhile. */
async function during(
  server: Server,
  seconds: number,
  begin: () => () => void,
  neighbour: Producing,
): Promise<Trial> {
  let peak = residentBytes(server.pid);
  const before = peak;
  const end = begin();
  const watching = setInterval(() => (peak = Math.max(peak, residentBytes(server.pid))), 200);
  try {
    await delay(HEAD_START_MS);
    const noticed = await produceSteadily(neighbour, seconds);
    return { noticed, rssMb: { before: before / 1e6, peak: peak / 1e6 } };
  } finally {
    clearInterval(watching);
    end();
  }
}

/** With what the others leave of the cores: an attacker's own work would be done on another machine, and is not what is asked here. */
function startAttacker(name: AttackName): () => void {
  const args = ['--idle', '0', process.execPath, ATTACKER, name, JSON.stringify(PORTS)];
  const child = spawn('chrt', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  return () => void child.kill('SIGKILL');
}

/** No attack, but what one may lead to: a worker that does nothing any more, while the neighbour is at work. */
function stopWorker({ pid }: Server): () => void {
  const stop = () => process.kill(processTree(pid)[1]!, 'SIGSTOP');
  const timer = setTimeout(stop, HEAD_START_MS + 1000);
  return () => clearTimeout(timer);
}

const describe = ({ noticed, rssMb }: Trial) =>
  `p50 ${noticed.p50.toFixed(1)} ms, p99 ${noticed.p99.toFixed(1)} ms, lost ${noticed.lost} of ${noticed.asked}; ` +
  `${rssMb.before.toFixed(0)} to ${rssMb.peak.toFixed(0)} MB`;

/** One whose virtual cluster has nothing in common with those that are attacked, and two that come by the same way. */
function neighboursOf(kafka: KafkaCluster): Record<'plain' | 'named' | 'sealed', Producing> {
  const host = '127.0.0.1';
  const { certPem: ca } = kafka.tls.authority;
  return {
    plain: { target: { host, port: NEIGHBOUR + 1 }, topic: 'neighbour' },
    named: { target: { host, port: PORTS.named, ca, servername: 'n-1.localhost' }, topic: 'neighbour-named' },
    sealed: {
      target: { host, port: SEALED_NEIGHBOUR + 1 },
      topic: 'neighbour-sealed',
      compression: 'gzip',
    },
  };
}

/** Attacks that a neighbour is asked about who comes by the same way, too. */
const SAME_WAY = [
  ['client_hello', 'named'],
  ['bomb', 'sealed'],
  ['bomb_accepted', 'sealed'],
] as const;

async function attackProxy(program: string, { seconds, rounds, has }: Plan): Promise<Trials> {
  await using kafka = await startKafka({ heapMb: 512 });
  for (const topic of ['neighbour', 'neighbour-named', 'neighbour-sealed', 'sealed'])
    await kafka.createTopic(topic);
  const evil = await startEvil();
  const server = await startProxy(program, proxyConfig(kafka, evil.port));
  const trials = createTrials();
  const neighbours = neighboursOf(kafka);
  const put = async (name: string, begin: () => () => void, neighbour = neighbours.plain) => {
    const trial = await during(server, seconds, begin, neighbour);
    trials.add(name, trial);
    log(`  ${name.padEnd(14)} ${describe(trial)}`);
    await delay(1000);
  };
  try {
    for (const each of Object.values(neighbours)) await during(server, seconds, () => () => {}, each); // warms up
    for (let round = 0; round < rounds; round++) {
      log(`round ${round + 1} of ${rounds}`);
      for (const name of ATTACK_NAMES.filter(has)) {
        await put('none', () => () => {});
        await put(name, () => startAttacker(name));
      }
      for (const [name, way] of SAME_WAY.filter(([attack]) => has(attack))) {
        await put(`none@${way}`, () => () => {}, neighbours[way]);
        await put(`${name}@${way}`, () => startAttacker(name), neighbours[way]);
      }
    }
    if (has('stopped_worker')) {
      await put('none', () => () => {});
      await put('stopped_worker', () => stopWorker(server));
    }
  } finally {
    evil.child.kill('SIGKILL');
    await server.stop('SIGKILL');
  }
  return trials;
}

async function main(plan: Plan, program: string): Promise<BenchResult> {
  await prepareNetwork();
  const { has } = plan;
  const proxy = [...ATTACK_NAMES, 'stopped_worker'].some(has)
    ? await attackProxy(program, plan)
    : createTrials();
  const dns = has('delegations')
    ? await attackDns(program, { ...plan, rounds: plan.rounds * DNS_ROUNDS }, log)
    : createTrials();
  for (const [server, trials] of Object.entries({ proxy, dns }))
    if (trials.size > 0) log(`p99 without attack, ${server}: ${p99Of(trials.get('none')).toFixed(1)} ms`);
  return report(proxy, dns, { proxy: BUDGET_BYTES });
}

const [program, ...rest] = process.argv.slice(2);
const attacks = rest.filter((word) => word !== '--quick');
const has = (attack: string) => attacks.length === 0 || attacks.includes(attack);
const result = await main({ ...(rest.includes('--quick') ? QUICK : FULL), has }, program!);
process.stdout.write(`${JSON.stringify(result)}\n`);
