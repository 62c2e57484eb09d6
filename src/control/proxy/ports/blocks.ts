/** The port allocation as it is kept: in the status of the KafkaProxy, and, should that be lost, in the Services. */
import { timestamp } from '../../../kube/write/conditions.ts';
import type { KafkaProxy } from '../../../resources/kroxylicious/kafka-proxy.ts';
import { CLUSTER_LABEL, INGRESS_LABEL, SHARED, blockOwner } from '../names.ts';
import type { LiveService } from '../observed.ts';
import { QUARANTINE_MS } from './ports.ts';
import type { Allocation, Block, ReleasedBlock } from './ports.ts';

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
  const held: Record<string, Block> = {};
  const released: ReleasedBlock[] = [];
  for (const { virtualCluster, ingress, start, count, releasedAt } of blocks ?? []) {
    const owner = blockOwner(virtualCluster, ingress);
    const block = { start, size: count };
    if (releasedAt === undefined) held[owner] = block;
    else released.push({ ...block, owner, at: Date.parse(releasedAt) || 0 });
  }
  const isKnown = (owner: string) =>
    owner in held || released.some((block) => block.owner === owner && now - block.at < QUARANTINE_MS);
  for (const service of services) {
    const found = blockOfService(service);
    if (found && !isKnown(found.owner)) held[found.owner] = found.block;
  }
  return { held, released };
}

function blockOfService({ metadata, spec }: LiveService): { owner: string; block: Block } | undefined {
  const { [CLUSTER_LABEL]: cluster = SHARED, [INGRESS_LABEL]: ingress } = metadata.labels ?? {};
  const ports = (spec?.ports ?? []).flatMap(({ targetPort }) =>
    typeof targetPort === 'number' ? targetPort : [],
  );
  if (ingress === undefined || ports.length === 0) return undefined;
  const start = Math.min(...ports);
  return { owner: blockOwner(cluster, ingress), block: { start, size: Math.max(...ports) - start + 1 } };
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

function portBlock(owner: string, { start, size }: Block): PortBlock {
  const slash = owner.indexOf('/');
  const [virtualCluster, ingress] = [owner.slice(0, slash), owner.slice(slash + 1)];
  return { virtualCluster, ingress, start, count: size };
}
