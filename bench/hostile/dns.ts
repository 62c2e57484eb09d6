/** The DNS server, following a real API server, while a tenant has it decide about thousands of delegations at once. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { startServer, waitFor } from '../../src/store/embedded/process.ts';
import { installKinds } from '../../test/integration/discover/site.ts';
import { askAll } from '../../test/integration/dns/ask.ts';
import { startControlPlane } from '../../test/support/control-plane.ts';
import type { ControlPlane } from '../../test/support/control-plane.ts';
import { workspace } from '../../test/support/workspace.ts';
import { residentBytes } from '../proxy/usage.ts';
import { askSteadily } from './neighbour.ts';
import type { Trial } from './report.ts';

const PORT = 9353;
const ZONE = 'example.test';
/** Names of well-behaved tenants, in objects of a hundred. */
const OBJECTS = 50;
const NAMES_EACH = 100;
/** As many as one object may have, in each of five. */
const HOSTILE_OBJECTS = 5;
const DELEGATIONS_EACH = 1000;
const CHANGE_EVERY_MS = 2000;

const endpoints = (name: string, list: object[]) => ({
  apiVersion: 'externaldns.k8s.io/v1alpha1',
  kind: 'DNSEndpoint',
  metadata: { name, namespace: 'default' },
  spec: { endpoints: list },
});

const hostName = (object: number, number: number) => `h${number}.t${object}.${ZONE}`;

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

/** Delegations of names that others have, which must not be granted, and of free ones, by turns. */
const hostile = (object: number, turn: number) =>
  endpoints(
    `hostile-${object}`,
    Array.from({ length: DELEGATIONS_EACH }, (_, number) => {
      const dnsName =
        turn % 2 === 0
          ? hostName(object * 10 + Math.floor(number / NAMES_EACH), number % NAMES_EACH)
          : `d${number}.x${object}.${ZONE}`;
      return { dnsName, recordType: 'NS', targets: [`ns.d${number}.x${object}.${ZONE}`] };
    }),
  );

/** Not `apply`, which keeps a copy of all in an annotation, and that is too long here. */
async function replace(plane: ControlPlane, object: object, verb: 'create' | 'replace'): Promise<void> {
  const { code, stderr } = await plane.kubectl([verb, '-f', '-'], { stdin: JSON.stringify(object) });
  if (code !== 0) throw new Error(`kubectl ${verb}: ${stderr}`);
}

/** Replaces thousands of delegations by others, again and again. */
function beginAttack(plane: ControlPlane): () => Promise<void> {
  const stopped = new AbortController();
  const objects = Array.from({ length: HOSTILE_OBJECTS }, (_, object) => object);
  const put = (turn: number, verb: 'create' | 'replace') =>
    Promise.all(objects.map((object) => replace(plane, hostile(object, turn), verb)));
  const changing = (async () => {
    await put(0, 'create');
    for (let turn = 1; !stopped.signal.aborted; turn++) {
      await delay(CHANGE_EVERY_MS, undefined, { signal: stopped.signal }).catch(() => {});
      await put(turn, 'replace');
    }
    await plane.kubectl(['delete', 'dnsendpoint', ...objects.map((object) => `hostile-${object}`)]);
  })();
  changing.catch(() => {}); // thrown again where it is waited for
  return async () => {
    stopped.abort();
    await changing;
  };
}

export async function attackDns(
  program: string,
  { seconds, rounds }: { seconds: number; rounds: number },
  log: (line: string) => void,
): Promise<Map<string, Trial[]>> {
  await using plane = await startControlPlane();
  await installKinds(plane);
  for (const object of wellBehaved) await replace(plane, object, 'create');
  const directory = workspace('hostile-dns');
  const file = join(directory, 'dns.yaml');
  const listen = [`127.0.0.1:${PORT}`];
  const kubernetes = { clusterId: 'one', kubeconfig: plane.kubeconfig, import: false };
  writeFileSync(file, JSON.stringify({ listen, zones: [{ name: ZONE }], kubernetes }));
  const logFile = join(directory, 'dns.log');
  const server = startServer('isthmus-dns', process.execPath, [program, 'dns', '--config', file], {
    logFile,
  });
  const last = { name: hostName(OBJECTS - 1, NAMES_EACH - 1), type: 'A' };
  const isReady = async () => {
    const [answer] = await askAll(PORT, [last]).catch(() => []);
    return answer !== undefined && (answer[3]! & 15) === 0;
  };
  await waitFor('DNS', isReady, { abort: () => (server.running ? undefined : `see ${logFile}`) });
  const names = Array.from({ length: OBJECTS * 10 }, (_, i) => hostName(i % OBJECTS, i % NAMES_EACH));
  const trials = new Map<string, Trial[]>();
  const put = async (name: string, begin: () => () => Promise<void>) => {
    const before = residentBytes(server.pid);
    let peak = before;
    const end = begin();
    const watching = setInterval(() => (peak = Math.max(peak, residentBytes(server.pid))), 200);
    const noticed = await askSteadily(PORT, names, seconds);
    await end();
    clearInterval(watching);
    const trial = { noticed, rssMb: { before: before / 1e6, peak: peak / 1e6 } };
    trials.set(name, [...(trials.get(name) ?? []), trial]);
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
