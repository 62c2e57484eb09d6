/** Which brokers of a virtual cluster have a port, and which have none. */
import { nodeIdsOf } from '../../../resources/common/node-ids.ts';
import type { NodeIdRange } from '../../../resources/common/node-ids.ts';
import { inUse, withPorts } from '../ports/node-ports.ts';
import type { HeldBlock, NodePorts } from '../ports/ports.ts';
import type { PlacelessFault } from './platform.ts';

/** How many are named; the message is for people. */
const MAX_NAMED = 20;

export function nodesServed(
  ranges: readonly NodeIdRange[],
  block: HeldBlock,
): { nodes: NodePorts[]; without: PlacelessFault[] } {
  const nodes = inUse(block.nodes);
  const wanted = nodeIdsOf(ranges);
  const have = new Set(withPorts(wanted, nodes));
  const missing = wanted.filter((node) => !have.has(node));
  if (missing.length === 0) return { nodes, without: [] };
  const named = missing.slice(0, MAX_NAMED).join(', ') + (missing.length > MAX_NAMED ? ', …' : '');
  const message = `no port is left for node ids ${named}, or not for so many of one virtual cluster (limits.maxNodesPerVirtualCluster of the KafkaProxy); clients do not reach them until there is`;
  return { nodes, without: [{ reason: 'BrokersWithoutPort', message }] };
}

/** Divides the nodes that one virtual cluster may have ports for among its ingresses. Who has a port keeps it. */
export function createShare(maxNodes: number) {
  let left = maxNodes;
  return {
    /** Those of some nodes, in their order, that are to have ports by a block. */
    take(nodes: readonly number[], block: HeldBlock | undefined): readonly number[] {
      const have = new Set(withPorts(nodes, inUse(block?.nodes ?? [])));
      let more = Math.max(0, left - have.size);
      const taken = nodes.filter((node) => have.has(node) || more-- > 0);
      left = Math.max(0, left - taken.length);
      return taken;
    },
  };
}
