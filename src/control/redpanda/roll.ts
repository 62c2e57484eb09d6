/** What of a roll must not be forgotten, and what the roller of brokers decides by here. Pure. */
import { z } from 'zod';
import type { AnyObject } from '../../kube/object.ts';
import type { InFlight, RollInput, RollNode } from '../brokers/roll/facts.ts';
import { partitionsByNode } from '../brokers/roll/partitions.ts';
import { podFacts } from '../brokers/roll/pod-facts.ts';
import { addressReasons } from '../brokers/roll/restart-reasons.ts';
import type { PodFacts } from '../brokers/roll/pod-facts.ts';
import { LOCAL } from '../kernel/plan.ts';
import type { Health } from './health.ts';
import { idsOf } from './model.ts';
import type { RedpandaModel } from './model.ts';
import { CONTAINER, REVISION_ANNOTATION, ROLL_ANNOTATION, podName } from './names.ts';

/** Kept in an annotation of the StatefulSet. */
export interface RollMemory {
  /** Whether a broker was ready once: there may be data. */
  hasRun: boolean;
  /** The restart that was begun, written down before the pod was deleted. */
  inFlight: InFlight | undefined;
}

const restart = z.object({ node: z.int().min(0), podUid: z.string(), since: z.number(), why: z.string() });
const memory = z.object({
  hasRun: z.boolean(),
  inFlight: restart.extend({ earlier: restart.optional() }).optional(),
});

/** What cannot be read may have been anything: there may be data then. */
export function memoryOf({ metadata }: AnyObject): RollMemory {
  const text = metadata.annotations?.[ROLL_ANNOTATION];
  if (text === undefined) return { hasRun: false, inFlight: undefined };
  try {
    const { hasRun, inFlight } = memory.parse(JSON.parse(text));
    return { hasRun, inFlight };
  } catch {
    return { hasRun: true, inFlight: undefined };
  }
}

const MAX_WHY = 1024;

export function memoryText({ hasRun, inFlight }: RollMemory): string {
  return JSON.stringify({ hasRun, ...(inFlight && { inFlight: written(inFlight) }) });
}

const written = ({ why, earlier, ...flight }: InFlight): object => ({
  ...flight,
  why: why.slice(0, MAX_WHY),
  ...(earlier && { earlier: written(earlier) }),
});

export const isSameMemory = (a: RollMemory, b: RollMemory): boolean =>
  a.hasRun === b.hasRun && a.inFlight?.podUid === b.inFlight?.podUid && a.inFlight?.node === b.inFlight?.node;

/** A broker's pod as it is now. */
export const brokerFacts = (pod: AnyObject): PodFacts => podFacts(pod, CONTAINER);

export interface WantedBrokers {
  model: RedpandaModel;
  /** What pods that are as they should be have. */
  revision: string;
  memory: RollMemory;
}

/**
 * Brokers alone, so that nobody is asked about a quorum. A restart is decided by the whole cluster: all other brokers have to be up, and
 * every partition has to have all its replicas.
 */
export function rollInput(
  { model, revision, memory }: WantedBrokers,
  live: readonly AnyObject[],
  health: Health | undefined,
  { now, podsSeenAt }: Pick<RollInput, 'now' | 'podsSeenAt'>,
): RollInput {
  const found = new Map(live.map((pod) => [pod.metadata.name, brokerFacts(pod)]));
  const nodes = idsOf(model).map((id) => nodeOf(model, id, found, revision));
  const unready = new Set(nodes.flatMap(({ id, pod }) => (pod?.ready ? [] : [id])));
  const isWhole = health !== undefined && health.problem === undefined;
  return {
    now,
    podsSeenAt,
    nodes,
    unreachable: new Set(),
    rollWhileUnreachable: false,
    quorum: undefined,
    brokers: health && {
      at: health.at,
      registered: new Map(health.brokers.map((id) => [id, { fenced: health.down.includes(id) }])),
    },
    partitions: isWhole ? { at: health.at, unready, byNode: keptByAll(idsOf(model), unready) } : undefined,
    caughtUpWithinMs: 0,
    neverReady: !memory.hasRun,
    inFlight: memory.inFlight,
    paused: false,
  };
}

function nodeOf(
  { name: cluster, external }: Pick<RedpandaModel, 'name' | 'external'>,
  id: number,
  found: ReadonlyMap<string, PodFacts>,
  revision: string,
): RollNode {
  const name = podName(cluster, id);
  const pod = found.get(name);
  const had = pod?.annotations[REVISION_ANNOTATION];
  const note = `its pod was made from an older template (${had ?? 'none'} → ${revision})`;
  return {
    id,
    name,
    target: LOCAL,
    roles: ['broker'],
    reasons: pod
      ? [
          ...(had === revision ? [] : [{ name: 'POD_HAS_OLD_REVISION' as const, note }]),
          ...(external && !external.names ? addressReasons(pod.annotations) : []),
        ]
      : [],
    pod,
    keepsData: true,
  };
}

/** As if all brokers had a partition together that can do without one of them. One broker alone has nobody to spare it. */
function keptByAll(ids: readonly number[], unready: ReadonlySet<number>) {
  if (ids.length < 2) return new Map();
  const all = { topic: 'of all brokers', partition: 0, replicas: ids, isr: ids, minIsr: ids.length - 1 };
  return partitionsByNode([all], unready);
}
