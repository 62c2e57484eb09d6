/** Faults between clusters, and between a cluster and the outside: silence, and delay. They happen in the hub. */
import { join } from 'node:path';
import { ensureC } from '../install/c.ts';
import { startServer } from '../../../src/store/embedded/process.ts';
import type { Server } from '../../../src/store/embedded/process.ts';
import { OUTSIDE } from './addresses.ts';
import type { ClusterAddresses } from './addresses.ts';
import type { Hub } from './hub.ts';

/** Anything that has a place in the network: a cluster, or the outside. */
export interface Place {
  readonly name: string;
}

export interface Faults {
  /** From now on packets between the two vanish, without a word. */
  cut(a: Place, b: Place): Promise<void>;
  /** From now on packets between the two take this much longer, in each direction. */
  delay(a: Place, b: Place, milliseconds: number): Promise<void>;
  /** Ends the faults between the two, or all faults. */
  heal(a?: Place, b?: Place): Promise<void>;
  stop(): Promise<void>;
}

/** A pair of places in a fixed order. */
type Pair = readonly [string, string];

export interface FaultState {
  cuts: readonly Pair[];
  /** Each goes by the interface `delay<number>`. */
  delays: readonly { pair: Pair; number: number }[];
}

/** Networks of each place. */
export type Zones = Readonly<Record<string, readonly string[]>>;

/** The networks that belong to each cluster and to the outside. */
export function zonesOf(clusters: Readonly<Record<string, ClusterAddresses>>): Zones {
  const own = Object.entries(clusters).map(
    ([name, { network, podNetwork }]) => [name, [network, podNetwork]] as const,
  );
  return { ...Object.fromEntries(own), outside: [OUTSIDE.network] };
}

function between(zones: Zones, [a, b]: Pair, verdict: string): string[] {
  const set = (name: string) => `{ ${(zones[name] ?? []).join(', ')} }`;
  return [[a, b] as const, [b, a] as const].map(
    ([from, to]) => `ip saddr ${set(from)} ip daddr ${set(to)} ${verdict}`,
  );
}

/**
 * The rules for a state, to be loaded in one go. A delayed packet takes a detour through a tun interface and comes back
 * translated already, so that on its second way through it must be neither tracked nor marked again.
 */
export function faultRules(zones: Zones, { cuts, delays }: FaultState): string {
  const marks = delays.flatMap(({ pair, number }) => between(zones, pair, `meta mark set ${number}`));
  return `
table ip faults
delete table ip faults
table ip faults {
  chain returning {
    type filter hook prerouting priority raw
    iifname "delay*" notrack
  }
  chain detour {
    type filter hook prerouting priority dstnat + 50
    iifname "delay*" accept
    ${marks.join('\n    ')}
  }
  chain silence {
    type filter hook forward priority filter - 10
    ${cuts.flatMap((pair) => between(zones, pair, 'drop')).join('\n    ')}
  }
}
`;
}

const pairOf = (a: Place, b: Place): Pair => (a.name < b.name ? [a.name, b.name] : [b.name, a.name]);
const same = (one: Pair, other: Pair) => one[0] === other[0] && one[1] === other[1];

/** A tun interface of the hub, with the program behind it and the route that leads marked packets to it. */
async function makeDetour(hub: Hub, number: number, milliseconds: number, logs: string): Promise<Server> {
  const device = `delay${number}`;
  await hub.namespace.ip(
    `tuntap add dev ${device} mode tun`,
    `link set ${device} up`,
    `route add default dev ${device} table ${100 + number}`,
    `rule add fwmark ${number} lookup ${100 + number}`,
  );
  const [command, ...args] = hub.namespace.enter([
    await ensureC(join(import.meta.dirname, 'delay.c')),
    device,
    String(milliseconds),
  ]);
  return startServer(device, command, args, { logFile: join(logs, `${device}.log`) });
}

/** The faults of a network, none at first. */
export function createFaults(hub: Hub, zones: Zones, logs: string): Faults {
  let cuts: Pair[] = [];
  let delays: { pair: Pair; detour: Server; number: number }[] = [];
  let made = 0;

  const load = () => hub.nft(faultRules(zones, { cuts, delays }));
  const endDelays = async (isOver: (pair: Pair) => boolean) => {
    const over = delays.filter(({ pair }) => isOver(pair));
    delays = delays.filter(({ pair }) => !isOver(pair));
    await load();
    for (const { detour, number } of over) {
      await detour.stop('SIGKILL');
      await hub.namespace.ip(`rule del fwmark ${number}`, `link del delay${number}`);
    }
  };

  return {
    async cut(a, b) {
      cuts.push(pairOf(a, b));
      await load();
    },
    async delay(a, b, milliseconds) {
      const pair = pairOf(a, b);
      await endDelays((other) => same(pair, other));
      made += 1;
      delays.push({ pair, number: made, detour: await makeDetour(hub, made, milliseconds, logs) });
      await load();
    },
    async heal(a, b) {
      const isOver = (pair: Pair) => a === undefined || b === undefined || same(pair, pairOf(a, b));
      cuts = cuts.filter((pair) => !isOver(pair));
      await endDelays(isOver);
    },
    async stop() {
      await Promise.all(delays.map(({ detour }) => detour.stop('SIGKILL')));
    },
  };
}
