/** Whether the API server would take the pod that a node is restarted for: if not, the one that runs stays. */
import type { Client } from '../../../kube/http/client.ts';
import { hasStatus } from '../../../kube/http/errors.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { podName } from '../model/names.ts';
import type { RollDecision } from '../roll/facts.ts';
import { fitsInPlaceOf } from './quota.ts';
import type { WantedNodes } from './roll-input.ts';

/** What policies, quotas and validation answer with. */
const REFUSALS = [400, 403, 422];
const LOOK_AGAIN_MS = 30_000;

/** The decision; blocked where nobody would let the new pod in. One that was begun already goes on. */
export async function admitted(
  decision: RollDecision,
  { cluster, charter, pods }: WantedNodes,
  live: readonly AnyObject[],
  client: (cluster?: string) => Client,
  signal: AbortSignal,
): Promise<RollDecision> {
  if (decision.do !== 'restart' || charter.inFlight?.podUid === decision.podUid) return decision;
  const { node, podUid } = decision;
  const { pool = '', target } = charter.nodes.find(({ id }) => id === node) ?? {};
  const pod = pods.get(podName(cluster.name, pool, node));
  const former = live.find(({ metadata }) => metadata.uid === podUid);
  const refusal = pod && (await refusalOf(pod, former, client(target), signal));
  if (refusal === undefined) return decision;
  const why = `node ${node} is not restarted, because the API server refuses its new pod: ${refusal}`;
  return { do: 'blocked', why, node, lookAgainInMs: LOOK_AGAIN_MS, inFlight: charter.inFlight };
}

/** Why the API server would not make a pod in the place of a former one; undefined if it would. */
export async function refusalOf(
  pod: AnyObject,
  former: AnyObject | undefined,
  client: Client,
  signal: AbortSignal,
): Promise<string | undefined> {
  try {
    await client.create(pod, { dryRun: true, signal });
    return undefined;
  } catch (error) {
    // Policies are asked first: that the name is taken says that they allow it.
    if (hasStatus(error, 409)) return undefined;
    if (!REFUSALS.some((status) => hasStatus(error, status))) throw error;
    const { message } = error as Error;
    // The pod that goes makes room for the next one, but only for as much as it has itself.
    return former && fitsInPlaceOf(former['spec'] ?? {}, message) ? undefined : message;
  }
}
