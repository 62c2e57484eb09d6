import type { z } from 'zod';
import type { ApiName } from '../kafka/apis.ts';
import type { Draft } from '../kafka/codec.ts';
import type { KafkaErrorName } from '../kafka/errors.ts';
import type { Requests, Responses } from '../kafka/schemas/types.ts';
import type { Log } from '../ops/log.ts';
import type { Metrics } from '../ops/metrics.ts';
import type { Outbound } from '../ops/outbound.ts';

/**
 * The filter API: all that a filter may know of the proxy. A filter sees the messages of the APIs for which it has a
 * handler, decoded, and no others; all other frames pass undecoded. Handlers may be asynchronous: messages of a
 * connection wait behind the one that is being handled, and so keep their order.
 *
 * Byte fields of a message are views into the connection's buffer: valid until the handler is done, to be copied if
 * they are to be kept. A handler that throws closes the connection.
 */

/** What becomes of a request; undefined lets it pass untouched. */
export type RequestVerdict<Name extends ApiName = ApiName> =
  | undefined
  | { forward: Requests[Name] }
  /** Refuses it with an error response of its own API and version. Where it wants no answer (acks 0) it closes. */
  | { answer: KafkaErrorName; message?: string }
  /** Answers it here. */
  | { respond: Draft<Responses[Name]> }
  /** Closes the connection; the reason is logged. */
  | { close: string };

/** What becomes of a response; undefined lets it pass untouched. */
export type ResponseVerdict<Name extends ApiName = ApiName> =
  | undefined
  | { forward: Responses[Name] }
  | { close: string };

/** Facts about the message at hand. */
export interface MessageContext {
  readonly api: ApiName;
  readonly apiVersion: number;
  readonly correlationId: number;
  /** Of requests only. */
  readonly clientId: string | null;
  /** How long the frame is that it came in. */
  readonly bytes: number;
}

type MaybePromise<T> = T | Promise<T>;

export type RequestHandlers = {
  [Name in ApiName]?: (
    request: Requests[Name],
    context: MessageContext,
  ) => MaybePromise<RequestVerdict<Name>>;
};
export type ResponseHandlers = {
  [Name in ApiName]?: (
    response: Responses[Name],
    context: MessageContext,
  ) => MaybePromise<ResponseVerdict<Name>>;
};

/** A filter at work on one connection. Requests meet the filters in their order, responses in the opposite one. */
export interface ConnectionFilter {
  /** The newest versions that it can deal with, where these are older than what the proxy knows. Clients use no newer ones. */
  newestVersions?: { readonly [Name in ApiName]?: number };
  /** Refuses APIs that the proxy does not know, whatever its configuration says of them; -1 above refuses one that it knows. */
  onlyKnownApis?: boolean;
  /**
   * While it says so, nothing is taken of the client but what belongs to a login (ApiVersions, SaslHandshake, SaslAuthenticate): anything
   * else closes the connection, and costs nothing. A filter answers a login by itself (`respond`), or learns from what the broker says to it.
   */
  isStranger?: () => boolean;
  /**
   * Runs once, before the first request is taken that is no part of a login, and may ask the broker something: to log in there for a client that
   * does not do so itself, for example.
   */
  onBegin?: () => Promise<{ close: string } | undefined>;
  onRequest?: RequestHandlers;
  onResponse?: ResponseHandlers;
  onClose?(): void;
}

/** One connection, as its filters see it. */
export interface ConnectionContext {
  readonly virtualCluster: string;
  readonly gateway: string;
  readonly clientAddress: string;
  /** Who the client is: what a filter has said (`identify`), or the subject of its certificate, if it showed one that we trust. */
  readonly principal: string | undefined;
  /** Says who the client is, for all filters of the connection. Only for what the client has proven. */
  identify(principal: string): void;
  readonly log: Log;
  /**
   * The names of topics given by id; those that do not exist are left out. Asked of the broker once, then remembered.
   * To be called while a request is handled: while a response is, no other can come in, and only known names are given.
   */
  topicNames(ids: Iterable<string>): Promise<ReadonlyMap<string, string>>;
  /** Asks the broker on this connection, between the client's own requests; only while a request is handled. */
  ask<Name extends ApiName>(
    api: Name,
    apiVersion: number,
    body: Draft<Requests[Name]>,
  ): Promise<Responses[Name]>;
  /** Takes no further request of the client for so long, as a broker does that throttles: nothing of it is read meanwhile. */
  pauseFor(ms: number): void;
  /** Closes the connection as soon as every request on its way has been answered. */
  closeSoon(reason: string): void;
}

/** What a filter lacks that works on without it. `KeyServiceUnavailable`: what keeps its keys; `FilterProblem`: something else. */
export interface FilterProblem {
  reason: 'KeyServiceUnavailable' | 'FilterProblem';
  /** One sentence, the same for as long as nothing changes, with no secret and nothing of the configuration: all may read it. */
  message: string;
}

/** A filter of one virtual cluster, made from its configuration. */
export interface Filter {
  connect(context: ConnectionContext): ConnectionFilter;
  /** What is wrong at this moment; undefined if nothing is. Asked every few seconds, and shown in the status of the virtual cluster. */
  problem?(): FilterProblem | undefined;
  close?(): void | Promise<void>;
}

/** What a filter gets when it is made. */
export interface FilterSetting {
  virtualCluster: string;
  /** The name of its definition. */
  name: string;
  log: Log;
  metrics: Metrics;
  /** What it may connect to, and with which credentials. A filter connects to nothing without asking. */
  outbound: Outbound;
  /** The same filter in the other processes of this proxy. */
  peers: Peers;
}

/** The same filter (by its name and virtual cluster) in other processes. What they tell is JSON, in order, and may be lost with a process. */
export interface Peers {
  tell(message: unknown): void;
  hear(handler: (message: unknown) => void): void;
}

/** A kind of filter: its names, the shape of its configuration, and how to make one. */
export interface FilterType<Config> {
  readonly config: z.ZodType<Config>;
  /** The fields of it that hold a secret (`auth.password`, `keys.*.value`); nothing is quoted of an error of such a filter. */
  readonly secretFields?: readonly string[];
  create(config: Config, setting: FilterSetting): Filter | Promise<Filter>;
}

/** A Go duration such as `1m30s` in a filter's configuration, as milliseconds. */
export { duration } from '../ops/duration.ts';
