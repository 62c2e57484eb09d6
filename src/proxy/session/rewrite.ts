import { apiOf } from '../../kafka/apis.ts';
import type { ApiName } from '../../kafka/apis.ts';
import { ERRORS } from '../../kafka/errors.ts';
import type { Responses } from '../../kafka/schemas/types.ts';
import { findNodeEndpoints, readNodeEndpoints, writeNodeEndpoints } from '../../kafka/skim.ts';
import type { NodeEndpoint } from '../../kafka/skim.ts';
import type { Addressing } from '../cluster/addressing.ts';
import type { Address } from '../config/model.ts';

/** Puts the gateway's addresses in place of the brokers' own, in every response that has any. */

/** What a response said of the brokers. */
export interface Seen {
  /** Where they really are. */
  nodes: [number, Address][];
  /** Those for which the gateway has no address. */
  unadvertised: number[];
}

const COORDINATOR_NOT_AVAILABLE = ERRORS.COORDINATOR_NOT_AVAILABLE.code;

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
    response.brokers = response.brokers.filter((broker) =>
      readdress(broker, broker.brokerId, addressing, seen),
    );
  },
  FindCoordinator(response, addressing, seen) {
    const all = response.coordinators.length > 0 ? response.coordinators : [response];
    for (const coordinator of all) {
      if (coordinator.errorCode !== 0 || readdress(coordinator, coordinator.nodeId, addressing, seen))
        continue;
      coordinator.errorCode = COORDINATOR_NOT_AVAILABLE;
      Object.assign(coordinator, { nodeId: -1, host: '', port: -1 });
    }
  },
};

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
 * Takes what we cannot carry out of an ApiVersions response. APIs that are decoded here end at the newest version that
 * we know; all others pass as they are, known or not. The lower ends stay, also where we refuse what they promise:
 * old clients conclude from them what a broker can do (KAFKA-18659; librdkafka and SaslHandshake v0).
 */
export function restrictVersions(
  response: Responses['ApiVersions'],
  isDecoded: (apiKey: number) => boolean,
  unknownApis: 'pass' | 'refuse',
): void {
  response.apiKeys = response.apiKeys.filter((entry) => {
    const known = apiOf(entry.apiKey);
    if (!known) return unknownApis === 'pass';
    if (isDecoded(entry.apiKey)) entry.maxVersion = Math.min(entry.maxVersion, known.max);
    return entry.minVersion <= entry.maxVersion;
  });
}
