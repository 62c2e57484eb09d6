/** Keeps the zones delegated from the cluster's own DNS to ours, or takes that out; for one replica at a time. */
import { systemClock } from '../../../kube/clock.ts';
import type { Clock } from '../../../kube/clock.ts';
import type { Cluster } from '../../../kube/cluster.ts';
import { createController } from '../../../kube/controller/controller.ts';
import type { Outcome } from '../../../kube/controller/controller.ts';
import { hasStatus } from '../../../kube/http/errors.ts';
import type { EventRecorder } from '../../../kube/write/events.ts';
import { keyOf } from '../../../kube/object.ts';
import type { KubeObject } from '../../../kube/object.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { Log } from '../../../ops/log.ts';
import type { Metrics } from '../../../ops/metrics.ts';
import { addressOf, clusterDnsAddress, lookAt, watchFor } from './observe.ts';
import type { SeenDns } from './observe.ts';
import { NEW_WRITE_RATE, afterFailure, afterSuccess, afterWrite, waitBefore } from './write-rate.ts';
import { planDelegation, planRemoval } from './platform.ts';
import type { Platform, Wanted, Write } from './platform.ts';
import { createReporter } from './status.ts';
import type { State } from './status.ts';
import type { DelegationOptions } from './settings.ts';
import { isReached, problemThrough, verify } from './verify.ts';
import type { Question, Evaluation } from './verify.ts';
import { writeChange } from './write.ts';

export interface DelegatorOptions {
  /** The cluster whose DNS it is, and whose id is in the answers that are looked for. */
  cluster: Cluster;
  /** Where our own Service is, and what it is called. */
  namespace: string;
  serviceName: string;
  /** The zones to delegate; with none, what was delegated is taken out. */
  zones: readonly string[];
  options: DelegationOptions;
  /** Resolves when our own DNS server answers. */
  ready: Promise<unknown>;
  events: EventRecorder;
  log: Log;
  metrics: Metrics;
  clock?: Clock;
}

export interface Delegator {
  /** Works until the signal is aborted. What is delegated then stays so: a restart must not take names away. */
  work(signal: AbortSignal): Promise<void>;
}

/** How soon to look for what is missing, how often to ask whether it still works, how long to leave alone what needs nothing. */
const SOON_MS = 5000;
const CHECK_MS = 60_000;
const REST_MS = 5 * 60_000;
const AT_ONCE: Outcome = { outcome: 'lookAgain', afterMs: 0 };
const QUARREL =
  'it was overwritten again and again; who does that must be told of it, until then it is written less often';
const NO_DNS = 'the cluster has no Service of its DNS that is known here; name its address';

/** What is to be done about one look. */
interface Situation {
  seen: SeenDns;
  wanted: Wanted;
  platform: Platform | undefined;
  object: KubeObject | undefined;
}

export function createDelegator(given: DelegatorOptions): Delegator {
  const { cluster, namespace, zones, options, log, clock = systemClock } = given;
  const reporter = createReporter(given);
  const service = { namespace, name: options.service ?? given.serviceName };
  const view = { cluster, service, corefile: options.corefile };
  let pace = NEW_WRITE_RATE;
  /** Whether it has worked since it was written: only what never did is taken back. */
  let isProven = false;
  /** What it was put back to after a failure: something else deserves another try. */
  let failedOn: string | undefined;
  /** Addresses of ours that may be written somewhere. */
  const servers = new Set<string>();
  let changes = 0;

  async function look(): Promise<{ seen: SeenDns; wanted: Wanted }> {
    const seen = await lookAt(view);
    const server = options.server ?? addressOf(seen.service);
    if (server !== undefined) servers.add(server);
    return { seen, wanted: { zones, server, owner: keyOf(service), formerServers: [...servers] } };
  }

  /** Takes over from the replica that led before. */
  async function takeOver(): Promise<void> {
    const last = await reporter.last();
    if (last?.server !== undefined) servers.add(last.server);
    const worked = last?.state === 'delegated' || last?.state === 'failing';
    isProven = worked && last.zones.join() === zones.join();
  }

  async function reconcile(signal: AbortSignal): Promise<Outcome> {
    const { seen, wanted } = await look();
    const change = planDelegation(seen.found, wanted, options.platform);
    const object = 'object' in change ? change.object : undefined;
    const now: Situation = { seen, wanted, platform: change.platform, object };
    if (zones.length > 0 && wanted.server === undefined)
      return tell(now, 'waiting', `Service ${namespace}/${service.name} has no address`, SOON_MS);
    await removeStrays(now);
    if ('problem' in change) return tell(now, 'refused', change.problem, REST_MS);
    if (zones.length === 0) return remove(now, change.write);
    return change.write ? delegate(now, change.write, signal) : check(now, signal);
  }

  async function tell(now: Situation, state: State, reason: string, afterMs: number): Promise<Outcome> {
    const { platform, object, seen, wanted } = now;
    const standing = { state, platform, zones, server: wanted.server, reason };
    await reporter.tell(standing, { service: seen.service, object });
    return { outcome: 'lookAgain', afterMs };
  }

  /** Of all that may go wrong with requests only this does not go by itself. */
  async function tellOfRights(error: unknown): Promise<void> {
    if (!hasStatus(error, 403)) return;
    const server = [...servers].at(-1);
    const standing = { state: 'waiting' as const, platform: options.platform, zones, server };
    await reporter.tell({ ...standing, reason: messageOf(error) }, { service: undefined });
  }

  /** Takes out what is left of us in ways that are not ours any more. */
  async function removeStrays({ seen, wanted, platform }: Situation): Promise<void> {
    for (const change of planRemoval(seen.found, wanted, platform)) {
      if ('problem' in change || !change.write) continue;
      log.info({ platform: change.platform }, 'delegation by another way is taken out');
      await writeChange(cluster, change.write);
    }
  }

  async function remove(now: Situation, write: Write | undefined): Promise<Outcome> {
    if (write && (await writeChange(cluster, write)) === 'changed') return AT_ONCE;
    return tell(now, 'removed', '', REST_MS);
  }

  /** Writes, and waits until it works; if it does not, puts back what was there. */
  async function delegate(now: Situation, write: Write, signal: AbortSignal): Promise<Outcome> {
    const isSame = failedOn === fingerprint(write.object, now.wanted);
    const waitMs = waitBefore(isSame ? pace : { ...pace, notBefore: 0 }, clock.now());
    if (waitMs > 0)
      return isSame ? { outcome: 'lookAgain', afterMs: waitMs } : tell(now, 'waiting', QUARREL, waitMs);
    const question = await ask();
    if (!question) return tell(now, 'waiting', NO_DNS, SOON_MS);
    if (!(await isReached(question)))
      return tell(now, 'waiting', `the cluster's DNS at ${question.through} does not answer`, SOON_MS);
    const written = await writeChange(cluster, write);
    if (written === 'changed') return AT_ONCE;
    isProven = false;
    pace = afterWrite(pace, clock.now());
    await tell(now, 'verifying', '', 0);
    const evaluation = await untilProven(question, signal);
    return conclude(now, evaluation, written && { object: written, patch: write.undo });
  }

  /** It is written: does it work? What a replica before us wrote and never saw work is taken out like our own. */
  async function check(now: Situation, signal: AbortSignal): Promise<Outcome> {
    const question = await ask();
    if (!question) return tell(now, 'waiting', NO_DNS, SOON_MS);
    if (isProven) {
      const problem = await problemThrough(question);
      return problem === undefined
        ? tell(now, 'delegated', '', CHECK_MS)
        : tell(now, 'failing', problem, SOON_MS);
    }
    await tell(now, 'verifying', '', 0);
    const evaluation = await untilProven(question, signal);
    const removal = planDelegation(now.seen.found, { ...now.wanted, zones: [] }, now.platform);
    return conclude(now, evaluation, 'write' in removal ? removal.write : undefined);
  }

  async function conclude(
    now: Situation,
    evaluation: Evaluation,
    undo: Pick<Write, 'object' | 'patch'> | undefined,
  ): Promise<Outcome> {
    if (evaluation === 'interrupted') return AT_ONCE;
    if (evaluation.works) {
      isProven = true;
      pace = afterSuccess(pace);
      return tell(now, 'delegated', '', CHECK_MS);
    }
    const left = undo && (await writeChange(cluster, undo));
    if (left === 'changed') return AT_ONCE;
    pace = afterFailure(pace, clock.now());
    failedOn = fingerprint(left, now.wanted);
    const waitMs = waitBefore(pace, clock.now());
    const again = `put back, and tried again in ${Math.round(waitMs / 1000)} s`;
    return tell(now, 'failed', `${evaluation.problem}; what was there before was ${again}`, waitMs);
  }

  async function ask(): Promise<Question | undefined> {
    const through = options.clusterDns ?? (await clusterDnsAddress(cluster));
    return through === undefined ? undefined : { zones, clusterId: cluster.name, through };
  }

  /** Ends early when somebody has changed what was written. */
  function untilProven(question: Question, signal: AbortSignal): Promise<Evaluation> {
    let seenChanges = changes;
    const isStill = async () => {
      if (changes === seenChanges) return true;
      seenChanges = changes;
      const { seen, wanted } = await look();
      const change = planDelegation(seen.found, wanted, options.platform);
      return 'write' in change && change.write === undefined;
    };
    return verify(question, { clock, withinMs: options.verifySeconds * 1000, signal, isStill });
  }

  return {
    async work(signal) {
      const aborted = new Promise((resolve) => signal.addEventListener('abort', resolve, { once: true }));
      await Promise.race([given.ready, aborted]);
      if (signal.aborted) return;
      let hasBegun = false;
      const controller = createController({
        name: 'delegation',
        log,
        clock,
        reconcile: async () => {
          try {
            if (!hasBegun) await takeOver();
            hasBegun = true;
            return await reconcile(signal);
          } catch (error) {
            await tellOfRights(error);
            throw error;
          }
        },
      });
      const end = await watchFor(view, () => {
        changes += 1;
        controller.enqueue('zones');
      });
      controller.enqueue('zones');
      controller.start();
      await aborted;
      end();
      await controller.stop();
      reporter.forget();
    },
  };
}

function fingerprint(object: KubeObject | undefined, { server }: Wanted): string {
  return `${object?.metadata.uid ?? ''} ${object?.metadata.resourceVersion ?? ''} ${server ?? ''}`;
}
