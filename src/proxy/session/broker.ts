import { apiOf } from '../../kafka/apis.ts';
import type { ApiName } from '../../kafka/apis.ts';
import { responseCodec } from '../../kafka/codec.ts';
import type { Draft } from '../../kafka/codec.ts';
import { decodeResponseHeader, encodeRequest } from '../../kafka/frame.ts';
import type { Requests, Responses } from '../../kafka/schemas/types.ts';
import { messageOf } from '../../ops/errors.ts';
import { sameAddress } from '../cluster/topology.ts';
import type { Topology } from '../cluster/topology.ts';
import type { Address } from '../config/model.ts';
import type { Connection } from '../net/connection.ts';
import type { InFlightQueue } from './in-flight.ts';

/** A client's correlation id may be the same: order alone tells responses apart. */
const CORRELATION_ID = -0x1571;
/** A version of Metadata that every broker has. */
const LEARNING_VERSION = 1;

/**
 * The broker at the far end of a session, and requests of the proxy's own, put between those of the client on its
 * (authenticated) connection.
 */
export class Broker {
  readonly connection: Connection;
  readonly #address: Address;
  readonly #inFlight: InFlightQueue;

  constructor(connection: Connection, address: Address, inFlight: InFlightQueue) {
    this.connection = connection;
    this.#address = address;
    this.#inFlight = inFlight;
  }

  /** Asks the broker; the response comes after those to everything that was asked before. */
  ask<Name extends ApiName>(
    api: Name,
    apiVersion: number,
    body: Draft<Requests[Name]>,
  ): Promise<Responses[Name]> {
    const { key: apiKey } = apiOf(api);
    const header = { apiKey, apiVersion, correlationId: CORRELATION_ID, clientId: 'isthmus' };
    const frame = encodeRequest(header, body);
    const { promise, resolve, reject } = Promise.withResolvers<Responses[Name]>();
    promise.catch(() => {}); // whoever asked may not listen any more
    const onResponse = (response: Buffer | undefined) => {
      if (!response) return reject(new Error(`the broker disconnected before it answered ${api}`));
      try {
        // A copy, because what is decoded has views into the connection's buffer.
        const bytes = Buffer.from(response);
        const { end } = decodeResponseHeader(apiKey, apiVersion, bytes, 4);
        resolve(responseCodec(api, apiVersion).decode(bytes, end));
      } catch (cause) {
        reject(new Error(`the broker's response to ${api} cannot be read: ${messageOf(cause)}`, { cause }));
      }
    };
    const since = performance.now();
    const request = {
      correlationId: CORRELATION_ID,
      apiKey,
      apiVersion,
      since,
      answer: undefined,
      onResponse,
      tapped: undefined,
    };
    this.#inFlight.push(request);
    this.connection.write(frame);
    return promise;
  }

  /** Asks where all brokers are; true if this one turns out to be the node that is wanted. */
  async findNode(node: number | undefined, topology: Topology): Promise<boolean> {
    const { brokers } = await this.ask('Metadata', LEARNING_VERSION, { topics: [] });
    topology.learn(brokers.map(({ nodeId, host, port }) => [nodeId, { host, port }]));
    return node !== undefined && sameAddress(topology.addressOf(node), this.#address);
  }

  /** Whether the node is known to be somewhere else by now. */
  hasMoved(node: number, topology: Topology): boolean {
    const address = topology.addressOf(node);
    return address !== undefined && !sameAddress(address, this.#address);
  }
}
