/** What keeps nodes from being as their pools say. Pure. */
import type { KafkaNodePool } from '../../../resources/strimzi/kafka-node-pool.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import type { Fault } from '../faults.ts';
import type { Charter, CharterNode } from '../model/charter.ts';
import { dynamicQuorumOf, hasRun } from '../model/charter.ts';
import { headlessServiceName, podName } from '../model/names.ts';

export const refusal = (
  reason: 'Invalid' | 'ChangeNotPossible' | 'NotSupported',
  path: readonly string[],
  message: string,
): Fault => ({ reason, path, message });

/** Names of pods and of their Service are labels of DNS names. */
export const LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/;
/** As many digits as ids may come to have. */
const LONG_ID = 10_000;

/** A pool by itself. */
export function poolFaults(
  { metadata: { name: cluster } }: Kafka,
  { metadata, spec }: KafkaNodePool,
): Fault[] {
  const at = (reason: 'Invalid', field: string, message: string) =>
    refusal(reason, ['spec', field], `KafkaNodePool "${metadata.name}": ${message}`);
  const names = [podName(cluster, metadata.name, LONG_ID), headlessServiceName(cluster)];
  return [
    ...(names.every((name) => LABEL.test(name))
      ? []
      : [at('Invalid', 'name', `pods would be named like ${names[0]} and their Service ${names[1]}; use names without dots, at most 63 characters together`)]), // prettier-ignore
    ...((spec.roles ?? []).length === 0
      ? [at('Invalid', 'roles', 'it has no roles; give it broker, controller or both')]
      : []),
  ];
}

/** As many as an anchor has room for. */
const MAX_NODES = 1024;

/** All nodes together, and against those that there were. */
export function nodeFaults(
  charter: Charter,
  nodes: readonly CharterNode[],
  config: Readonly<Record<string, string>>,
): Fault[] {
  const tooMany = `there would be ${nodes.length} nodes; a cluster has at most ${MAX_NODES}`;
  return [
    ...(nodes.length > MAX_NODES ? [refusal('Invalid', ['spec', 'replicas'], tooMany)] : []),
    ...roleFaults(nodes),
    ...voterFaults(charter, nodes),
    ...replicationFaults(config, nodes),
  ];
}

/** Both roles are needed. */
function roleFaults(nodes: readonly CharterNode[]): Fault[] {
  const lacks = (role: 'broker' | 'controller') =>
    nodes.some(({ roles, leaving }) => roles.includes(role) && !leaving)
      ? []
      : [
          refusal(
            'Invalid',
            ['spec'],
            `no node is a ${role}; add a KafkaNodePool with the label strimzi.io/cluster, roles: [${role}] and replicas`,
          ),
        ];
  return [...lacks('broker'), ...lacks('controller')];
}

const votersOf = (nodes: readonly CharterNode[]) =>
  nodes.flatMap(({ id, roles }) => (roles.includes('controller') ? [id] : []));

/**
 * The voters of a cluster are in the configuration of every node, and are the same as long as it lives: with another set of them two
 * leaders could be elected while nodes are restarted one by one.
 */
function voterFaults(charter: Charter, nodes: readonly CharterNode[]): Fault[] {
  if (!hasRun(charter)) return [];
  if (dynamicQuorumOf(charter)) return roleChangeFaults(charter, nodes);
  // Of nodes that were found by their disks nobody knows what they were.
  const isKnown = charter.nodes.every(({ roles }) => roles.length > 0);
  const before = votersOf(isKnown ? charter.nodes : nodes);
  const isLeaving = nodes.some(({ roles, leaving }) => leaving && roles.includes('controller'));
  if (before.join() === votersOf(nodes).join() && !isLeaving) return [];
  const message = `the controllers of a running cluster stay the same: they are nodes ${before.join(', ')}; take back the change of roles or replicas of their pools, and make a pool of theirs again that was deleted. Only a Kafka that was made with the annotation isthmus.dev/quorum: dynamic can change them`;
  return [refusal('ChangeNotPossible', ['spec'], message)];
}

/** Where controllers may come and go, a node is one from its beginning to its end: its disk was formatted for that. */
function roleChangeFaults({ nodes: before }: Charter, nodes: readonly CharterNode[]): Fault[] {
  const isController = ({ roles }: CharterNode) => roles.includes('controller');
  const changed = before.filter(
    (had) =>
      had.roles.length > 0 &&
      nodes.some((one) => one.id === had.id && isController(one) !== isController(had)),
  );
  if (changed.length === 0) return [];
  const names = changed.map(({ id }) => id).join(', ');
  const message = `nodes ${names} stay ${isController(changed[0]!) ? 'controllers' : 'what they are'}; add a pool with the roles you want, and remove theirs, or take the change of roles back`;
  return [refusal('ChangeNotPossible', ['spec', 'roles'], message)];
}

/** Where one is left out, Kafka's own may be more than there are brokers: a warning of the running cluster says so. */
const REPLICATION_KEYS = [
  'default.replication.factor',
  'offsets.topic.replication.factor',
  'transaction.state.log.replication.factor',
  'transaction.state.log.min.isr',
  'share.coordinator.state.topic.replication.factor',
  'share.coordinator.state.topic.min.isr',
];

function replicationFaults(config: Readonly<Record<string, string>>, nodes: readonly CharterNode[]): Fault[] {
  const brokers = nodes.filter(({ roles, leaving }) => roles.includes('broker') && !leaving).length;
  return REPLICATION_KEYS.flatMap((key) => {
    const value = config[key];
    if (value === undefined || Number(value) <= brokers) return [];
    const message = `${key} is ${value}, but there are only ${brokers} brokers; lower it or add brokers`;
    return [refusal('Invalid', ['spec', 'kafka', 'config', key], message)];
  });
}
