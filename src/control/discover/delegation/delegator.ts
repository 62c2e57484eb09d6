/** Runs the delegation machine: reads, writes and queries what it asks for. Runs in the leader. */
import { systemClock } from '../../../kube/clock.ts';
import type { Clock } from '../../../kube/clock.ts';
import type { Cluster } from '../../../kube/cluster.ts';
import type { Outcome } from '../../../kube/controller/controller.ts';
import { hasStatus } from '../../../kube/http/errors.ts';
import { keyOf } from '../../../kube/object.ts';
import type { EventRecorder } from '../../../kube/write/events.ts';
import { unlessAborted } from '../../../ops/abort.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { Log } from '../../../ops/log.ts';
import type { Metrics } from '../../../ops/metrics.ts';
import { runController } from '../../kernel/run-controller.ts';
import type { Wake } from '../../kernel/watches.ts';
import { advance } from './machine.ts';
import { initialState } from './machine-state.ts';
import type { DelegationEvent, MachineSettings, MachineState, Step } from './machine-state.ts';
import { clusterDnsAddress, observeDns, podDnsAddress, watchDns } from './observe.ts';
import { findSilent, probeZones } from './probe.ts';
import type { DelegationOptions } from './settings.ts';
import { createStatusReporter } from './status.ts';
import { writeChange } from './write.ts';

export interface DelegatorOptions {
  /** The cluster whose DNS it is; its name is the cluster id in the answers to probes. */
  cluster: Cluster;
  /** Namespace and name of our own Service. */
  namespace: string;
  serviceName: string;
  /** The zones to delegate; without any, the delegation is removed. */
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
  /** Works until the signal is aborted. The delegation stays then: a restart must not remove names. */
  work(signal: AbortSignal): Promise<void>;
}

/** All zones are delegated together, in one reconcile. */
const KEY = 'zones';

export function createDelegator(given: DelegatorOptions): Delegator {
  const { cluster, namespace, zones, options, log, clock = systemClock } = given;
  const reporter = createStatusReporter(given);
  const service = { namespace, name: options.service ?? given.serviceName };
  const objects = { cluster, service, corefile: options.corefile };
  const settings: MachineSettings = {
    zones,
    owner: keyOf(service),
    platform: options.platform,
    server: options.server,
    verifyMs: options.verifySeconds * 1000,
  };
  let state: MachineState | undefined;
  /** How many changes of the objects were reported by the watches, and how many before they were last read. */
  let changes = 0;
  let observedChanges = 0;

  async function perform(step: Exclude<Step, { do: 'wait' }>): Promise<DelegationEvent> {
    switch (step.do) {
      case 'observe': {
        const reported = changes;
        const observed = await observeDns(objects);
        observedChanges = reported;
        return { type: 'observed', observed };
      }
      case 'clean':
        log.info('removing the delegation from a platform that is not in use');
        for (const patch of step.patches) await writeChange(cluster, patch);
        return { type: 'cleaned' };
      case 'resolve': {
        const addresses = {
          cluster: options.clusterDns ?? (await clusterDnsAddress(cluster, step.hasNodeCache)),
          pods: options.podDns ?? podDnsAddress(process.env),
        };
        return { type: 'resolved', addresses };
      }
      case 'ping':
        return { type: 'pinged', step, silent: await findSilent(targetOf(step)) };
      case 'write':
        return { type: 'written', step, written: await writeChange(cluster, step.patch) };
      case 'probe':
        return { type: 'probed', problem: await probeZones(targetOf(step)) };
    }
    return step satisfies never;
  }

  const targetOf = ({ dnsAddresses }: { dnsAddresses: readonly string[] }) => ({
    zones,
    clusterId: cluster.name,
    dnsAddresses,
  });

  async function reconcile(signal: AbortSignal): Promise<Outcome> {
    state ??= initialState(await reporter.last(), settings);
    let event: DelegationEvent = { type: 'woken', isChanged: changes !== observedChanges };
    for (;;) {
      const { state: next, step, status } = advance(state, event, clock.now(), settings);
      state = next;
      if (status) await reporter.report(status, aboutOf(state));
      if (step.do === 'wait') return { outcome: 'lookAgain', afterMs: step.ms };
      if (signal.aborted) return { outcome: 'lookAgain', afterMs: 0 };
      event = await perform(step);
    }
  }

  /** Of all errors of requests only missing rights are reported: the others pass. */
  async function reportForbidden(error: unknown): Promise<void> {
    if (!hasStatus(error, 403)) return;
    const server = state?.servers.at(-1);
    const verified = state?.verified ?? [];
    const status = { state: 'waiting' as const, platform: options.platform, zones, server, verified };
    await reporter.report({ ...status, reason: messageOf(error) }, { service: undefined });
  }

  return {
    async work(signal) {
      if (!(await unlessAborted(given.ready, signal))) return;
      const tryReconcile = async () => {
        try {
          return await reconcile(signal);
        } catch (error) {
          await reportForbidden(error);
          throw error;
        }
      };
      const connect = async (wake: Wake) => {
        wake(KEY);
        return watchDns(objects, () => {
          changes += 1;
          wake(KEY);
        });
      };
      const { metrics } = given;
      await runController(
        { name: 'delegation', log, metrics, clock, reconcile: tryReconcile },
        connect,
        signal,
      );
      reporter.forget();
    },
  };
}

/** The objects that get events about the delegation. */
function aboutOf({ situation }: MachineState) {
  const { service, part } = situation!;
  return { service, object: 'object' in part.change ? part.change.object : undefined };
}
