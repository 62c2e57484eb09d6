/** Takes the way of a Kafka client from outside to one endpoint, and says how far it came. */
import { isIPv6 } from 'node:net';
import type { LookupFunction } from 'node:net';
import { checkServerIdentity } from 'node:tls';
import type { ConnectionOptions, PeerCertificate } from 'node:tls';
import { connectKafka } from '../kafka/client.ts';
import type { Credentials, KafkaClient } from '../kafka/client.ts';
import { ERRORS, errorOf } from '../kafka/errors.ts';
import { messageOf } from '../ops/errors.ts';
import type { Broker, Passed, ProbedAddress, ProbedEndpoint, Step } from './probed.ts';
import type { Resolve } from './resolve.ts';

export interface ProbeOptions {
  resolve: Resolve;
  tls?: ConnectionOptions | undefined;
  sasl?: Credentials | undefined;
  /** Whoever has signed a certificate is taken; its names and dates are looked at all the same. Never with a login. */
  anyAuthority?: boolean;
  /** Ends when a broker has answered at all: for a listener that takes a login which nobody here has. */
  withoutLogin?: boolean;
  /** Ends with the TLS handshake, whatever comes after it: for a listener that wants a certificate which nobody here has. */
  withoutCertificate?: boolean;
  /** For the whole way to one address. */
  timeoutMs: number;
  /** Why an address is not to be connected to; each is, if left out. */
  refusal?: (address: string) => string | undefined;
}

export interface Endpoint {
  host: string;
  port: number;
  nodeId?: number;
}

/** What the cluster says of itself there. */
export interface SeenCluster {
  clusterId: string | null;
  brokers: readonly Broker[];
}

/** More of a name would be somebody's mistake, and each is connected to. */
const MOST_ADDRESSES = 16;
const BROKER_RESOURCE = 4;

/** Probes every address that the name has. `onCluster` gets what each that is reached says of the cluster. */
export async function probeEndpoint(
  endpoint: Endpoint,
  options: ProbeOptions,
  onCluster: (seen: SeenCluster) => void = () => {},
): Promise<ProbedEndpoint> {
  const started = performance.now();
  const took = () => performance.now() - started;
  try {
    const found = await options.resolve(endpoint.host);
    const resolveMs = took();
    const tried = [...new Set(found)].slice(0, MOST_ADDRESSES);
    const addresses = await Promise.all(
      tried.map((address) => probeAddress(endpoint, address, options, onCluster)),
    );
    return { ...endpoint, resolveMs, addresses };
  } catch (error) {
    return { ...endpoint, resolveMs: took(), unresolved: messageOf(error), addresses: [] };
  }
}

async function probeAddress(
  endpoint: Endpoint,
  address: string,
  options: ProbeOptions,
  onCluster: (seen: SeenCluster) => void,
): Promise<ProbedAddress> {
  const refused = options.refusal?.(address);
  if (refused !== undefined) return { address, passed: [], failed: { step: 'connect', problem: refused } };
  const passed: Passed[] = [];
  let since = performance.now();
  const pass = (step: Step) => {
    passed.push({ step, ms: performance.now() - since });
    since = performance.now();
  };
  let client: KafkaClient | undefined;
  try {
    client = await connectKafka({
      host: endpoint.host,
      port: endpoint.port,
      lookup: always(address),
      ...tlsFor(endpoint, options),
      ...(options.sasl && { sasl: options.sasl }),
      clientId: 'isthmus-probe',
      connectTimeoutMs: options.timeoutMs,
      requestTimeoutMs: options.timeoutMs,
      onStage: pass,
    });
    if (options.withoutLogin) return { address, passed };
    const { clusterId, brokers } = await client.metadata([]);
    pass('metadata');
    onCluster({ clusterId, brokers });
    if (endpoint.nodeId !== undefined && (await requireIdentity(client, endpoint.nodeId))) pass('identity');
    return { address, passed };
  } catch (error) {
    if (options.withoutCertificate && passed.some((done) => done.step === 'tls')) return { address, passed };
    const step = stepsOf(endpoint, options).find((one) => !passed.some((done) => done.step === one))!;
    return { address, passed, failed: { step, problem: messageOf(error) } };
  } finally {
    client?.close();
  }
}

function tlsFor({ host }: Endpoint, { tls, anyAuthority }: ProbeOptions) {
  if (!tls) return {};
  if (!anyAuthority) return { tls };
  return {
    tls: { ...tls, rejectUnauthorized: false },
    checkPeer: (certificate: PeerCertificate) =>
      datesProblem(certificate) ?? checkServerIdentity(host, certificate),
  };
}

function datesProblem({ valid_from: from, valid_to: to }: PeerCertificate): Error | undefined {
  const now = Date.now();
  if (now > Date.parse(to)) return new Error(`the certificate has ended on ${to}`);
  return now < Date.parse(from) ? new Error(`the certificate is good from ${from} on`) : undefined;
}

function stepsOf({ nodeId }: Endpoint, { tls, sasl, withoutLogin = false }: ProbeOptions): Step[] {
  const isTaken: Record<Step, boolean> = {
    connect: true,
    tls: tls !== undefined,
    versions: true,
    login: sasl !== undefined,
    metadata: !withoutLogin,
    identity: !withoutLogin && nodeId !== undefined,
  };
  return (Object.keys(isTaken) as Step[]).filter((step) => isTaken[step]);
}

/** The host stays the one that was asked for, so that its certificate is held against the name. */
const always =
  (address: string): LookupFunction =>
  (_host, { all }, callback) => {
    const family = isIPv6(address) ? 6 : 4;
    if (all) callback(null, [{ address, family }]);
    else callback(null, address, family);
  };

/**
 * A broker answers for its own configuration alone. So it shows which one it is: a name that still leads to where the broker was
 * connects well, to another one. False where it cannot be told, for want of rights.
 */
async function requireIdentity(client: KafkaClient, nodeId: number): Promise<boolean> {
  if (client.versionOf('DescribeConfigs') === undefined) return false;
  const resource = {
    resourceType: BROKER_RESOURCE,
    resourceName: String(nodeId),
    configurationKeys: ['node.id'],
  };
  const { results } = await client.request('DescribeConfigs', { resources: [resource] });
  const { errorCode = 0, errorMessage } = results[0] ?? {};
  if (errorCode === ERRORS.INVALID_REQUEST.code)
    throw new Error(`another broker answers there: ${errorMessage ?? errorOf(errorCode).name}`);
  return errorCode === 0;
}
