/** How clients outside of Kubernetes get to the brokers of a Redpanda cluster: a port of the nodes, and what leads there. Pure. */
import { isIPv6 } from 'node:net';
import type { AnyObject } from '../../kube/object.ts';
import type { NameGrant } from '../brokers/model/charter.ts';
import { UNPUBLISHED, addressFault } from '../brokers/expose/faults.ts';
import { internalFault, toldWithin } from '../brokers/expose/internal-addresses.ts';
import { withKept } from '../brokers/expose/kept-records.ts';
import { placedAmong } from '../brokers/expose/places.ts';
import { recordsByName } from '../brokers/expose/records.ts';
import type { Endpoint, PlacedBroker } from '../brokers/expose/records.ts';
import { portKeeper, publishedRecords } from '../brokers/objects/exposed.ts';
import { ownedByAnchor } from './anchor.ts';
import type { Fault } from './faults.ts';
import type { ExternalWish } from './front/external.ts';
import { grantNames, hostNamesOf } from './granted-names.ts';
import type { SeenNames } from './granted-names.ts';
import { brokerName, needsHostIP } from './host-names.ts';
import { givenPort, recordedPorts } from './host-port.ts';
import type { GivenPort } from './host-port.ts';
import { idsOf } from './model.ts';
import type { ExternalListener, RedpandaModel } from './model.ts';
import { externalName, podName } from './names.ts';
import { metadataOf } from './objects.ts';
import type { Observed } from './observe.ts';
import { recordedNames } from './recorded-names.ts';
import { brokerFacts } from './roll.ts';

export interface Exposed {
  /** With its external listener, once that has a port. */
  model: RedpandaModel;
  /** Ports of the nodes that are to be written down. */
  ports: Readonly<Record<string, number>>;
  /** Names that are to be written down. */
  grant: NameGrant | undefined;
  /** Whether its names lead nowhere for now. */
  isWithdrawn: boolean;
  /** What keeps the number, and what publishes names. */
  objects: AnyObject[];
  faults: Fault[];
}

export function exposed(observed: Observed, inside: RedpandaModel, wish: ExternalWish | undefined): Exposed {
  const nothing = { model: inside, grant: undefined, isWithdrawn: false, objects: recordsFor(observed, inside), faults: [] }; // prettier-ignore
  if (!wish) return { ...nothing, ports: recordedPorts(observed) };
  const { listener, strategy } = wish;
  const given = givenPort(observed, wish);
  const { ports } = given;
  const granted = listener.names && grantNames(listener.names, namesSeen(observed, inside));
  const grant = granted?.grant;
  const keepers = strategy === 'reserve' ? [keeperOf(observed, inside, listener.port, given)] : [];
  const nameFaults = [granted?.fault ?? []].flat();
  // Not without a name where one is wanted: clients would be told addresses.
  if (granted && !grant)
    return { ...nothing, ports, objects: [...keepers, ...nothing.objects], faults: nameFaults };
  const external =
    given.hostPort === undefined
      ? undefined
      : { ...listener, names: grant && hostNamesOf(grant), hostPort: given.hostPort };
  const model = { ...inside, external };
  const isWithdrawn = grant !== undefined && grant.since === undefined;
  return {
    model,
    ports,
    grant,
    isWithdrawn,
    objects: [...keepers, ...recordsFor(observed, model, isWithdrawn)],
    faults: [
      ...nameFaults,
      ...given.faults,
      ...(external ? faultsOf(observed, model, external) : [pendingFault(listener.name, strategy)]),
    ],
  };
}

/** It goes when the Cluster and its anchor have. */
function keeperOf(
  { anchor }: Observed,
  model: RedpandaModel,
  port: number,
  { reserved, isReturned }: GivenPort,
): AnyObject {
  const metadata = metadataOf(model, externalName(model.name));
  const ownerReferences = [...metadata.ownerReferences, ...ownedByAnchor(anchor)];
  return portKeeper({ ...metadata, ownerReferences }, port, reserved, isReturned);
}

function namesSeen(
  { names, anchor, statefulSet, now }: Observed,
  { namespace, name, replicas, uid }: RedpandaModel,
): SeenNames {
  const recorded = recordedNames(anchor, statefulSet, uid, now)?.grant;
  return { ...names, cluster: { namespace, name }, replicas, recorded, now };
}

const PENDING = {
  reserve: 'waits for the port that the API server gives to its Service',
  range:
    'has no port of the nodes yet; if that lasts, see whether this cluster has the kind RedpandaAnchor (isthmus install --roads redpanda has it)',
};

const pendingFault = (listener: string, strategy: ExternalWish['strategy']): Fault => ({
  reason: 'HostPortPending',
  path: [],
  message: `listener "${listener}" ${PENDING[strategy]}`,
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
    ...internalFault(name, toldWithin(observed.pods, podsByName(model), addressType)),
  ];
}

const podsByName = (model: RedpandaModel) => idsOf(model).map((id) => ({ id, pod: podName(model.name, id) }));

/** Where brokers are, by id. They listen on IPv4, so an address of the other family is a last resort, which the probe will speak of. */
export const placesOf = (
  { pods }: Pick<Observed, 'pods'>,
  model: RedpandaModel,
  addressType: string | undefined,
): PlacedBroker[] =>
  placedAmong(pods, podsByName(model), addressType, (pod) => brokerFacts(pod).ready).map((broker) => {
    const four = broker.addresses.filter((address) => !isIPv6(address));
    return four.length > 0 ? { ...broker, addresses: four } : broker;
  });

/** A broker's name; undefined while it depends on a place that the broker does not have. */
export function hostOf(
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

/** The records of brokers that have names, and a place; or had one when they were last published. */
export function recordsIn(
  observed: Pick<Observed, 'pods' | 'dnsEndpoint'>,
  model: RedpandaModel,
): Endpoint[] {
  const { external } = model;
  if (!external?.names) return [];
  const { bootstrap } = external.names;
  const nameOf = (id: number | 'bootstrap') => (id === 'bootstrap' ? bootstrap : hostOf(observed, model, id));
  const hosts = ['bootstrap' as const, ...idsOf(model)].flatMap((id) => nameOf(id) ?? []);
  const records = recordsByName(nameOf, placesOf(observed, model, external.addressType));
  return withKept(records, hosts, observed.dnsEndpoint);
}

/** Emptied rather than deleted where names go: whoever publishes them takes its records away. None where nobody takes them. */
function recordsFor(observed: Observed, model: RedpandaModel, isWithdrawn = false): AnyObject[] {
  const isWanted = model.external?.names !== undefined && !isWithdrawn;
  if (observed.dns !== 'present' || (!isWanted && !observed.dnsEndpoint)) return [];
  const records = isWanted ? recordsIn(observed, model) : [];
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
