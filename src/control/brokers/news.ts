/** What is decided about the nodes of a cluster, for whoever looks at its Kafka: told once, when it is written down. Pure. */
import type { Notice } from '../../kube/write/events.ts';
import type { KafkaAnchor } from '../../resources/isthmus/kafka-anchor.ts';
import { hasRun } from './model/charter.ts';
import type { Charter } from './model/charter.ts';

export interface News {
  reason: string;
  note: string;
}

/** As an event that nobody has to do anything about. */
export const toldBy = (news: News): Notice => ({ type: 'Normal', action: 'Reconcile', ...news });

/** How a charter differs from the one that is written down. Of one that is the first there is nothing to tell, unless it was found. */
export function newsOf(before: KafkaAnchor | undefined, { nodes }: Charter): News[] {
  if (!before && !hasRun({ nodes })) return [];
  if (!before) return [{ reason: 'ClusterAdopted', note: `${listed(nodes)} were found by their disks and pods, and go on` }]; // prettier-ignore
  const known = new Map(before.spec.nodes.map((node) => [node.id, node]));
  const ids = new Set(nodes.map(({ id }) => id));
  const tell = (reason: string, of: readonly { id: number }[], what: string): News[] =>
    of.length === 0 ? [] : [{ reason, note: `${listed(of)} ${what}` }];
  const isLeaving = (id: number) => known.get(id)?.leaving ?? false;
  const isRetiring = (id: number) => known.get(id)?.retiring ?? false;
  const retired = nodes.filter(({ id, retiring }) => !retiring && isRetiring(id));
  return [
    ...tell('NodesAdded', nodes.filter(({ id }) => !known.has(id)), 'come; their disks may be formatted'), // prettier-ignore
    ...tell('NodesLeaving', nodes.filter(({ id, leaving }) => leaving && known.has(id) && !isLeaving(id)), 'are to go, and are emptied first'), // prettier-ignore
    ...tell('NodesStay', nodes.filter(({ id, leaving }) => !leaving && isLeaving(id)), 'stay after all'), // prettier-ignore
    ...tell('NodesRetiring', nodes.filter(({ id, retiring }) => retiring && !isRetiring(id)), 'are to be no brokers any more, and are emptied first'), // prettier-ignore
    ...tell('NodesRetired', retired.filter(({ roles }) => !roles.includes('broker')), 'are empty, and no brokers from their next start on'), // prettier-ignore
    ...tell('NodesStay', retired.filter(({ roles, leaving }) => roles.includes('broker') && !leaving), 'stay brokers after all'), // prettier-ignore
    ...tell('NodesRemoved', [...known.values()].filter(({ id }) => !ids.has(id)), 'are empty, and go'), // prettier-ignore
  ];
}

/** What a look at Kafka has shown of moves; of one that decided nothing, or something else, they say nothing. */
interface Looked {
  decision: { do: string } | undefined;
  moved: { done: boolean; toDrain: number } | undefined;
}

/** Moves that begin and end between two looks. Those that an operator finds under way at its first are no news. */
export function moveNews(before: Looked | undefined, after: Looked): News[] {
  if (before?.decision?.do !== 'done' || after.decision?.do !== 'done') return [];
  const isMoving = ({ moved }: Looked) => moved !== undefined && !moved.done;
  if (isMoving(before) === isMoving(after)) return [];
  if (!isMoving(after)) return [{ reason: 'PartitionsMoved', note: 'no partition is left to be moved' }];
  const toDrain = after.moved?.toDrain ?? 0;
  const note =
    toDrain > 0
      ? `${toDrain} partitions are moved off brokers that are to go`
      : 'partitions are moved until all brokers have about as many';
  return [{ reason: 'PartitionsMoving', note }];
}

/** More would not fit into an event. */
const MAX_LISTED = 20;

function listed(nodes: readonly { id: number }[]): string {
  const named = nodes.slice(0, MAX_LISTED).map(({ id }) => id);
  const more = nodes.length - named.length;
  return `nodes ${named.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
