/** From a plan and what Kafka says to what the roller decides by. Pure. */
import type { AnyObject } from '../../../kube/object.ts';
import type { Policy } from '../../../pki/authority-state.ts';
import { hasReloaded, loadingOf, readNodeAnnotations } from '../../../pki/bundle.ts';
import { isRestartDue } from '../../../pki/renewal.ts';
import type { BrokerCluster } from '../model/cluster.ts';
import { hasRole, nodesOf, tellsAddress } from '../model/cluster.ts';
import type { Charter } from '../model/charter.ts';
import { hasRun } from '../model/charter.ts';
import { REVISION_ANNOTATION, VERSION_ANNOTATION, podName } from '../model/names.ts';
import { configChange, startedWith } from '../roll/config-change.ts';
import type { ConfigChange } from '../roll/config-change.ts';
import type { RollInput, RollNode } from '../roll/facts.ts';
import { podFacts } from '../roll/pod-facts.ts';
import { restartReasons } from '../roll/restart-reasons.ts';
import type { RestartReason } from '../roll/restart-reasons.ts';
import type { KafkaFacts } from './facts.ts';
import type { MoveWish } from './move.ts';
import { rolesOfPod } from '../anchor.ts';
import { knowsTooFew } from '../quorum/chosen.ts';
import { asksForNewDisks, isResizePending } from '../requests.ts';

/** What a plan knows of the nodes that it wants. */
export interface WantedNodes {
  cluster: BrokerCluster;
  charter: Charter;
  /** The pods as they would be made now, by name. */
  pods: ReadonlyMap<string, AnyObject>;
  /** The configuration of each node, by the name of its pod. */
  properties: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** How certificates of nodes are renewed, and when nodes may be restarted for that. */
  policy: Policy;
  paused: boolean;
  /** Kubernetes clusters that cannot be seen now. */
  unreachable: ReadonlySet<string>;
  /** By uid of a pod: settings that its process refused to change while it runs. */
  refused: ReadonlyMap<string, ReadonlySet<string>>;
  /** The level of `metadata.version` to go to once all nodes are as they should be. */
  finalize: { level: number; downgrade: boolean } | undefined;
  /** Where partitions are to be, once all nodes are as they should be; undefined: where they are. */
  move: MoveWish;
  /** The pods that somebody wants restarted. */
  manualUids: ReadonlySet<string>;
  claims: readonly AnyObject[];
}

/** Kafka's own default of `controller.quorum.fetch.timeout.ms`. */
const FETCH_TIMEOUT_MS = 2000;

export const caughtUpWithinMs = ({ config }: Pick<BrokerCluster, 'config'>): number =>
  Number(config['controller.quorum.fetch.timeout.ms'] ?? FETCH_TIMEOUT_MS);

export function rollInput(
  wanted: WantedNodes,
  live: readonly AnyObject[],
  facts: KafkaFacts | undefined,
  { now, podsSeenAt }: Pick<RollInput, 'now' | 'podsSeenAt'>,
): RollInput {
  const { cluster, charter } = wanted;
  const found = new Map(live.map((pod) => [pod.metadata.name, pod]));
  return {
    now,
    nodes: nodesOf(cluster).map(({ pool, node }): RollNode => {
      const name = podName(cluster.name, pool.name, node.id);
      const pod = found.get(name);
      const seen = pod && podFacts(pod);
      const dropsData = pod !== undefined && asksForNewDisks(pod);
      const isBroker = hasRole(node, 'broker');
      const runsAs = pod ? rolesOfPod(pod) : [];
      const config = isBroker ? changeOf(wanted, name, pod, facts?.configs.get(node.id)) : undefined;
      return {
        id: node.id,
        name,
        target: pool.target,
        roles: [...new Set([...node.roles, ...runsAs])],
        retires: runsAs.includes('broker') && !isBroker,
        isToVote: cluster.quorum?.controllers.some(({ id, leaving }) => id === node.id && !leaving) ?? false,
        votesWithDisk: cluster.quorum !== undefined && hasRole(node, 'controller'),
        reasons: seen ? reasonsOf(wanted, { name, id: node.id, isBroker }, pod, seen, config, now) : [],
        change: config?.kind === 'dynamic' ? config.change : undefined,
        pod: seen,
        keepsData: !dropsData && pool.volumes.every(({ persistent }) => persistent),
        dropsData,
        ended: pod && endOf(wanted, pod, now),
      };
    }),
    podsSeenAt,
    unreachable: wanted.unreachable,
    rollWhileUnreachable: false,
    quorum: facts?.quorum,
    brokers: facts?.brokers,
    partitions: facts?.partitions,
    caughtUpWithinMs: caughtUpWithinMs(cluster),
    neverReady: !hasRun(charter),
    inFlight: charter.inFlight,
    paused: wanted.paused,
  };
}

/** The end of what a pod was started with; undefined where that is to come, or where a restart would bring nothing that is good for longer. */
function endOf({ pods }: WantedNodes, { metadata }: AnyObject, now: number): RollNode['ended'] {
  const [loaded, wanted] = [metadata.annotations ?? {}, pods.get(metadata.name)?.metadata.annotations ?? {}];
  const [at = Infinity, next = 0] = [loaded, wanted].map((one) => readNodeAnnotations(one).until?.getTime());
  return at <= now && next > now ? { at, listens: hasReloaded(loaded, wanted) } : undefined;
}

function changeOf(
  wanted: WantedNodes,
  name: string,
  pod: AnyObject | undefined,
  described: Parameters<typeof configChange>[0]['described'] | undefined,
): ConfigChange | undefined {
  const properties = wanted.properties.get(name);
  if (!properties || !described) return undefined;
  const refused = wanted.refused.get(pod?.metadata.uid ?? '') ?? new Set();
  return configChange({
    wanted: properties,
    described,
    startedWith: startedWith(pod?.metadata.annotations ?? {}),
    refused,
  });
}

const COMPARED = [REVISION_ANNOTATION, VERSION_ANNOTATION];

function reasonsOf(
  wanted: WantedNodes,
  { name, id, isBroker }: { name: string; id: number; isBroker: boolean },
  pod: AnyObject,
  seen: Parameters<typeof restartReasons>[1],
  config: ConfigChange | undefined,
  now: number,
): RestartReason[] {
  const annotations = wanted.pods.get(name)?.metadata.annotations;
  // A node that has no pod to be made from has nothing to become by a restart.
  if (!annotations) return [];
  const compared = COMPARED.flatMap((key) =>
    annotations[key] === undefined ? [] : [[key, annotations[key]] as const],
  );
  const isLeaving = wanted.charter.nodes.some((node) => node.id === id && node.leaving);
  const { restart } = loadingOf(pod.metadata.annotations ?? {}, annotations);
  const isDue =
    restart !== undefined && isRestartDue(restart, wanted.policy, wanted.pods.size, new Date(now));
  return restartReasons(
    {
      annotations: Object.fromEntries(compared),
      config,
      certificates: isDue ? restart.why : undefined,
      knowsTooFew: !isLeaving && knowsTooFew(wanted.cluster.quorum, pod.metadata.annotations ?? {}),
      tellsAddress: isBroker && tellsAddress(wanted.cluster),
      resizePending: isResizePending(wanted.claims, id, now),
      manualUids: wanted.manualUids,
    },
    seen,
  );
}
