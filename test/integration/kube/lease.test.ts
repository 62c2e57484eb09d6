/** Several processes and one Lease on a real kube-apiserver: never two leaders, and never long without one. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, suite, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { Client } from '../../../src/kube/http/client.ts';
import type { KubeObject } from '../../../src/kube/object.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { clientOf } from './harness.ts';

const LEASE_MS = 3000;
const LEASE = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease' };
const NAME = { namespace: 'default', name: 'election' };

interface Lease extends KubeObject {
  spec: { holderIdentity?: string; leaseTransitions: number };
}

let plane: ControlPlane;
let admin: Client;
before(async () => {
  plane = await startControlPlane();
  admin = clientOf(plane.kubeconfigText);
});
after(async () => {
  for (const { kill } of started) kill('SIGKILL');
  await Promise.all(started.map(({ ended }) => ended));
  await admin?.close(0);
  await plane?.stop();
});

interface Candidate {
  name: string;
  /** Microseconds at which the process claimed to be the leader, over all, and apart for each of its terms. */
  claims: number[];
  terms: number[][];
  ready: Promise<unknown>;
  kill: (signal: NodeJS.Signals) => void;
  ended: Promise<unknown>;
}

const started: Candidate[] = [];

function startCandidate(name: string): Candidate {
  const args = [`${import.meta.dirname}/lease-candidate.ts`, plane.kubeconfig, name, String(LEASE_MS)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  const claims: number[] = [];
  const terms: number[][] = [];
  const ready = Promise.withResolvers<void>();
  createInterface({ input: child.stdout }).on('line', (line) => {
    const [what, at] = line.split(' ');
    if (what === 'begin') terms.push([]);
    if (what === 'lead') {
      claims.push(Number(at));
      terms.at(-1)?.push(Number(at));
    }
    if (what === 'ready') ready.resolve();
  });
  const kill = (signal: NodeJS.Signals) => void child.kill(signal);
  const candidate: Candidate = {
    name,
    claims,
    terms,
    ready: ready.promise,
    kill,
    ended: once(child, 'close'), // when all it said has been read
  };
  started.push(candidate);
  return candidate;
}

const microsNow = () => Number(process.hrtime.bigint() / 1000n);

/** Who leads next, and who does not. On a busy machine a leader may lose its lease at any time, so it is asked before each step. */
async function waitForLeader(
  ...candidates: Candidate[]
): Promise<{ leader: Candidate; others: Candidate[]; afterMs: number }> {
  const from = microsNow();
  const leader = await waitFor('a leader', async () =>
    candidates.find(({ claims }) => (claims.at(-1) ?? 0) > from),
  );
  const afterMs = (leader.claims.find((at) => at > from)! - from) / 1000;
  return { leader, others: candidates.filter((one) => one !== leader), afterMs };
}

/** Terms, from first to last claim, that began before another one was over. */
function overlaps(candidates: readonly Candidate[]): string[] {
  const terms = candidates
    .flatMap(({ name, terms }) =>
      terms.map((claims) => ({ name, from: claims[0] ?? 0, to: claims.at(-1) ?? 0 })),
    )
    .filter(({ from }) => from > 0)
    .toSorted((a, b) => a.from - b.from);
  return terms
    .slice(1)
    .filter(({ from }, i) => from <= Math.max(...terms.slice(0, i + 1).map(({ to }) => to)))
    .map(({ name, from }) => `${name} at ${from}`);
}

suite('an election', { timeout: 600_000 }, () => {
  test('never two leaders: by crash, by standstill, by leave, with the server gone, and by theft', async (t) => {
    const [a, b] = [startCandidate('a'), startCandidate('b')];
    await Promise.all([a.ready, b.ready]);
    await waitForLeader(a, b);
    await delay(LEASE_MS); // long enough for a rival without manners
    assert.deepEqual(overlaps(started), []);

    const first = await waitForLeader(a, b);
    first.leader.kill('SIGKILL');
    const takeover = await waitForLeader(...first.others);
    t.diagnostic(`takeover ${Math.round(takeover.afterMs)} ms after kill -9 (lease ${LEASE_MS} ms)`);

    // Stands still for longer than its lease; when it wakes up it must not believe that it still leads.
    const third = startCandidate('c');
    await third.ready;
    const still = await waitForLeader(...first.others, third);
    still.leader.kill('SIGSTOP');
    await waitForLeader(...still.others);
    still.leader.kill('SIGCONT');
    await delay(1000);
    assert.deepEqual(overlaps(started), []);

    // Leaves in good order, and gives the lease back: nobody has to wait for it to run out.
    const proper = await waitForLeader(still.leader, ...still.others);
    proper.leader.kill('SIGTERM');
    await proper.leader.ended;
    const left = await admin.get<Lease>(LEASE, NAME);
    assert.doesNotMatch(left?.spec.holderIdentity ?? '', new RegExp(`^${proper.leader.name}_`));
    const handover = await waitForLeader(...proper.others);
    t.diagnostic(`handover ${Math.round(handover.afterMs)} ms after a proper end`);

    // The server is away: the leader cannot renew, and stops before its lease could be taken.
    const fourth = startCandidate('d');
    await fourth.ready;
    const last = [...proper.others, fourth];
    await waitForLeader(...last);
    await plane.killApiServer();
    const killedAt = microsNow();
    // For longer than the lease, by the clock of the claims: who led on would be seen, now or in what is read later.
    await delay(2 * LEASE_MS);
    const awayUntil = microsNow();
    await plane.startApiServer();
    await waitForLeader(...last);
    for (const at of last.flatMap(({ claims }) => claims))
      assert.ok(at < killedAt + LEASE_MS * 1000 || at > awayUntil, 'led on after its lease');

    // Somebody takes the lease by hand: the leader goes as soon as it sees that.
    await waitForLeader(...last);
    await admin.mergePatch(LEASE, NAME, { spec: { holderIdentity: 'thief' } });
    const stolenAt = microsNow();
    // Who goes on leading begins no other term, and lets nobody else.
    const isNew = ([first = 0]: readonly number[]) => first > stolenAt;
    await waitFor('another term', async () => last.some(({ terms }) => terms.some(isNew)));
    const lease = await admin.get<Lease>(LEASE, NAME);
    assert.ok(lease!.spec.leaseTransitions >= 3);
    assert.ok(started.flatMap(({ terms }) => terms).length >= 5);
    assert.deepEqual(overlaps(started), []);
  });
});
