/** What a listener asks for that brokers are to be reached by from outside. Pure. */
import { BlockList, isIPv6 } from 'node:net';
import { z } from 'zod';
import { canonicalName } from '../../../pki/alternative-names.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { configuration } from '../../../resources/strimzi/listener.ts';
import type { HostPortExposure, LoadBalancerExposure } from '../model/cluster.ts';
import { ID_TOKEN, exposedHost } from './names.ts';

type Written = NonNullable<Kafka['spec']['kafka']['listeners']>[number];
type Configuration = NonNullable<Written['configuration']>;

/** On a Kafka whose CRD knows no type `hostport`: the listener that is one, and its configuration as JSON. */
export const HOSTPORT_ANNOTATION = 'isthmus.dev/hostport';
export const CONFIGURATION_ANNOTATION = 'isthmus.dev/hostport-configuration';

/** The same of listeners of type `loadbalancer`, which every CRD knows, as JSON by listener; it goes before what the resource says. */
export const BALANCER_ANNOTATION = 'isthmus.dev/loadbalancer-configuration';

export type HostPortWish = Omit<HostPortExposure, 'port'>;
/** All but what is given later. */
export type ExposureWish = HostPortWish | Omit<LoadBalancerExposure, 'port' | 'addresses'>;

/** What is wrong, and with which field of the configuration. */
export interface WishProblem {
  field: string;
  message: string;
}

/** Undefined for a listener that is not exposed. */
export function exposureWish(
  { metadata }: Pick<Kafka, 'metadata'>,
  listener: Written,
): { wish: ExposureWish; problems: WishProblem[] } | undefined {
  const isMarked =
    metadata.annotations[HOSTPORT_ANNOTATION] === listener.name && listener.type === 'internal';
  const isBalanced = listener.type === 'loadbalancer';
  if (listener.type !== 'hostport' && !isBalanced && !isMarked) return undefined;
  const { read, problems } = isMarked
    ? annotated(metadata.annotations, CONFIGURATION_ANNOTATION, configuration)
    : { read: listener.configuration ?? {}, problems: [] };
  const more = isBalanced ? balancerConfigurations(metadata.annotations) : { read: {}, problems: [] };
  const asked = { ...read, ...(Object.hasOwn(more.read, listener.name) && more.read[listener.name]) };
  const { pattern, problems: nameProblems } = patternOf(metadata.name, asked);
  return {
    wish: {
      ...(isBalanced
        ? { by: 'loadbalancer' }
        : {
            by: 'hostport',
            strategy: asked.portStrategy ?? 'reserve',
            addressType: asked.preferredAddressType,
          }),
      hostPattern: pattern,
      allowedSources: asked.allowedSources ?? [],
    },
    problems: [...problems, ...more.problems, ...nameProblems, ...sourceProblems(asked)],
  };
}

type Annotations = Readonly<Record<string, string>>;

const byListener = z.record(z.string(), configuration);

/** What the annotation says of listeners behind load balancers, by name. */
export const balancerConfigurations = (annotations: Annotations) =>
  annotated(annotations, BALANCER_ANNOTATION, byListener);

const EXAMPLES = {
  [CONFIGURATION_ANNOTATION]: `a listener's configuration; correct it, e.g. {"subdomain": "kafka.example.com"}`,
  [BALANCER_ANNOTATION]: `configurations of listeners by name; correct it, e.g. {"external": {"allowedSources": ["192.0.2.0/24"]}}`,
};

function annotated<T extends object>(
  annotations: Annotations,
  name: keyof typeof EXAMPLES,
  schema: z.ZodType<T>,
): { read: Partial<T>; problems: WishProblem[] } {
  const text = annotations[name];
  if (text === undefined) return { read: {}, problems: [] };
  try {
    return { read: schema.parse(JSON.parse(text)), problems: [] };
  } catch {
    const message = `the annotation ${name} is not JSON of ${EXAMPLES[name]}`;
    return { read: {}, problems: [{ field: 'configuration', message }] };
  }
}

const LARGEST_ID = 2_147_483_647;

/** The names of brokers, of which only the id is left open. */
export function patternOf(
  cluster: string,
  { subdomain, hostPattern }: Pick<Configuration, 'subdomain' | 'hostPattern'>,
): { pattern: string | undefined; problems: WishProblem[] } {
  if (hostPattern === undefined && subdomain === undefined) return { pattern: undefined, problems: [] };
  const written = hostPattern ?? `${ID_TOKEN}.$(subdomain)`;
  const problem = (message: string) => ({
    pattern: undefined,
    problems: [{ field: hostPattern === undefined ? 'subdomain' : 'hostPattern', message }],
  });
  if (written.split(ID_TOKEN).length !== 2)
    return problem(`put ${ID_TOKEN} into it once: each broker needs a name of its own`);
  if (written.includes('$(subdomain)') && subdomain === undefined)
    return problem('it has $(subdomain) in it, and there is no subdomain; add one');
  const pattern = written
    .replaceAll('$(cluster)', cluster)
    .replaceAll('$(subdomain)', subdomain ?? '')
    .toLowerCase();
  const names = [exposedHost(pattern, LARGEST_ID), exposedHost(pattern, 'bootstrap')];
  const wrong = names.find((name) => canonicalName(name) !== name || !name.includes('.'));
  return wrong === undefined ? { pattern, problems: [] } : problem(`${wrong} is not a host name in a domain`);
}

function sourceProblems({ allowedSources = [] }: Configuration): WishProblem[] {
  return allowedSources
    .filter((network) => !isNetwork(network))
    .map((network) => ({
      field: 'allowedSources',
      message: `${network} is not a network; write one as in 192.0.2.0/24`,
    }));
}

function isNetwork(network: string): boolean {
  const [address = '', bits = ''] = network.split('/');
  try {
    new BlockList().addSubnet(address, Number(bits), isIPv6(address) ? 'ipv6' : 'ipv4');
    return true;
  } catch {
    return false;
  }
}
