import type { ApiName } from '../../kafka/apis.ts';
import { ERRORS } from '../../kafka/errors.ts';
import type { Responses } from '../../kafka/schemas/types.ts';
import { findNodeEndpoints, readNodeEndpoints, writeNodeEndpoints } from '../../kafka/skim.ts';
import type { NodeEndpoint } from '../../kafka/skim.ts';
import type { Addressing } from '../cluster/addressing.ts';
import type { Address } from '../config/model.ts';
import { newestServed } from './served-apis.ts';

/** Puts the gateway's addresses in place of the brokers' own, in every response that has any. */

/** What a response said of the brokers. */
export interface Seen {
  /** Where they really are. */
  nodes: [number, Address][];
  /** Those for which the gateway has no address. */
  unadvertised: number[];
}

const COORDINATOR_NOT_AVAILABLE = ERRORS.COORDINATOR_NOT_AVAILABLE.code;
/** A type of endpoint (KIP-919). */
const CONTROLLERS = 2;
/** A type of resource that has settings. */
const BROKER = 4;
/** Settings of brokers whose values are addresses, also those of plugins and of brokers before Kafka 4. */
const ADDRESS_SETTING = /(^|\.)(listeners|voters|bootstrap\.servers|zookeeper\.connect|host\.name|port)$/;

interface Broker {
  host: string;
  port: number;
}

/** Gives a broker its new address; false if there is none for it. */
function readdress(broker: Broker, node: number, addressing: Addressing, seen: Seen): boolean {
  seen.nodes.push([node, { host: broker.host, port: broker.port }]);
  const address = addressing.advertise(node);
  if (!address) {
    seen.unadvertised.push(node);
    return false;
  }
  broker.host = address.host;
  broker.port = address.port;
  return true;
}

type Rewrites = {
  [Name in ApiName]?: (response: Responses[Name], addressing: Addressing, seen: Seen) => void;
};

/**
 * A broker without an address is left out of the list, and so harms nobody else: its partitions stay as they are, and
 * clients take an unknown leader for one that is not available. A coordinator without an address is "not available".
 */
const REWRITES: Rewrites = {
  Metadata(response, addressing, seen) {
    response.brokers = response.brokers.filter((broker) =>
      readdress(broker, broker.nodeId, addressing, seen),
    );
  },
  DescribeCluster(response, addressing, seen) {
    // Controllers have no address here, and their ids are not those of brokers.
    if (response.endpointType === CONTROLLERS) response.brokers = [];
    response.brokers = response.brokers.filter((broker) =>
      readdress(broker, broker.brokerId, addressing, seen),
    );
  },
  FindCoordinator(response, addressing, seen) {
    const all = response.coordinators.length > 0 ? response.coordinators : [response];
    for (const coordinator of all) {
      if (coordinator.errorCode === 0) {
        if (readdress(coordinator, coordinator.nodeId, addressing, seen)) continue;
        coordinator.errorCode = COORDINATOR_NOT_AVAILABLE;
      }
      Object.assign(coordinator, { nodeId: -1, host: '', port: -1 });
    }
  },
  /** The quorum's listeners are for brokers and controllers. */
  DescribeQuorum(response) {
    for (const node of response.nodes) node.listeners = [];
  },
  DescribeConfigs(response) {
    for (const { resourceType, configs } of response.results)
      if (resourceType === BROKER)
        configs.filter(({ name }) => ADDRESS_SETTING.test(name)).forEach(hideValue);
  },
};

/** As brokers hide passwords. */
function hideValue(config: Responses['DescribeConfigs']['results'][0]['configs'][0]): void {
  config.value = null;
  config.isSensitive = true;
  for (const synonym of config.synonyms) synonym.value = null;
}

/** The APIs whose responses are always decoded, because they may have addresses in the midst of them. */
export const REWRITTEN = Object.keys(REWRITES) as ApiName[];

type Rewrite = (response: unknown, addressing: Addressing, seen: Seen) => void;

/** Rewrites a decoded response in place. */
export function rewriteAddresses(api: ApiName, response: Responses[ApiName], addressing: Addressing): Seen {
  const seen: Seen = { nodes: [], unadvertised: [] };
  (REWRITES[api] as Rewrite | undefined)?.(response, addressing, seen);
  if ('nodeEndpoints' in response && response.nodeEndpoints) {
    const endpoints = response.nodeEndpoints as NodeEndpoint[];
    response.nodeEndpoints = endpoints.filter((each) => readdress(each, each.nodeId, addressing, seen));
  }
  return seen;
}

/** Rewrites the node endpoints of a whole frame whose body begins at `body`; undefined if it has none. */
export function rewriteEndpoints(
  apiKey: number,
  apiVersion: number,
  frame: Buffer,
  body: number,
  addressing: Addressing,
): { frame: Buffer; seen: Seen } | undefined {
  const span = findNodeEndpoints(apiKey, apiVersion, frame, body);
  if (!span) return undefined;
  const seen: Seen = { nodes: [], unadvertised: [] };
  const endpoints = readNodeEndpoints(apiKey, apiVersion, frame, span).filter((endpoint) =>
    readdress(endpoint, endpoint.nodeId, addressing, seen),
  );
  const { from, bytes } = writeNodeEndpoints(apiKey, apiVersion, span, endpoints);
  const rewritten = Buffer.concat([frame.subarray(0, from), bytes, frame.subarray(span.end)]);
  rewritten.writeInt32BE(rewritten.length - 4, 0);
  return { frame: rewritten, seen };
}

/**
 * Takes what we cannot carry out of an ApiVersions response, and ends every API at the newest version that may be used;
 * APIs that are decoded here, at the newest that we know or that filters want. The lower ends stay, also where we refuse what they promise:
 * old clients conclude from them what a broker can do (KAFKA-18659; librdkafka and SaslHandshake v0).
 */
export function restrictVersions(
  response: Responses['ApiVersions'],
  isDecoded: (apiKey: number) => boolean,
  unknownApis: 'pass' | 'refuse',
  newestWanted: (apiKey: number) => number = () => Infinity,
): void {
  response.apiKeys = response.apiKeys.filter((entry) => {
    const newest = newestServed(entry.apiKey, isDecoded(entry.apiKey) ? 'refuse' : unknownApis);
    if (newest === undefined) return false;
    entry.maxVersion = Math.min(entry.maxVersion, newest, newestWanted(entry.apiKey));
    return entry.minVersion <= entry.maxVersion;
  });
}
