/** The listener for clients outside of Kubernetes, checked. Pure. */
import { patternOf } from '../../brokers/expose/wish.ts';
import { canonicalName } from '../../../pki/alternative-names.ts';
import type { RedpandaCluster } from '../../../resources/redpanda/cluster.ts';
import type { Fault, Reason } from '../faults.ts';
import { brokerName } from '../host-names.ts';
import type { ExternalListener, HostNames } from '../model.ts';
import { EXTERNAL_LISTENER, STRATEGY_ANNOTATION, externalName } from '../names.ts';
import { readTemplate } from './endpoint-template.ts';
import { PATH, faultAt, isInternal, listenerOf, tlsFaults } from './api.ts';
import type { Api, Configuration, Path } from './api.ts';

export interface ExternalWish {
  /** All but the port of the nodes, which is given to it. */
  listener: Omit<ExternalListener, 'hostPort'>;
  /** Its place in `kafkaApi`. */
  index: number;
  /** What its owner wants for a port of the nodes. */
  wantedPort: number | undefined;
  /** Where the port of the nodes comes from. */
  strategy: 'reserve' | 'range';
}

/** `taken`: ports that the brokers have for something else; the first one is that of Kafka inside. */
export function externalOf(
  { metadata, spec }: RedpandaCluster,
  taken: readonly number[],
): { wish: ExternalWish | undefined; faults: Fault[] } {
  const { kafkaApi = [] } = spec.configuration;
  const [first, second] = kafkaApi.flatMap((api, index) => (isInternal(api) ? [] : [{ api, index }]));
  const others = otherFaults(spec.configuration);
  if (!first) return { wish: undefined, faults: others };
  const { api, index } = first;
  const at = ['kafkaApi', index] as const;
  const { strategy, faults: strategyFaults } = strategyOf(metadata.annotations, api, at);
  const { names, faults: nameFaults } = namesOf(metadata.name, api, [...at, 'external']);
  const wish: ExternalWish = {
    listener: {
      ...listenerOf(api, EXTERNAL_LISTENER, 0),
      port: freePort(taken),
      names,
      addressType: api.external?.preferredAddressType,
    },
    index,
    wantedPort: api.port || undefined,
    strategy,
  };
  const faults = [
    ...others,
    ...(second ? [faultAt('NotSupported', ['kafkaApi', second.index, 'external'], 'there can be one external listener; remove the others')] : []), // prettier-ignore
    ...lengthFaults(metadata.name),
    ...portFaults(api, at),
    ...strategyFaults,
    ...nameFaults,
    ...tlsFaults(api, at),
    ...(api.tls?.enabled && !names ? [faultAt('Invalid', [...at, 'tls'], 'add a subdomain: the certificate has to fit what clients are told')] : []), // prettier-ignore
    ...unsupported(api, [...at, 'external']),
  ];
  return { wish, faults };
}

const FIRST_PORT = 1024;
const LAST_PORT = 65_535;

/** In the pod: the next one after Kafka's inside that is free, as Redpanda's own operator has it. */
function freePort([inside = 0, ...others]: readonly number[]): number {
  const after = (port: number) => (port >= LAST_PORT ? FIRST_PORT : port + 1);
  let port = after(inside);
  while (others.includes(port)) port = after(port);
  return port;
}

const NODE_PORTS = { first: 30_000, last: 32_767 };

function portFaults({ port = 0 }: Api, at: Path): Fault[] {
  if (port === 0 || (port >= NODE_PORTS.first && port <= NODE_PORTS.last)) return [];
  const message = `this is the port of the nodes: leave it out, or name one from ${NODE_PORTS.first} to ${NODE_PORTS.last}`;
  return [faultAt('Invalid', [...at, 'port'], message)];
}

/** Redpanda's own CRD drops `portStrategy`, so an annotation may say it, too. */
function strategyOf(
  annotations: Readonly<Record<string, string>>,
  { external, port = 0 }: Api,
  at: Path,
): { strategy: 'reserve' | 'range'; faults: Fault[] } {
  const written = external?.portStrategy ?? annotations[STRATEGY_ANNOTATION] ?? 'reserve';
  if (written !== 'range' && written !== 'reserve')
    return {
      strategy: 'reserve',
      faults: [faultAt('Invalid', [...at, 'external', 'portStrategy'], `write reserve or range into ${STRATEGY_ANNOTATION}`)], // prettier-ignore
    };
  const isBoth = written === 'range' && port !== 0;
  const both = 'remove it: with portStrategy range the operator chooses the port';
  return { strategy: written, faults: isBoth ? [faultAt('Invalid', [...at, 'port'], both)] : [] };
}

const MAX_SERVICE_NAME = 63;

function lengthFaults(name: string): Fault[] {
  if (externalName(name).length <= MAX_SERVICE_NAME) return [];
  const message = 'metadata.name: to be reached from outside, use at most 54 characters';
  return [{ reason: 'Invalid', path: ['metadata', 'name'], message }];
}

const LARGEST_ID = 100_000;
const LONGEST_IP = '255.255.255.255';
/** As much of what brokers are called as an anchor holds. */
const LONGEST_PATTERN = 300;

function namesOf(
  cluster: string,
  { external = { enabled: false } }: Api,
  at: Path,
): { names: HostNames | undefined; faults: Fault[] } {
  const { subdomain, hostPattern, endpointTemplate } = external;
  if (endpointTemplate === undefined) {
    const { pattern, problems } = patternOf(cluster, {
      ...(subdomain !== undefined && { subdomain }),
      ...(hostPattern !== undefined && { hostPattern }),
    });
    const faults = problems.map(({ field, message }) => faultAt('Invalid', [...at, field], message));
    return { names: pattern === undefined ? undefined : namesBy(pattern), faults };
  }
  const wrong = (reason: Reason, message: string) => ({
    names: undefined,
    faults: [faultAt(reason, [...at, 'endpointTemplate'], message)],
  });
  if (hostPattern !== undefined) return wrong('Invalid', 'remove it or hostPattern: both name the brokers');
  if (subdomain === undefined)
    return wrong('Invalid', 'add a subdomain: it makes only the first part of a name');
  const read = readTemplate(endpointTemplate);
  if ('problem' in read) return wrong('NotSupported', read.problem);
  const zone = subdomain.toLowerCase();
  const names = { broker: `${read.pattern}.${zone}`, bootstrap: `bootstrap.${zone}` };
  const longest = brokerName(names, LARGEST_ID, LONGEST_IP);
  if (canonicalName(longest) !== longest) return wrong('Invalid', `${longest} is not a host name`);
  if (names.broker.length > LONGEST_PATTERN) return wrong('Invalid', 'use fewer actions in it');
  return { names, faults: [] };
}

const namesBy = (pattern: string): HostNames => ({
  broker: pattern,
  bootstrap: pattern.replaceAll('$(id)', 'bootstrap'),
});

function unsupported({ external }: Api, at: Path): Fault[] {
  const has = (field: string) => external?.[field] !== undefined && external[field] !== false;
  return [
    ...(has('portTemplate') ? [faultAt('NotSupported', [...at, 'portTemplate'], 'all brokers have the same port, each on its node; remove it')] : []), // prettier-ignore
    ...(['excludeFromService', 'bootstrapLoadBalancer'].flatMap((field) => has(field) ? [faultAt('FieldIgnored', [...at, field], 'has no effect')] : [])), // prettier-ignore
  ];
}

/** Kafka is exposed, and nothing else. */
function otherFaults({ adminApi = [], pandaproxyApi = [], schemaRegistry }: Configuration): Fault[] {
  const apis: readonly [field: string, apis: readonly Api[]][] = [
    ['adminApi', adminApi],
    ['pandaproxyApi', pandaproxyApi],
    ['schemaRegistry', schemaRegistry ? [schemaRegistry] : []],
  ];
  const external = apis.flatMap(([field, its]) => (its.every(isInternal) ? [] : [field]));
  if (external.length === 0) return [];
  const message = `external connectivity of ${external.join(', ')} has no effect: only kafkaApi is reached from outside`;
  return [{ reason: 'FieldIgnored', path: [...PATH, external[0]!], message }];
}
