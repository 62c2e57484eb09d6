/** Where the brokers of a Redpanda cluster listen, checked. Pure. */
import type { RedpandaCluster } from '../../../resources/redpanda/cluster.ts';
import type { Fault } from '../faults.ts';
import { isOpen } from '../model.ts';
import type { Listener, RedpandaModel } from '../model.ts';
import { DEFAULT_PORTS } from '../names.ts';

type Configuration = RedpandaCluster['spec']['configuration'];
type Api = NonNullable<Configuration['kafkaApi']>[number];

type Listeners = Pick<RedpandaModel, 'kafka' | 'admin' | 'rpcPort' | 'pandaproxy' | 'schemaRegistry'>;

const PATH = ['spec', 'configuration'] as const;

const invalid = (path: readonly (string | number)[], message: string): Fault => ({
  reason: 'Invalid',
  path: [...PATH, ...path],
  message: `${path.join('.')}: ${message}`,
});

/** Those for outside are told of, and left out. */
const isInternal = ({ external }: Api) => external?.enabled !== true;

export function listenersOf(cluster: RedpandaCluster): { listeners: Listeners; faults: Fault[] } {
  const { configuration } = cluster.spec;
  const { kafkaApi = [], adminApi = [], pandaproxyApi = [], schemaRegistry, rpcServer } = configuration;
  const inside = (apis: readonly Api[]) => apis.filter(isInternal);
  const kafka = kafkaApi.some(isInternal) ? inside(kafkaApi) : [{}];
  const [admin = {}] = inside(adminApi);
  const [pandaproxy] = inside(pandaproxyApi);
  const registry = schemaRegistry && isInternal(schemaRegistry) ? schemaRegistry : undefined;
  const listeners: Listeners = {
    kafka: kafka.map((api, index) => kafkaListener(api, index === 0)),
    admin: listenerOf(admin, 'admin', DEFAULT_PORTS.admin),
    rpcPort: rpcServer?.port ?? DEFAULT_PORTS.rpc,
    pandaproxy: pandaproxy && listenerOf(pandaproxy, 'proxy', DEFAULT_PORTS.pandaproxy),
    schemaRegistry: registry && listenerOf(registry, 'schema-registry', DEFAULT_PORTS.schemaRegistry),
  };
  const several = [['adminApi', inside(adminApi)], ['pandaproxyApi', inside(pandaproxyApi)]] as const; // prettier-ignore
  return {
    listeners,
    faults: [
      ...several.flatMap(
        ([field, apis]) =>
        apis.length > 1 ? [invalid([field], 'there can be one listener that is not external; remove the others')] : [], // prettier-ignore
      ),
      ...nameFaults(listeners.kafka),
      ...portFaults(listeners),
      ...kafka.flatMap((api, index) => tlsFaults(api, ['kafkaApi', index])),
      ...clientFaults(cluster, listeners),
      ...unsupportedTls([['adminApi', admin], ['pandaproxyApi', pandaproxy], ['schemaRegistry', registry]]), // prettier-ignore
      ...externalFaults(configuration),
    ],
  };
}

function listenerOf({ port, authenticationMethod, tls }: Api, name: string, usualPort: number): Listener {
  const { enabled, nodeSecretRef, requireClientAuth, clientCACertRef } = tls ?? {};
  return {
    name,
    port: port || usualPort,
    authentication: authenticationMethod || undefined,
    tls:
      enabled && nodeSecretRef
        ? { secret: nodeSecretRef.name, clientCa: requireClientAuth ? clientCACertRef?.name : undefined }
        : undefined,
  };
}

/** The first one needs neither name nor port. */
function kafkaListener(api: Api, isFirst: boolean): Listener {
  const listener = listenerOf(api, isFirst ? 'kafka' : '', isFirst ? DEFAULT_PORTS.kafka : 0);
  return { ...listener, name: api.name || listener.name };
}

/** Of ports that are there anyway. */
const RESERVED = new Set(['admin', 'rpc', 'proxy', 'schema-registry']);

/** Names become names of ports, volumes and folders. */
const NAME = /^[a-z][a-z0-9-]{0,13}[a-z0-9]$/;

function nameFaults(kafka: readonly Listener[]): Fault[] {
  const names = kafka.map(({ name }) => name);
  return names.flatMap((name, index) => {
    if (!NAME.test(name))
      return [invalid(['kafkaApi', index, 'name'], 'write 2 to 15 lower-case letters, digits and dashes, beginning with a letter')]; // prettier-ignore
    if (names.indexOf(name) !== index || RESERVED.has(name))
      return [invalid(['kafkaApi', index, 'name'], `another port is called ${name}, too; choose another name`)]; // prettier-ignore
    return [];
  });
}

function portFaults({ kafka, admin, rpcPort, pandaproxy, schemaRegistry }: Listeners): Fault[] {
  const used = [
    ...kafka.map(({ port }, index) => [`kafkaApi.${index}.port`, port] as const),
    ['adminApi.port', admin.port] as const,
    ['rpcServer.port', rpcPort] as const,
    ...(pandaproxy ? [['pandaproxyApi.port', pandaproxy.port] as const] : []),
    ...(schemaRegistry ? [['schemaRegistry.port', schemaRegistry.port] as const] : []),
  ];
  return used.flatMap(([field, port], index) => {
    const path = field.split('.');
    if (port < 1 || port > 65_535) return [invalid(path, 'give the listener a port from 1 to 65535')];
    const other = used.slice(0, index).find(([, taken]) => taken === port);
    return other ? [invalid(path, `${other[0]} has port ${port}, too; choose another`)] : [];
  });
}

function tlsFaults({ tls }: Api, path: readonly (string | number)[]): Fault[] {
  if (tls?.enabled !== true) return [];
  const at = (field: string, message: string) => [invalid([...path, 'tls', field], message)];
  return [
    ...(tls.nodeSecretRef ? [] : at('nodeSecretRef', 'name the Secret with tls.crt and tls.key of the brokers: certificates are not made here')), // prettier-ignore
    ...(tls.requireClientAuth && !tls.clientCACertRef ? at('clientCACertRef', 'name the Secret with ca.crt, the authority of clients’ certificates') : []), // prettier-ignore
  ];
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

function externalFaults({
  kafkaApi = [],
  adminApi = [],
  pandaproxyApi = [],
  schemaRegistry,
}: Configuration): Fault[] {
  const apis: readonly [field: string, apis: readonly Api[]][] = [
    ['kafkaApi', kafkaApi],
    ['adminApi', adminApi],
    ['pandaproxyApi', pandaproxyApi],
    ['schemaRegistry', schemaRegistry ? [schemaRegistry] : []],
  ];
  const external = apis.flatMap(([field, its]) => (its.every(isInternal) ? [] : [field]));
  if (external.length === 0) return [];
  const message = `external connectivity (${external.join(', ')}) has no effect yet: brokers are reached inside the cluster only`;
  return [{ reason: 'FieldIgnored', path: [...PATH, external[0]!], message }];
}
