/** The port allocation as it is kept: in the status of the KafkaProxy, and, should that be lost, in the Services. */
import { timestamp } from '../../../kube/write/conditions.ts';
import type { KafkaProxy } from '../../../resources/kroxylicious/kafka-proxy.ts';
import { CLUSTER_LABEL, CONTAINER_PORTS, INGRESS_LABEL, SHARED, blockOwner, nodeOfPort } from '../names.ts';
import type { LiveService } from '../observed.ts';
import { QUARANTINE_MS, withSpare } from './ports.ts';
import type { Allocation, Block, HeldBlock, NodePorts, ReleasedBlock } from './ports.ts';

export type PortBlock = NonNullable<NonNullable<KafkaProxy['status']>['portBlocks']>[number];

/**
 * Reads the allocation. A Service that has ports nobody wrote down has them still; and so has one that could not be deleted
 * while its ports were kept free, since clients may still come through it.
 */
export function allocationOf(
  blocks: readonly PortBlock[] | undefined,
  services: readonly LiveService[],
  now: number,
): Allocation {
  const held: Record<string, HeldBlock> = {};
  const released: ReleasedBlock[] = [];
  for (const { virtualCluster, ingress, start, count, nodes = [], releasedAt } of blocks ?? []) {
    const owner = blockOwner(virtualCluster, ingress);
    const block = { start, size: count, nodes: nodes.map((range) => nodePorts(range, start)) };
    if (releasedAt === undefined) held[owner] = block;
    else released.push({ ...block, owner, at: timeOf(releasedAt) });
  }
  const written = new Set(Object.keys(held));
  const isKnown = (owner: string) =>
    written.has(owner) || released.some((block) => block.owner === owner && now - block.at < QUARANTINE_MS);
  const adopted = services.flatMap((service) => blockOfService(service) ?? []);
  for (const { owner, block } of adopted.filter((found) => !isKnown(found.owner))) held[owner] = block;
  const starts = [...Object.values(held), ...released].map(({ start }) => start);
  for (const [owner, block] of Object.entries(held))
    if (!written.has(owner)) held[owner] = { ...block, size: sizeWithSpare(block, starts) };
  return { held, released };
}

/** A Service does not show the ports to spare behind its own: as many as it would have got, where nobody else is. */
function sizeWithSpare({ start, size }: Block, starts: readonly number[]): number {
  const next = Math.min(CONTAINER_PORTS.last + 1, ...starts.filter((other) => other > start));
  return Math.max(size, Math.min(withSpare(size), next - start));
}

/** A time that cannot be read is long past. */
const timeOf = (text: string) => Date.parse(text) || 0;

type NodeRange = NonNullable<PortBlock['nodes']>[number];

const nodePorts = ({ start, end, port, releasedAt }: NodeRange, bootstrapPort: number): NodePorts => ({
  start,
  end,
  offset: port - bootstrapPort - 1,
  ...(releasedAt !== undefined && { at: timeOf(releasedAt) }),
});

/** The ports of a Service bear the names of the nodes, so that not even a lost status gives a port to another node. */
function blockOfService({ metadata, spec }: LiveService): { owner: string; block: HeldBlock } | undefined {
  const { [CLUSTER_LABEL]: cluster = SHARED, [INGRESS_LABEL]: ingress } = metadata.labels ?? {};
  const ports = (spec?.ports ?? []).flatMap(({ name, targetPort }) =>
    typeof targetPort === 'number' ? [{ node: nodeOfPort(name), targetPort }] : [],
  );
  if (ingress === undefined || ports.length === 0) return undefined;
  const start = Math.min(...ports.map(({ targetPort }) => targetPort));
  const last = Math.max(...ports.map(({ targetPort }) => targetPort));
  const nodes = ports.flatMap(({ node, targetPort }) =>
    node === undefined ? [] : [{ start: node, end: node, offset: targetPort - start - 1 }],
  );
  return { owner: blockOwner(cluster, ingress), block: { start, size: last - start + 1, nodes } };
}

/** The allocation as it is written, in an order that depends on nothing but itself. */
export function portBlocksOf({ held, released }: Allocation): PortBlock[] {
  const lines = [
    ...Object.entries(held).map(([owner, block]) => portBlock(owner, block)),
    ...released.map(({ owner, at, ...block }) => ({
      ...portBlock(owner, block),
      releasedAt: timestamp(new Date(at)),
    })),
  ];
  return lines.toSorted((a, b) => a.start - b.start || a.count - b.count);
}

function portBlock(owner: string, { start, size, nodes }: HeldBlock): PortBlock {
  const slash = owner.indexOf('/');
  const [virtualCluster, ingress] = [owner.slice(0, slash), owner.slice(slash + 1)];
  return {
    virtualCluster,
    ingress,
    start,
    count: size,
    ...(nodes.length > 0 && { nodes: rangesOf(nodes, start) }),
  };
}

function rangesOf(nodes: readonly NodePorts[], bootstrapPort: number): NodeRange[] {
  return nodes.map(({ start, end, offset, at }) => ({
    start,
    end,
    port: bootstrapPort + 1 + offset,
    ...(at !== undefined && { releasedAt: timestamp(new Date(at)) }),
  }));
}
