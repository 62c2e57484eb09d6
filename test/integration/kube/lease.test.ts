/** Several processes and one Lease on a real kube-apiserver: never two leaders, and never long without one. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { after, before, suite, test } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import type { KubeObject } from '../../../src/kube/object.ts';
import { startControlPlane } from '../../support/control-plane.ts';
import type { ControlPlane } from '../../support/control-plane.ts';
import { waitFor } from '../../../src/store/embedded/process.ts';
import { clientOf } from './harness.ts';

const LEASE_MS = 2000;
const LEASE = { group: 'coordination.k8s.io', version: 'v1', kind: 'Lease' };

let plane: ControlPlane;
before(async () => {
  plane = await startControlPlane();
});
after(async () => {
  for (const { kill } of started) kill('SIGKILL');
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
    ended: once(child, 'exit'),
  };
  started.push(candidate);
  return candidate;
}

const microsNow = () => Number(process.hrtime.bigint() / 1000n);
const isLeading = ({ claims }: Candidate) => (claims.at(-1) ?? 0) > microsNow() - 300_000;

async function waitForLeader(
  candidates: readonly Candidate[],
): Promise<{ leader: Candidate; afterMs: number }> {
  const from = microsNow();
  const leader = await waitFor('a leader', async () =>
    candidates.find(({ claims }) => (claims.at(-1) ?? 0) > from),
  );
  return { leader, afterMs: (leader.claims.find((at) => at > from)! - from) / 1000 };
}

/** Terms, from first to last claim, that began before another one was over. */
function overlaps(candidates: readonly Candidate[]): string[] {
  const terms = candidates
    .flatMap(({ name, terms }) =>
      terms.map((claims) => ({ name, from: claims[0] ?? 0, to: claims.at(-1) ?? 0 })),
    )
    .filter(({ from }) => from > 0)
    .toSorted((a, b) => a.from - b.from);
  assert.ok(terms.length >= 5, JSON.stringify(terms));
  return terms
    .slice(1)
    .filter(({ from }, i) => from <= Math.max(...terms.slice(0, i + 1).map(({ to }) => to)))
    .map(({ name, from }) => `${name} at ${from}`);
}

suite('an election', { timeout: 180_000 }, () => {
  test('never two leaders: by crash, by standstill, by leave, with the server gone, and by theft', async (t) => {
    const [a, b] = [startCandidate('a'), startCandidate('b')];
    await Promise.all([a.ready, b.ready]);
    const first = await waitForLeader([a, b]);
    const second = first.leader === a ? b : a;
    await delay(LEASE_MS); // long enough for a rival without manners
    assert.equal(second.claims.length, 0);

    first.leader.kill('SIGKILL');
    const takeover = await waitForLeader([second]);
    t.diagnostic(`takeover ${Math.round(takeover.afterMs)} ms after kill -9 (lease ${LEASE_MS} ms)`);
    assert.ok(takeover.afterMs < LEASE_MS * 3, `took ${takeover.afterMs} ms`);

    // Stands still for longer than its lease; when it wakes up it must not believe that it still leads.
    const third = startCandidate('c');
    await third.ready;
    second.kill('SIGSTOP');
    await waitForLeader([third]);
    second.kill('SIGCONT');
    await delay(1000);
    assert.ok(isLeading(third));

    // Leaves in good order: nobody has to wait for the lease to run out.
    third.kill('SIGTERM');
    await third.ended;
    const handover = await waitForLeader([second]);
    t.diagnostic(`handover ${Math.round(handover.afterMs)} ms after a proper end`);
    assert.ok(handover.afterMs < LEASE_MS, `took ${handover.afterMs} ms`);

    // The server is away: the leader cannot renew, and stops before its lease could be taken.
    const fourth = startCandidate('d');
    await fourth.ready;
    await plane.killApiServer();
    const killedAt = microsNow();
    await waitFor('nobody to lead', async () => !isLeading(second) && !isLeading(fourth));
    assert.ok(Math.max(...second.claims) - killedAt < LEASE_MS * 1000, 'led on after its lease');
    await plane.startApiServer();
    const { leader } = await waitForLeader([second, fourth]);

    // Somebody takes the lease by hand: the leader goes as soon as it sees that.
    const admin = clientOf(plane.kubeconfigText);
    const theft = { spec: { holderIdentity: 'thief' } };
    await admin.mergePatch(LEASE, { namespace: 'default', name: 'election' }, theft);
    await waitFor('the leader to go', async () => !isLeading(leader));
    const lease = await admin.get<KubeObject & { spec: { leaseTransitions: number } }>(LEASE, {
      namespace: 'default',
      name: 'election',
    });
    assert.ok(lease!.spec.leaseTransitions >= 3);
    await admin.close(0);
    assert.deepEqual(overlaps(started), []);
  });
});
