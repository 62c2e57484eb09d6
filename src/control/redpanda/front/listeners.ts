/** Where the brokers of a Redpanda cluster listen, checked. Pure. */
import type { RedpandaCluster } from '../../../resources/redpanda/cluster.ts';
import type { Fault } from '../faults.ts';
import { isOpen } from '../model.ts';
import type { Listener, RedpandaModel } from '../model.ts';
import { DEFAULT_PORTS } from '../names.ts';
import { PATH, invalid, isInternal, listenerOf, tlsFaults } from './api.ts';
import type { Api } from './api.ts';
import { externalOf } from './external.ts';
import type { ExternalWish } from './external.ts';

type Listeners = Pick<RedpandaModel, 'kafka' | 'admin' | 'rpcPort' | 'pandaproxy' | 'schemaRegistry'>;

export interface Reading {
  /** Inside. */
  listeners: Listeners;
  external: ExternalWish | undefined;
  faults: Fault[];
}

export function listenersOf(cluster: RedpandaCluster): Reading {
  const { configuration } = cluster.spec;
  const { kafkaApi = [], adminApi = [], pandaproxyApi = [], schemaRegistry, rpcServer } = configuration;
  const inside = (apis: readonly Api[]) => apis.filter(isInternal);
  const written = kafkaApi.flatMap((api, index) => (isInternal(api) ? [{ api, index }] : []));
  const kafka = written.length > 0 ? written : [{ api: {}, index: kafkaApi.length }];
  const [admin = {}] = inside(adminApi);
  const [pandaproxy] = inside(pandaproxyApi);
  const registry = schemaRegistry && isInternal(schemaRegistry) ? schemaRegistry : undefined;
  const listeners: Listeners = {
    kafka: kafka.map(({ api }, place) => kafkaListener(api, place === 0)),
    admin: ownListener(admin, 'admin', DEFAULT_PORTS.admin),
    rpcPort: rpcServer?.port ?? DEFAULT_PORTS.rpc,
    pandaproxy: pandaproxy && ownListener(pandaproxy, 'proxy', DEFAULT_PORTS.pandaproxy),
    schemaRegistry: registry && ownListener(registry, 'schema-registry', DEFAULT_PORTS.schemaRegistry),
  };
  const positions = kafka.map(({ index }) => index);
  const used = usedPorts(listeners, positions);
  const { wish: external, faults: externalFaults } = externalOf(
    cluster,
    used.map(([, port]) => port),
  );
  const several = [['adminApi', inside(adminApi)], ['pandaproxyApi', inside(pandaproxyApi)]] as const; // prettier-ignore
  return {
    listeners,
    external,
    faults: [
      ...several.flatMap(
        ([field, apis]) =>
        apis.length > 1 ? [invalid([field], 'there can be one listener that is not external; remove the others')] : [], // prettier-ignore
      ),
      ...nameFaults(listeners.kafka, positions, external),
      ...portFaults(used),
      ...kafka.flatMap(({ api, index }) => tlsFaults(api, ['kafkaApi', index])),
      ...clientFaults(cluster, listeners),
      ...unsupportedTls([['adminApi', admin], ['pandaproxyApi', pandaproxy], ['schemaRegistry', registry]]), // prettier-ignore
      ...externalFaults,
    ],
  };
}

/** The first one needs neither name nor port. */
const kafkaListener = (api: Api, isFirst: boolean): Listener =>
  listenerOf(api, isFirst ? 'kafka' : '', isFirst ? DEFAULT_PORTS.kafka : 0);

/** Of which there is one, so that it is called as we like. */
const ownListener = (api: Api, name: string, usualPort: number): Listener => ({
  ...listenerOf(api, name, usualPort),
  name,
});

/** Of ports that are there anyway. */
const RESERVED = new Set(['admin', 'rpc', 'proxy', 'schema-registry']);

/** Names become names of ports, volumes and folders. */
const NAME = /^[a-z][a-z0-9-]{0,13}[a-z0-9]$/;

function nameFaults(
  kafka: readonly Listener[],
  positions: readonly number[],
  external: ExternalWish | undefined,
): Fault[] {
  const all = [
    ...kafka.map(({ name }, place) => ({ name, index: positions[place]! })),
    ...(external ? [{ name: external.listener.name, index: external.index }] : []),
  ];
  const names = all.map(({ name }) => name);
  return all.flatMap(({ name, index }, place) => {
    if (!NAME.test(name))
      return [invalid(['kafkaApi', index, 'name'], 'write 2 to 15 lower-case letters, digits and dashes, beginning with a letter')]; // prettier-ignore
    if (names.indexOf(name) !== place || RESERVED.has(name))
      return [invalid(['kafkaApi', index, 'name'], `another port is called ${name}, too; choose another name`)]; // prettier-ignore
    return [];
  });
}

type UsedPort = readonly [field: string, port: number];

function usedPorts(
  { kafka, admin, rpcPort, pandaproxy, schemaRegistry }: Listeners,
  positions: readonly number[],
): UsedPort[] {
  return [
    ...kafka.map(({ port }, place) => [`kafkaApi.${positions[place]}.port`, port] as const),
    ['adminApi.port', admin.port] as const,
    ['rpcServer.port', rpcPort] as const,
    ...(pandaproxy ? [['pandaproxyApi.port', pandaproxy.port] as const] : []),
    ...(schemaRegistry ? [['schemaRegistry.port', schemaRegistry.port] as const] : []),
  ];
}

function portFaults(used: readonly UsedPort[]): Fault[] {
  return used.flatMap(([field, port], index) => {
    const path = field.split('.');
    if (port < 1 || port > 65_535) return [invalid(path, 'give the listener a port from 1 to 65535')];
    const other = used.slice(0, index).find(([, taken]) => taken === port);
    return other ? [invalid(path, `${other[0]} has port ${port}, too; choose another`)] : [];
  });
}

/** Pandaproxy and the schema registry are clients of Kafka, and have no credentials. */
function clientFaults({ spec }: RedpandaCluster, { kafka, pandaproxy, schemaRegistry }: Listeners): Fault[] {
  const needsLogin = ({ authentication }: Listener) => spec.enableSasl === true && authentication !== 'none';
  const isUsable = kafka.some((listener) => isOpen(listener) && !needsLogin(listener));
  if (isUsable || !(pandaproxy ?? schemaRegistry)) return [];
  const message =
    'pandaproxyApi and schemaRegistry need a listener in kafkaApi without TLS and authentication; add one, or remove them';
  return [{ reason: 'NotSupported', path: [...PATH, 'kafkaApi'], message }];
}

/** The operator asks the admin API, and brokers the others: by plain HTTP, so far. */
function unsupportedTls(apis: readonly (readonly [field: string, api: Api | undefined])[]): Fault[] {
  return apis.flatMap(([field, api]): Fault[] =>
    api?.tls?.enabled
      ? [{ reason: 'NotSupported', path: [...PATH, field, 'tls'], message: `${field}.tls is not supported; remove it` }] // prettier-ignore
      : [],
  );
}
