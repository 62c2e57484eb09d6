/** Requests as they are shown to whoever looks on. Only called while somebody does. */
import { apiOf } from '../../kafka/apis.ts';
import { firstTopic } from '../../kafka/first-topic.ts';
import { decodeRequestHeader } from '../../kafka/frame.ts';
import { MalformedMessage } from '../../kafka/malformed.ts';
import type { TapEntry } from '../cluster/tap.ts';
import type { ConnectionInfo } from './connection-info.ts';

/** A client id may be as long as it likes; nobody reads more. */
const MAX_CLIENT_ID = 64;
/** Kafka's own limit. */
const MAX_TOPIC = 249;

/** The request that begins (with its length) at `at`, of which the bytes up to `end` are known. */
export function tappedRequest(info: ConnectionInfo, bytes: Buffer, at: number, end: number): TapEntry {
  const apiKey = bytes.readInt16BE(at + 4);
  const apiVersion = bytes.readInt16BE(at + 6);
  const entry = {
    ...tappedConnection(info),
    api: apiOf(apiKey)?.name ?? String(apiKey),
    apiVersion,
    requestBytes: bytes.readInt32BE(at) + 4,
  };
  try {
    const header = decodeRequestHeader(bytes, at + 4, end);
    const topic = firstTopic(apiKey, apiVersion, bytes, header.end, end);
    const { topicNames } = info.cluster;
    return {
      ...entry,
      clientId: header.clientId?.slice(0, MAX_CLIENT_ID),
      topic:
        topic && ('id' in topic ? (topicNames.get(topic.id) ?? topic.id) : topic.name.slice(0, MAX_TOPIC)),
    };
  } catch (error) {
    // The head comes in pieces; the request is shown without what is in the others.
    if (error instanceof MalformedMessage) return entry;
    throw error;
  }
}

/** A connection, without any request of it. */
export function tappedConnection({ cluster, clientAddress, principal }: ConnectionInfo): TapEntry {
  return {
    at: Date.now(),
    virtualCluster: cluster.config.name,
    client: clientAddress,
    principal,
    clientId: undefined,
    api: undefined,
    apiVersion: undefined,
    topic: undefined,
    verdict: 'forwarded',
    reason: undefined,
    latencyMs: undefined,
    requestBytes: 0,
    responseBytes: 0,
  };
}
