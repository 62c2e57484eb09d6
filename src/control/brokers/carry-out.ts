/** Carries out the one step of a roll that was decided about, and what goes with it. */
import type { Admin } from '../../kafka/admin/admin.ts';
import type { AnyObject } from '../../kube/object.ts';
import type { ActContext, Acted } from './act.ts';
import type { WantedNodes } from './look/roll-input.ts';
import { podName } from './model/names.ts';
import { asksForNewDisks, claimsOfNode } from './requests.ts';
import { alterationsOf } from './roll/config-change.ts';
import type { RollDecision } from './roll/facts.ts';
import { eventReason } from './roll/restart-reasons.ts';

const POD = { group: '', version: 'v1', kind: 'Pod' };
const CLAIM = { group: '', version: 'v1', kind: 'PersistentVolumeClaim' };

/** Each by its uid, so that no claim of the same name that came since goes. */
export async function deleteClaims(
  claims: readonly AnyObject[],
  cluster: string | undefined,
  { client, tell, log }: Pick<ActContext, 'client' | 'tell' | 'log'>,
  signal: AbortSignal,
): Promise<void> {
  for (const { metadata } of claims) {
    log.info({ claim: metadata.name }, 'claim is deleted');
    await client(cluster).delete(CLAIM, metadata, { uid: metadata.uid ?? '', signal });
    tell('ClaimDeleted', `deleted PersistentVolumeClaim "${metadata.name}", as was asked for`);
  }
}

/** What a step is taken with: the pods that it was decided by, and a client of the brokers, if any can be reached. */
export interface StepContext extends ActContext {
  pods: readonly AnyObject[];
  brokers: Admin | undefined;
}

const targetOf = ({ charter }: WantedNodes, node: number) =>
  charter.nodes.find(({ id }) => id === node)?.target;

/** At most one step, which was written down if it is one that a crash must not repeat. Returns what was refused, so far. */
export async function carryOut(
  decision: RollDecision,
  wanted: WantedNodes,
  context: StepContext,
  signal: AbortSignal,
): Promise<Acted['refused']> {
  const { client, tell, log, pods, brokers } = context;
  if (decision.do === 'restart') {
    log.info({ node: decision.node, reason: decision.why }, 'node is restarted');
    const pod = pods.find(({ metadata }) => metadata.uid === decision.podUid);
    const target = targetOf(wanted, decision.node);
    // First: a claim that is on its way out keeps the next pod waiting until there is a new one.
    if (pod && asksForNewDisks(pod))
      await deleteClaims(claimsOfNode(wanted.claims, decision.node), target, context, signal);
    if (pod) await client(target).delete(POD, pod.metadata, { uid: decision.podUid, signal });
    for (const reason of decision.reasons)
      tell(eventReason(reason), `node ${decision.node} is restarted: ${reason.note}`);
  } else if (decision.do === 'reconfigure' && brokers) {
    return reconfigure(decision, wanted, { ...context, brokers });
  } else if (decision.do === 'done' && wanted.finalize && brokers) {
    const { level, downgrade } = wanted.finalize;
    const kind = downgrade ? 'safe-downgrade' : 'upgrade';
    const { error } = await brokers.updateFeatures([{ feature: 'metadata.version', level, kind }]);
    if (error) throw new Error(`Kafka refused metadata.version ${level}: ${error.message}`);
    log.info({ level }, 'metadata version was changed');
    tell('MetadataVersionChanged', `metadata.version is ${level} now`);
  }
  return wanted.refused;
}

/** What a process refuses to change while it runs takes a restart, which the next look decides about. */
async function reconfigure(
  { node, change }: Extract<RollDecision, { do: 'reconfigure' }>,
  { cluster, refused }: WantedNodes,
  { brokers, pods, tell, log }: StepContext & { brokers: Admin },
): Promise<Acted['refused']> {
  const results = await brokers.alterConfigs(alterationsOf(node, change));
  const error = results.find((result) => result.error)?.error;
  const keys = [
    ...Object.keys(change.perBroker.set),
    ...Object.keys(change.clusterWide.set),
    ...change.perBroker.delete,
  ];
  // Values may be secrets of plug-ins.
  log.info({ node, settings: keys, refused: error !== undefined }, 'node was reconfigured while it runs');
  if (!error) tell('NodeReconfigured', `node ${node} has taken ${keys.join(', ')} without a restart`);
  if (!error) return refused;
  const pool = cluster.pools.find(({ nodes }) => nodes.some(({ id }) => id === node));
  const pod = pods.find(({ metadata }) => metadata.name === podName(cluster.name, pool?.name ?? '', node));
  const uid = pod?.metadata.uid ?? '';
  const alive = [...refused].filter(([known]) => pods.some(({ metadata }) => metadata.uid === known));
  return new Map([...alive, [uid, new Set([...(refused.get(uid) ?? []), ...keys])]]);
}
