/** How clients outside of Kubernetes get to the brokers of a Redpanda cluster: a port of the nodes, and what leads there. Pure. */
import { isIPv6 } from 'node:net';
import type { AnyObject } from '../../kube/object.ts';
import { UNPUBLISHED, addressFault } from '../brokers/expose/faults.ts';
import { placedAmong } from '../brokers/expose/places.ts';
import { recordsByName } from '../brokers/expose/records.ts';
import type { PlacedBroker } from '../brokers/expose/records.ts';
import { keptPort, portKeeper, publishedRecords } from '../brokers/objects/exposed.ts';
import type { Fault } from './faults.ts';
import type { ExternalWish } from './front/external.ts';
import { brokerName, needsHostIP } from './host-names.ts';
import { idsOf } from './model.ts';
import type { ExternalListener, RedpandaModel } from './model.ts';
import { HOST_PORT_ANNOTATION, externalName, podName } from './names.ts';
import { metadataOf } from './objects.ts';
import type { Observed } from './observe.ts';
import { brokerFacts } from './roll.ts';
import { hostPortIn } from './stateful-set.ts';

/** What was written down on the StatefulSet: the number stays the cluster's, also while nobody is let in by it. */
function recordedPort(statefulSet: AnyObject | undefined): number | undefined {
  const port = Number(statefulSet?.metadata.annotations?.[HOST_PORT_ANNOTATION]);
  return Number.isInteger(port) && port > 0 && port <= 65_535 ? port : undefined;
}

export interface Exposed {
  /** With its external listener, once that has a port. */
  model: RedpandaModel;
  /** To be written down; undefined if there never was one. */
  hostPort: number | undefined;
  /** What keeps the number, and what publishes names. */
  objects: AnyObject[];
  faults: Fault[];
}

export function exposed(observed: Observed, inside: RedpandaModel, wish: ExternalWish | undefined): Exposed {
  const recorded = recordedPort(observed.statefulSet);
  if (!wish) return { model: inside, hostPort: recorded, objects: recordsFor(observed, inside), faults: [] };
  const { listener, wantedPort } = wish;
  const kept = keptPort(observed.externalService);
  const reserved = wantedPort ?? recorded ?? kept;
  // It counts once the Service has it: it may be somebody else's. Brokers that have one go on with that.
  const hostPort = kept === reserved ? reserved : hostPortIn(observed.statefulSet);
  const external = hostPort === undefined ? undefined : { ...listener, hostPort };
  const model = { ...inside, external };
  const keeper = portKeeper(metadataOf(model, externalName(model.name)), listener.port, reserved);
  return {
    model,
    hostPort: hostPort ?? recorded,
    objects: [keeper, ...recordsFor(observed, model)],
    faults: external ? faultsOf(observed, model, external) : [pendingFault(listener.name)],
  };
}

const pendingFault = (listener: string): Fault => ({
  reason: 'HostPortPending',
  path: [],
  message: `listener "${listener}" waits for the port that the API server gives to its Service`,
});

function faultsOf(
  observed: Observed,
  model: RedpandaModel,
  { name, names, addressType }: ExternalListener,
): Fault[] {
  const lost = placesOf(observed, model, addressType).filter(({ addresses }) => addresses.length === 0);
  return [
    ...(names && observed.dns === 'absent' ? [UNPUBLISHED] : []),
    ...lost.map(({ id }) => addressFault(name, id)),
  ];
}

const placesOf = (
  { pods }: Pick<Observed, 'pods'>,
  model: RedpandaModel,
  addressType: string | undefined,
): PlacedBroker[] =>
  placedAmong(
    pods,
    idsOf(model).map((id) => ({ id, pod: podName(model.name, id) })),
    addressType,
    (pod) => brokerFacts(pod).ready,
  );

/** A broker's name; undefined while it depends on a place that the broker does not have. */
function hostOf(
  { pods }: Pick<Observed, 'pods'>,
  { name, external }: RedpandaModel,
  id: number,
): string | undefined {
  const names = external?.names;
  if (!names) return undefined;
  const pod = pods.find(({ metadata }) => metadata.name === podName(name, id));
  const { hostIP } = (pod?.['status'] ?? {}) as { hostIP?: string };
  if (needsHostIP(names) && hostIP === undefined) return undefined;
  return brokerName(names, id, hostIP ?? '');
}

/** Emptied rather than deleted where names go: whoever publishes them takes its records away. None where nobody takes them. */
function recordsFor(observed: Observed, model: RedpandaModel): AnyObject[] {
  const { external } = model;
  const isWanted = external?.names !== undefined;
  if (observed.dns !== 'present' || (!isWanted && !observed.dnsEndpoint)) return [];
  const nameOf = (id: number | 'bootstrap') =>
    id === 'bootstrap' ? external?.names?.bootstrap : hostOf(observed, model, id);
  const records = isWanted ? recordsByName(nameOf, placesOf(observed, model, external.addressType)) : [];
  return [publishedRecords(metadataOf(model, externalName(model.name)), records)];
}

/** What clients outside are told, as far as it is known: never a port without a host. */
export function externalNodes(observed: Pick<Observed, 'pods'>, model: RedpandaModel): object {
  const { external } = model;
  if (!external) return {};
  const { hostPort, names, addressType } = external;
  const told = names
    ? idsOf(model).map((id) => hostOf(observed, model, id))
    : placesOf(observed, model, addressType).map((broker) => broker.told);
  const port = { port: hostPort, protocol: 'TCP' };
  return {
    external: told.flatMap((host) =>
      host === undefined ? [] : [`${isIPv6(host) ? `[${host}]` : host}:${hostPort}`],
    ),
    // In the form that Redpanda's CRD has for it.
    ...(names && { externalBootstrap: { ingress: [{ hostname: names.bootstrap, ports: [port] }] } }),
  };
}
