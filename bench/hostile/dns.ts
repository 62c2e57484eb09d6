/** The DNS server, following a real API server, while a tenant has it decide about thousands of delegations at once. */
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { DNS_NODE_OPTIONS } from '../../src/control/discover/install.ts';
import { startServer, waitFor } from '../../src/store/embedded/process.ts';
import { installKinds } from '../../test/integration/discover/site.ts';
import { askAll } from '../../test/integration/dns/ask.ts';
import { startControlPlane } from '../../test/support/control-plane.ts';
import type { ControlPlane } from '../../test/support/control-plane.ts';
import { workspace } from '../../test/support/workspace.ts';
import { processTree, residentBytes } from '../proxy/usage.ts';
import { endpoints, hostName, NAMES_EACH, OBJECTS, ZONE } from './dns-names.ts';
import { askSteadily } from './neighbour.ts';
import { createTrials } from './report.ts';
import type { Trials } from './report.ts';

const PORT = 9353;
const ATTACKER = join(import.meta.dirname, 'dns-attacker.ts');

const wellBehaved = Array.from({ length: OBJECTS }, (_, object) =>
  endpoints(
    `tenant-${object}`,
    Array.from({ length: NAMES_EACH }, (_, number) => ({
      dnsName: hostName(object, number),
      recordType: 'A',
      targets: [`10.1.${object}.${number}`],
    })),
  ),
);

/** Without it delegations would be refused before anything is decided about them. */
const POLICY = {
  apiVersion: 'isthmus.dev/v1alpha1',
  kind: 'NamePolicy',
  metadata: { name: 'delegations' },
  spec: { zone: ZONE, namespaces: {}, delegations: true },
};

/** As attackers: the servers of a control plane have machines of their own, and no query waits for what they do there. */
function giveWay(pids: readonly number[]): void {
  for (const pid of pids) execFileSync('chrt', ['--all-tasks', '--idle', '--pid', '0', String(pid)]);
}

async function create(plane: ControlPlane, object: object): Promise<void> {
  const { code, stderr } = await plane.kubectl(['create', '-f', '-'], { stdin: JSON.stringify(object) });
  if (code !== 0) throw new Error(`kubectl create: ${stderr}`);
}

/**
 * A process of its own, as those of other attacks: what it does must not keep the neighbour from looking at its clock. With what the others
 * leave of the cores: its own work would be done on another machine.
 */
function beginAttack(plane: ControlPlane): () => Promise<void> {
  const args = ['--idle', '0', process.execPath, ATTACKER, plane.kubeconfig];
  const child = spawn('chrt', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  const ended = once(child, 'exit');
  return async () => {
    child.kill('SIGTERM');
    const [code] = (await ended) as [number | null];
    if (code !== 0) throw new Error('the attacker has failed');
  };
}

export async function attackDns(
  program: string,
  { seconds, rounds }: { seconds: number; rounds: number },
  log: (line: string) => void,
): Promise<Trials> {
  await using plane = await startControlPlane();
  giveWay(processTree(process.pid).slice(1));
  await installKinds(plane);
  for (const object of [POLICY, ...wellBehaved]) await create(plane, object);
  const directory = workspace('hostile-dns');
  const file = join(directory, 'dns.yaml');
  const listen = [`127.0.0.1:${PORT}`];
  const kubernetes = { clusterId: 'one', kubeconfig: plane.kubeconfig, import: false };
  writeFileSync(file, JSON.stringify({ listen, zones: [{ name: ZONE }], kubernetes }));
  const logFile = join(directory, 'dns.log');
  const args = [...DNS_NODE_OPTIONS.split(' '), program, 'dns', '--config', file];
  const server = startServer('isthmus-dns', process.execPath, args, { logFile });
  const last = { name: hostName(OBJECTS - 1, NAMES_EACH - 1), type: 'A' };
  const isReady = async () => {
    const [answer] = await askAll(PORT, [last]).catch(() => []);
    return answer !== undefined && (answer[3]! & 15) === 0;
  };
  await waitFor('DNS', isReady, { abort: () => (server.running ? undefined : `see ${logFile}`) });
  const names = Array.from({ length: OBJECTS * 10 }, (_, i) => hostName(i % OBJECTS, i % NAMES_EACH));
  const trials = createTrials();
  const put = async (name: string, begin: () => () => Promise<void>) => {
    const before = residentBytes(server.pid);
    let peak = before;
    const end = begin();
    const watching = setInterval(() => (peak = Math.max(peak, residentBytes(server.pid))), 200);
    await delay(2000); // so that it is well under way
    const noticed = await askSteadily(PORT, names, seconds);
    await end();
    clearInterval(watching);
    trials.add(name, { noticed, rssMb: { before: before / 1e6, peak: peak / 1e6 } });
    log(`  ${name.padEnd(14)} p99 ${noticed.p99.toFixed(1)} ms, lost ${noticed.lost} of ${noticed.asked}`);
  };
  try {
    for (let round = 0; round < rounds; round++) {
      await put('none', () => async () => {});
      await put('delegations', () => beginAttack(plane));
    }
  } finally {
    await server.stop('SIGKILL');
  }
  return trials;
}
