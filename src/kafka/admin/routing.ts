import { setTimeout as sleep } from 'node:timers/promises';
import { IsthmusError } from '../../ops/errors.ts';
import type { ApiName } from '../apis.ts';
import type { KafkaClient } from '../client.ts';
import type { Draft } from '../codec.ts';
import { ERRORS } from '../errors.ts';
import type { Requests, Responses } from '../schemas/types.ts';
import { answerOf, faultOf } from './answer.ts';
import type { Answer } from './answer.ts';
import { addressText } from './connections.ts';
import type { Address, Connections } from './connections.ts';

/** Which node has to answer; any, if nothing is said. */
export type Destination = { node: number } | { group: string } | { transaction: string };

/** Says where a node that advertises itself as `host:port` is reached; undefined if it is not to be connected to. */
export type AddressOf = (nodeId: number, host: string, port: number) => Address | undefined;

export interface RoutingOptions {
  bootstrap: readonly Address[];
  /** What the bootstrap addresses are: listeners of brokers, or those of controllers (KIP-919). */
  endpoints: 'brokers' | 'controllers';
  addressOf: AddressOf;
  /** For a call with all its attempts. No attempt begins after it. */
  callTimeoutMs: number;
  /** Told of each request that is sent, those that only find nodes included. */
  onRequest?: OnRequest | undefined;
}

export type OnRequest = (api: ApiName) => void;

/**
 * Sends a request to whom it concerns. Error codes in the response are the caller's; a node that does not have the API is
 * UNSUPPORTED_VERSION. Rejects where nobody can be reached, or the answer to a change was lost: then it may have been made.
 */
export type Send = <Name extends ApiName>(
  api: Name,
  body: Draft<Requests[Name]>,
  to?: Destination,
) => Promise<Answer<Responses[Name]>>;

const ENDPOINT_TYPE = { brokers: 1, controllers: 2 };
const ELECTION_PAUSE_MS = 200;
/** What a coordinator is of. */
const GROUP = 0;
const TRANSACTION = 1;

/** Requests that change nothing are sent again, elsewhere, when an answer is lost. */
const CHANGES_NOTHING = /^(Describe|List|Metadata|ApiVersions|FindCoordinator)/;

const WRONG_NODE: ReadonlySet<unknown> = new Set([
  ERRORS.NOT_CONTROLLER.code,
  ERRORS.NOT_LEADER_OR_FOLLOWER.code,
]);

/** Whether a controller refused a request because another one leads: every item of its response then says so. */
function isFromWrongNode(response: unknown): boolean {
  if (Array.isArray(response)) return isFromWrongNode(response[0]);
  if (typeof response !== 'object' || response === null || Buffer.isBuffer(response)) return false;
  if ('errorCode' in response && WRONG_NODE.has(response.errorCode)) return true;
  return Object.values(response).some((field) => Array.isArray(field) && isFromWrongNode(field));
}

/** One attempt; `sent` tells a caller after a failure whether the request may have arrived. */
interface Attempt {
  sent: boolean;
}

async function sendOver<Name extends ApiName>(
  client: KafkaClient,
  api: Name,
  body: Draft<Requests[Name]>,
  attempt: Attempt,
  onRequest: OnRequest | undefined,
): Promise<Answer<Responses[Name]>> {
  if (client.versionOf(api) === undefined)
    return { error: faultOf(ERRORS.UNSUPPORTED_VERSION.code, `the node does not have ${api}`)! };
  attempt.sent = true;
  onRequest?.(api);
  return { value: await client.request(api, body) };
}

/** Finds nodes by their ids, and sends each request where it belongs. */
export function createSend(connections: Connections, options: RoutingOptions): Send {
  const { bootstrap, endpoints, addressOf, callTimeoutMs, onRequest } = options;
  let nodes: ReadonlyMap<number, Address> = new Map();
  /** Where requests for anybody go first: the active controller, or the broker that answered last. */
  let preferred: Address | undefined;
  let learning: Promise<void> | undefined;

  const candidates = () => {
    const all = [...(preferred ? [preferred] : []), ...bootstrap, ...nodes.values()];
    return new Map(all.map((address) => [addressText(address), address])).values();
  };

  async function toAny<Name extends ApiName>(api: Name, body: Draft<Requests[Name]>, deadline: number) {
    let failure: unknown = new IsthmusError('KAFKA_UNREACHABLE', 'no address is known');
    for (const address of candidates()) {
      const attempt: Attempt = { sent: false };
      try {
        const answer = await connections.use(address, (client) =>
          sendOver(client, api, body, attempt, onRequest),
        );
        if (endpoints === 'brokers') preferred = address;
        return answer;
      } catch (error) {
        failure = error;
        if (address === preferred) preferred = undefined;
        if ((attempt.sent && !CHANGES_NOTHING.test(api)) || Date.now() > deadline) break;
      }
    }
    throw failure;
  }

  async function askForNodes(deadline: number): Promise<void> {
    const body = { endpointType: ENDPOINT_TYPE[endpoints], includeFencedBrokers: endpoints === 'brokers' };
    const { value } = await toAny('DescribeCluster', body, deadline);
    if (!value || value.errorCode !== 0) return;
    const found = value.brokers.map(({ brokerId, host, port }) => [brokerId, locate(brokerId, host, port)]);
    nodes = new Map(found.filter((each): each is [number, Address] => each[1] !== undefined));
    if (endpoints === 'controllers') preferred = nodes.get(value.controllerId);
  }

  /** By default a certificate carries the name that its node advertises. */
  function locate(nodeId: number, host: string, port: number): Address | undefined {
    const address = addressOf(nodeId, host, port);
    return address && { servername: host, ...address };
  }

  const learn = (deadline: number) => {
    learning ??= askForNodes(deadline).finally(() => {
      learning = undefined;
    });
    return learning;
  };

  async function toLeader<Name extends ApiName>(api: Name, body: Draft<Requests[Name]>, deadline: number) {
    for (;;) {
      const answer = await toAny(api, body, deadline);
      if (endpoints === 'brokers' || !isFromWrongNode(answer.value)) return answer;
      // Nothing was done, so it can be asked again, of whom the others take for the leader by now.
      await sleep(ELECTION_PAUSE_MS);
      const learned = await learn(deadline).then(
        () => true,
        () => false,
      );
      if (!learned || Date.now() > deadline) return answer;
    }
  }

  async function toNode<Name extends ApiName>(
    id: number,
    api: Name,
    body: Draft<Requests[Name]>,
    deadline: number,
  ): Promise<Answer<Responses[Name]>> {
    for (let again = false; ; again = true) {
      if (again || !nodes.has(id)) await learn(deadline);
      const address = nodes.get(id);
      if (!address) return { error: faultOf(ERRORS.BROKER_NOT_AVAILABLE.code, `no node ${id} is known`)! };
      const attempt: Attempt = { sent: false };
      try {
        return await connections.use(address, (client) => sendOver(client, api, body, attempt, onRequest));
      } catch (error) {
        // It may have moved to another address.
        const final = again || (attempt.sent && !CHANGES_NOTHING.test(api)) || Date.now() > deadline;
        if (final) throw error;
      }
    }
  }

  async function coordinatorOf(keyType: number, key: string, deadline: number): Promise<Answer<number>> {
    const { value, error } = await toAny(
      'FindCoordinator',
      { keyType, key, coordinatorKeys: [key] },
      deadline,
    );
    if (error) return { error };
    const found = value.coordinators[0] ?? value;
    return answerOf(found, () => found.nodeId);
  }

  return async (api, body, to) => {
    const deadline = Date.now() + callTimeoutMs;
    if (to === undefined) return toLeader(api, body, deadline);
    if ('node' in to) return toNode(to.node, api, body, deadline);
    const [keyType, key] = 'group' in to ? [GROUP, to.group] : [TRANSACTION, to.transaction];
    const coordinator = await coordinatorOf(keyType, key, deadline);
    return coordinator.error ? coordinator : toNode(coordinator.value, api, body, deadline);
  };
}
