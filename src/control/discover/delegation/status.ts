/** Tells how the delegation stands: in a ConfigMap of our own, in events, metrics and the log. */
import type { Cluster } from '../../../kube/cluster.ts';
import type { EventRecorder } from '../../../kube/write/events.ts';
import type { KubeObject, OwnerReference } from '../../../kube/object.ts';
import { messageOf } from '../../../ops/errors.ts';
import type { Log } from '../../../ops/log.ts';
import type { Metrics } from '../../../ops/metrics.ts';
import { CONFIG_MAP } from './observe.ts';
import type { ConfigMap, Platform } from './platform.ts';

/**
 * `waiting`: something is missing, nothing was written. `refused`: nothing is written because it would do harm. `verifying`: written,
 * and not yet answered. `delegated`: it works. `failing`: it did work, does not at the moment, and is left as it is. `failed`: written,
 * never answered, taken back. `removed`: taken out, as was asked for.
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
export type State = (typeof STATES)[number];

export interface DelegationStatus {
  state: State;
  platform: Platform | undefined;
  zones: readonly string[];
  server: string | undefined;
  /** For people: why it is not as it should be. */
  reason: string;
}

export interface Reporter {
  /** What was last said, by whichever replica; undefined if nothing was. */
  last(): Promise<DelegationStatus | undefined>;
  /** Says how it stands, where that is new. `about` is what gets an event, besides our own Service. */
  tell(
    standing: DelegationStatus,
    about: { service: KubeObject | undefined; object?: KubeObject | undefined },
  ): Promise<void>;
  /** A replica that does not lead knows nothing. */
  forget(): void;
}

export interface ReporterOptions {
  cluster: Cluster;
  namespace: string;
  events: EventRecorder;
  log: Log;
  metrics: Metrics;
}

/** The ConfigMap in our own namespace that says how the delegation stands. */
export const STATUS_NAME = 'isthmus-dns-delegation';
const ACTION = 'DelegateZones';
const FIELD_MANAGER = 'isthmus-dns';
const REASONS: Readonly<Record<State, string>> = {
  waiting: 'DelegationWaiting',
  refused: 'DelegationRefused',
  verifying: 'DelegationWritten',
  delegated: 'ZonesDelegated',
  failing: 'DelegationFailing',
  failed: 'DelegationFailed',
  removed: 'DelegationRemoved',
};
const IS_NORMAL: ReadonlySet<State> = new Set(['verifying', 'delegated', 'removed']);

export function createReporter({ cluster, namespace, events, log, metrics }: ReporterOptions): Reporter {
  const gauge = metrics.gauge(
    'isthmus_dns_delegation',
    '1 for the state that the delegation of each zone is in; only the replica that leads knows.',
  );
  const name = { namespace, name: STATUS_NAME };
  let said: DelegationStatus | undefined;
  let shown: Record<string, string>[] = [];

  function show({ zones, platform, state }: DelegationStatus): void {
    for (const labels of shown) gauge.drop(labels);
    shown = zones.map((zone) => ({ zone, platform: platform ?? 'unknown', state }));
    for (const labels of shown) gauge.of(labels).value = 1;
  }

  async function write(standing: DelegationStatus, owner: KubeObject | undefined): Promise<void> {
    // Goes with our Service, so that nothing is left behind.
    const ownerReferences = owner?.metadata.uid ? [referenceTo(owner)] : undefined;
    const metadata = { ...name, ...(ownerReferences ? { ownerReferences } : {}) };
    const object = { apiVersion: 'v1', kind: 'ConfigMap', metadata, data: dataOf(standing) };
    try {
      await cluster.client.apply(object, { fieldManager: FIELD_MANAGER });
    } catch (error) {
      log.warn({ problem: messageOf(error) }, 'the state of the delegation could not be written down');
    }
  }

  return {
    async last() {
      const object = await cluster.client.get<ConfigMap>(CONFIG_MAP, name);
      return object?.data && standingOf(object.data);
    },
    async tell(standing, { service, object }) {
      if (said && JSON.stringify(said) === JSON.stringify(standing)) return;
      said = standing;
      show(standing);
      const { state, platform, zones, server, reason } = standing;
      const type = IS_NORMAL.has(state) ? 'Normal' : 'Warning';
      log[type === 'Normal' ? 'info' : 'warn']({ state, platform, zones, server, reason }, 'delegation');
      await write(standing, service);
      const note = [`${zones.join(', ')}: ${state}`, reason].filter(Boolean).join('; ');
      for (const each of [service, object])
        if (each?.metadata.uid) events.record(each, { type, reason: REASONS[state], action: ACTION, note });
    },
    forget() {
      for (const labels of shown) gauge.drop(labels);
      shown = [];
      said = undefined;
    },
  };
}

function referenceTo({ apiVersion, kind, metadata }: KubeObject): OwnerReference {
  return { apiVersion, kind, name: metadata.name, uid: metadata.uid ?? '' };
}

function dataOf({ state, platform, zones, server = '', reason }: DelegationStatus): Record<string, string> {
  return { state, platform: platform ?? '', zones: zones.join(' '), server, reason };
}

function standingOf(data: Record<string, string>): DelegationStatus | undefined {
  const state = STATES.find((one) => one === data['state']);
  if (!state) return undefined;
  const { platform, zones = '', server, reason = '' } = data;
  return {
    state,
    platform: platform === '' ? undefined : (platform as Platform),
    zones: zones.split(' ').filter(Boolean),
    server: server === '' ? undefined : server,
    reason,
  };
}
