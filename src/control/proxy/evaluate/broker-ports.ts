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
  const message = `no port is left for node ids ${named}; clients do not reach them until one is free`;
  return { nodes, without: [{ reason: 'BrokersWithoutPort', message }] };
}
