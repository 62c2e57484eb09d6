/** Reports the status of the delegation: in a ConfigMap of our own, as Events, in a metric and in the log. */
import type { Cluster } from '../../../kube/cluster.ts';
import type { EventRecorder } from '../../../kube/write/events.ts';
import type { KubeObject, OwnerReference } from '../../../kube/object.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { Log } from '../../../ops/log.ts';
import type { Metrics } from '../../../ops/metrics.ts';
import { FIELD_MANAGER } from '../../kernel/field-manager.ts';
import { CONFIG_MAP } from './observe.ts';
import { PLATFORMS } from './platform.ts';
import type { ConfigMap, Platform } from './platform.ts';

/**
 * `waiting`: something is missing, nothing was written. `refused`: nothing is written, because it would break something. `verifying`:
 * written, and not yet verified by queries. `delegated`: verified. `failing`: it was verified once and fails now; it is left as it is.
 * `failed`: written, never verified, undone. `removed`: removed, as the settings ask.
 */
export const STATES = [
  'waiting',
  'refused',
  'verifying',
  'delegated',
  'failing',
  'failed',
  'removed',
] as const;
export type DelegationState = (typeof STATES)[number];

export interface DelegationStatus {
  state: DelegationState;
  platform: Platform | undefined;
  zones: readonly string[];
  server: string | undefined;
  /** Why the zones are not delegated, for people. */
  reason: string;
  /** The platforms that have been verified, while others have not. */
  verified: readonly Platform[];
}

export interface StatusReporter {
  /** The status that was last written, by any replica; undefined if there is none. */
  last(): Promise<DelegationStatus | undefined>;
  /** Reports a status that differs from the last one. `about` says which objects get an event. */
  report(
    status: DelegationStatus,
    about: { service: KubeObject | undefined; object?: KubeObject | undefined },
  ): Promise<void>;
  /** Removes the metric: only the leader knows the status. */
  forget(): void;
}

export interface StatusReporterOptions {
  cluster: Cluster;
  namespace: string;
  events: EventRecorder;
  log: Log;
  metrics: Metrics;
}

/** The ConfigMap in our own namespace with the status. */
export const STATUS_NAME = 'isthmus-dns-delegation';
const ACTION = 'DelegateZones';
const REASONS: Readonly<Record<DelegationState, string>> = {
  waiting: 'DelegationWaiting',
  refused: 'DelegationRefused',
  verifying: 'DelegationWritten',
  delegated: 'ZonesDelegated',
  failing: 'DelegationFailing',
  failed: 'DelegationFailed',
  removed: 'DelegationRemoved',
};
const IS_NORMAL: ReadonlySet<DelegationState> = new Set(['verifying', 'delegated', 'removed']);

export function createStatusReporter({
  cluster,
  namespace,
  events,
  log,
  metrics,
}: StatusReporterOptions): StatusReporter {
  const gauge = metrics.gauge(
    'isthmus_dns_delegation',
    '1 for the state of the delegation of each zone; reported by the leader only.',
  );
  const name = { namespace, name: STATUS_NAME };
  let last: DelegationStatus | undefined;
  let shown: Record<string, string>[] = [];

  function measure({ zones, platform, state }: DelegationStatus): void {
    for (const labels of shown) gauge.drop(labels);
    shown = zones.map((zone) => ({ zone, platform: platform ?? 'unknown', state }));
    for (const labels of shown) gauge.of(labels).value = 1;
  }

  async function write(status: DelegationStatus, owner: KubeObject | undefined): Promise<void> {
    // Deleted together with our Service.
    const ownerReferences = owner?.metadata.uid ? [referenceTo(owner)] : undefined;
    const metadata = { ...name, ...(ownerReferences ? { ownerReferences } : {}) };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: dataOf(status) };
    try {
      await cluster.client.apply(object, { fieldManager: FIELD_MANAGER, force: true });
    } catch (error) {
      log.warn({ problem: messageOf(error) }, 'delegation status could not be written');
    }
  }

  return {
    async last() {
      const object = await cluster.client.get<ConfigMap>(CONFIG_MAP, name);
      return object?.data && statusOf(object.data);
    },
    async report(status, { service, object }) {
      if (last && JSON.stringify(last) === JSON.stringify(status)) return;
      last = status;
      measure(status);
      const { state, platform, zones, server, reason } = status;
      const type = IS_NORMAL.has(state) ? 'Normal' : 'Warning';
      log[type === 'Normal' ? 'info' : 'warn'](
        { state, platform, zones, server, reason },
        'delegation status',
      );
      await write(status, service);
      const note = [`${zones.join(', ')}: ${state}`, reason].filter(Boolean).join('; ');
      for (const each of [service, object])
        if (each?.metadata.uid) events.record(each, { type, reason: REASONS[state], action: ACTION, note });
    },
    forget() {
      for (const labels of shown) gauge.drop(labels);
      shown = [];
      last = undefined;
    },
  };
}

function referenceTo({ apiVersion, kind, metadata }: KubeObject): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' };
}

function dataOf(status: DelegationStatus): Record<string, string> {
  const { state, platform = '', zones, server = '', reason, verified } = status;
  return { state, platform, zones: zones.join(' '), server, reason, verified: verified.join(' ') };
}

/** The status that the ConfigMap holds. */
export function statusOf(data: Readonly<Record<string, string>>): DelegationStatus | undefined {
  const state = STATES.find((one) => one === data['state']);
  if (!state) return undefined;
  const { platform, zones = '', server, reason = '', verified = '' } = data;
  return {
    state,
    platform: platform === '' ? undefined : (platform as Platform),
    zones: zones.split(' ').filter(Boolean),
    server: server === '' ? undefined : server,
    reason,
    verified: PLATFORMS.filter((one) => verified.split(' ').includes(one)),
  };
}
