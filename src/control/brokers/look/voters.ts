/** Changes who votes among the controllers, one at a time: looks, writes down what it is about to do, and asks Kafka for it. */
import type { Admin } from '../../../kafka/admin/admin.ts';
import type { AnyObject } from '../../../kube/object.ts';
import { dynamicQuorumOf } from '../model/charter.ts';
import type { VoterChange } from '../model/charter.ts';
import { CONTROL_PLANE_PORT, listenerId, podName } from '../model/names.ts';
import { nextVoter, nonVoters } from '../quorum/voters.ts';
import type { VoterInput, VoterStep } from '../quorum/voters.ts';
import { asksForNewDisks } from '../requests.ts';
import type { RollDecision } from '../roll/facts.ts';
import { isPodReady } from '../status.ts';
import type { KafkaFacts } from './facts.ts';
import { caughtUpWithinMs } from './roll-input.ts';
import type { WantedNodes } from './roll-input.ts';

/** How far it is. */
export interface VoterProgress {
  /** What is done, or waited for; undefined if all is as it should be. */
  under: string | undefined;
  /** Controllers that are to go, and do not vote. */
  outside: readonly number[];
  /** The change that Kafka has said it does not make. */
  refused?: VoterChange | undefined;
  at: number;
}

interface Around {
  pods: readonly AnyObject[];
  facts: KafkaFacts | undefined;
  decision: RollDecision;
  brokers: Pick<Admin, 'addVoter' | 'removeVoter'> | undefined;
  /** Of the look before. */
  before: VoterProgress | undefined;
  /** Brokers that are to go and were empty then. */
  drained: readonly number[];
  now: number;
  /** Writes down what is about to be done. */
  persist: (change: VoterChange | undefined) => Promise<void>;
  tell: (reason: string, note: string) => void;
}

/** Undefined where voters stay the same, or nothing is to be changed now. */
export async function changeVoters(wanted: WantedNodes, around: Around): Promise<VoterProgress | undefined> {
  const input = voterInput(wanted, around);
  const { decision, brokers, now } = around;
  if (!input || !brokers || wanted.paused || ['restart', 'reconfigure'].includes(decision.do))
    return undefined;
  const step = nextVoter(input);
  if (!isSameChange(step.change, input.change)) await around.persist(step.change);
  const problem = await carryOut(step, wanted, { ...around, brokers });
  const outside = nonVoters(input);
  // Whether somebody may go is seen by the next look, which is not to wait then.
  const ended = input.change && `the change of controller ${input.change.id} is over`;
  if (step.do === 'done') return { under: ended, outside, at: now };
  const under = problem ?? (step.do === 'wait' ? step.why : doing(step));
  return { under, outside, at: now, ...(problem !== undefined && { refused: step.change }) };
}

const doing = ({ do: what, voter }: Extract<VoterStep, { do: 'add' | 'remove' }>) =>
  `controller ${voter.id} ${what === 'add' ? 'becomes a voter' : 'ceases to vote'}`;

function voterInput(
  wanted: WantedNodes,
  { pods, facts, decision, before, drained, now }: Around,
): VoterInput | undefined {
  const { cluster, charter, unreachable } = wanted;
  const dynamic = dynamicQuorumOf(charter);
  if (!dynamic) return undefined;
  const live = new Map(pods.map((pod) => [pod.metadata.name, pod]));
  const { inFlight } = decision;
  // These may still be deleted; whoever came in their place is what the restart waits for.
  const deleted = new Set([inFlight?.podUid, inFlight?.earlier?.podUid]);
  return {
    now,
    quorum: facts?.quorum,
    caughtUpWithinMs: caughtUpWithinMs(cluster),
    controllers: charter.nodes
      .filter(({ roles }) => roles.includes('controller'))
      .map(({ id, pool, target, leaving }) => {
        const pod = live.get(podName(cluster.name, pool, id));
        // Of a cluster that cannot be seen only Kafka can tell.
        const isUp = unreachable.has(target) || (pod !== undefined && isPodReady(pod));
        const losesDisk = pod !== undefined && asksForNewDisks(pod);
        return { id, leaving, ready: isUp && !deleted.has(pod?.metadata.uid ?? ''), losesDisk };
      }),
    change: dynamic.change,
    isRefused: before?.refused !== undefined && isSameChange(before.refused, dynamic.change),
    // A broker that goes loses its way to the others with its vote: by then it has to be empty.
    isRolled: decision.do === 'done' && wanted.move.leaving.every((id) => drained.includes(id)),
  };
}

const isSameChange = (a: VoterChange | undefined, b: VoterChange | undefined) =>
  a?.do === b?.do && a?.id === b?.id && a?.directoryId === b?.directoryId && a?.since === b?.since;

/** Returns why Kafka did not do it. An answer that is lost is an error of its own, and the next look shows what became of it. */
async function carryOut(
  step: VoterStep,
  { cluster }: WantedNodes,
  { brokers, tell }: Pick<Around, 'tell'> & { brokers: NonNullable<Around['brokers']> },
): Promise<string | undefined> {
  if (step.do !== 'add' && step.do !== 'remove') return undefined;
  const { voter } = step;
  const host = cluster.quorum?.controllers.find(({ id }) => id === voter.id)?.host ?? '';
  const listeners = [
    { name: listenerId('controlplane', CONTROL_PLANE_PORT), host, port: CONTROL_PLANE_PORT },
  ];
  const { error } =
    step.do === 'add' ? await brokers.addVoter({ ...voter, listeners }) : await brokers.removeVoter(voter);
  if (error) return `${doing(step)}, and Kafka says: ${error.message}`;
  const added = step.do === 'add';
  tell(
    added ? 'VoterAdded' : 'VoterRemoved',
    `controller ${voter.id} ${added ? 'votes now' : 'does not vote any more'}`,
  );
  return undefined;
}
