import type { PartitionRef } from '../../../kafka/admin/topics.ts';

/** Where replicas are to be: counted by broker, so that a choice between brokers can be made. */

export interface BrokerPlace {
  id: number;
  /** Brokers that do not say have a rack each: nothing is known of what they share. */
  rack?: string | undefined;
  /** `drain`: it has to be empty, because it goes. */
  state: 'stays' | 'drain';
  /** Whether it runs and takes new replicas. */
  available: boolean;
}

/** A partition as it is, or as it will be once its reassignment has ended. */
export interface PlacedPartition extends PartitionRef {
  /** The first is the preferred leader. */
  replicas: readonly number[];
  isr: readonly number[];
  /** Of one replica; undefined if unknown. */
  bytes?: number | undefined;
}

export interface BrokerLoad {
  replicas: number;
  leaders: number;
  bytes: number;
}

/** Where everything is once what is under way has ended. `loads` is kept up with what is begun. */
export interface Board {
  brokers: readonly BrokerPlace[];
  /** Ids of the brokers that have to be empty. */
  going: ReadonlySet<number>;
  loads: ReadonlyMap<number, BrokerLoad>;
}

/** How many replicas, preferred leaders and bytes each broker has; brokers that have nothing are there, too. */
export function loadsOf(
  partitions: Iterable<Pick<PlacedPartition, 'replicas' | 'bytes'>>,
  brokers: readonly BrokerPlace[],
): Map<number, BrokerLoad> {
  const loads = new Map(brokers.map(({ id }) => [id, { replicas: 0, leaders: 0, bytes: 0 }]));
  for (const { replicas, bytes } of partitions) addLoad(loads, replicas, bytes, 1);
  return loads;
}

/** Counts a partition in, or out again with a `sign` of -1. */
export function addLoad(
  loads: ReadonlyMap<number, BrokerLoad>,
  replicas: readonly number[],
  bytes = 0,
  sign: 1 | -1 = 1,
): void {
  for (const [position, id] of replicas.entries()) {
    const load = loads.get(id);
    if (!load) continue;
    load.replicas += sign;
    load.bytes += sign * bytes;
    if (position === 0) load.leaders += sign;
  }
}

/** The rack of each broker; a broker that is not listed, or says nothing, is a rack by itself. */
export function racksOf(brokers: readonly Pick<BrokerPlace, 'id' | 'rack'>[]): (id: number) => string {
  const racks = new Map(
    brokers.map(({ id, rack }) => [id, rack === undefined ? `broker ${id}` : `rack ${rack}`]),
  );
  return (id) => racks.get(id) ?? `broker ${id}`;
}

/** Over how many racks some replicas are. */
export const rackCount = (replicas: readonly number[], rackOf: (id: number) => string): number =>
  new Set(replicas.map(rackOf)).size;
