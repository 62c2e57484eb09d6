/** Whether pods of two clusters could route to each other at all: not if their networks have addresses in common. */
import { BlockList, isIP } from 'node:net';
import type { Client } from '../../kube/http/client.ts';
import type { AnyObject } from '../../kube/object.ts';

const NODE = { group: '', version: 'v1', kind: 'Node' };

interface Node extends AnyObject {
  spec?: { podCIDR?: string; podCIDRs?: string[] };
}

/** The networks of a cluster's pods, as far as its nodes say so: those of many network plugins do not. */
export async function podNetworks(client: Client): Promise<string[]> {
  const { items } = await client.list<Node>(NODE, {});
  return [...new Set(items.flatMap(({ spec = {} }) => spec.podCIDRs ?? spec.podCIDR ?? []))];
}

interface Network {
  text: string;
  address: string;
  family: 'ipv4' | 'ipv6';
  blocks: BlockList;
}

function networkOf(text: string): Network[] {
  const [address = '', bits = ''] = text.split('/');
  const version = isIP(address);
  const length = Number(bits);
  if (version === 0 || !/^\d+$/.test(bits) || length > (version === 4 ? 32 : 128)) return [];
  const family = version === 4 ? 'ipv4' : 'ipv6';
  const blocks = new BlockList();
  blocks.addSubnet(address, length, family);
  return [{ text, address, family, blocks }];
}

/** Pairs of networks with addresses in common: of two such, one has the other's first address. */
export function overlaps(here: readonly string[], there: readonly string[]): string[] {
  const theirs = there.flatMap(networkOf);
  const pairs = here
    .flatMap(networkOf)
    .flatMap((own) =>
      theirs
        .filter(
          (other) =>
            own.family === other.family &&
            (own.blocks.check(other.address, other.family) || other.blocks.check(own.address, own.family)),
        )
        .map((other) => `${own.text} here, ${other.text} there`),
    );
  return [...new Set(pairs)];
}
