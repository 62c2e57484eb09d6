/** Which port of the nodes a Redpanda cluster has. It is written down in its anchor before anything uses it. Pure. */
import type { AnyObject } from '../../kube/object.ts';
import { portKey } from '../brokers/expose/names.ts';
import { REDPANDA_HOST_PORTS, hostPortsOf, portsOfNode } from '../brokers/expose/ports.ts';
import { keptPort } from '../brokers/objects/exposed.ts';
import { portsIn } from './anchor.ts';
import type { Fault } from './faults.ts';
import type { ExternalWish } from './front/external.ts';
import { EXTERNAL_LISTENER, HOST_PORT_ANNOTATION } from './names.ts';
import type { Observed } from './observe.ts';
import { hostPortIn } from './stateful-set.ts';

export interface GivenPort {
  /** What brokers have now. */
  hostPort: number | undefined;
  /** All that are to be written down. */
  ports: Readonly<Record<string, number>>;
  /** What the Service that keeps the number is to have; any if undefined. */
  reserved: number | undefined;
  /** Whether it was given one that somebody else still has, and gives it back. */
  isReturned: boolean;
  faults: Fault[];
}

/** There is one external listener, whatever its owner calls it. */
const RESERVED = portKey(EXTERNAL_LISTENER, { strategy: 'reserve' });

/** What is written down, on the StatefulSet where there is no anchor: a number stays the cluster's, also while nobody is let in by it. */
export function recordedPorts({
  anchor,
  statefulSet,
}: Pick<Observed, 'anchor' | 'statefulSet'>): Record<string, number> {
  const port = Number(statefulSet?.metadata.annotations?.[HOST_PORT_ANNOTATION]);
  const isPort = Number.isInteger(port) && port > 0 && port <= 65_535;
  return { ...(isPort && { [RESERVED]: port }), ...portsIn(anchor) };
}

/** The node port among them, as it is written on the StatefulSet, too. */
export const nodePortIn = (ports: Readonly<Record<string, number>>): number | undefined => ports[RESERVED];

export function givenPort(
  observed: Observed,
  { strategy, wantedPort }: Pick<ExternalWish, 'strategy' | 'wantedPort'>,
): GivenPort {
  const kept = keptPort(observed.externalService);
  const recorded = recordedPorts(observed);
  const inUse = hostPortIn(observed.statefulSet);
  if (wantedPort !== undefined) {
    // It counts once the Service has it: it may be somebody else's. Brokers that have one go on with that.
    const isHad = kept === wantedPort;
    const ports = isHad ? { ...recorded, [RESERVED]: wantedPort } : recorded;
    return {
      hostPort: isHad ? wantedPort : inUse,
      ports,
      reserved: wantedPort,
      isReturned: false,
      faults: [],
    };
  }
  const { hostPorts, waiting, returned, shared } = hostPortsOf(
    [{ name: EXTERNAL_LISTENER, wish: { strategy } }],
    {
      cluster: observed,
      recorded,
      given: () => kept,
      others: observed.otherHostPorts,
      used: portsInUse(observed),
      range: REDPANDA_HOST_PORTS,
    },
  );
  const port = waiting.length > 0 ? undefined : hostPorts.get(portKey(EXTERNAL_LISTENER, { strategy }));
  const isHad = port !== undefined && (strategy === 'range' || kept === port);
  return {
    hostPort: isHad ? port : inUse,
    ports: Object.fromEntries(hostPorts),
    reserved: strategy === 'reserve' ? port : undefined,
    isReturned: returned.length > 0,
    faults: shared.map((one) => sharedFault(one.port)),
  };
}

/** Of its pods, and of those that are about to be. */
function portsInUse({ pods, statefulSet }: Pick<Observed, 'pods' | 'statefulSet'>): Set<number> {
  const { template } = (statefulSet?.['spec'] ?? {}) as { template?: { spec?: object } };
  return new Set([...pods, template ?? {}].flatMap((one) => portsOfNode(one as AnyObject)));
}

const sharedFault = (port: number): Fault => ({
  reason: 'HostPortShared',
  path: [],
  message: `port ${port} of the nodes is used here and by another cluster, so a node has a broker of one of them only`,
});
