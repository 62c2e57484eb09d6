import type { ApiName } from '../../kafka/apis.ts';
import type { Draft } from '../../kafka/codec.ts';
import { MalformedMessage } from '../../kafka/malformed.ts';
import type { Requests, Responses } from '../../kafka/schemas/types.ts';
import { messageOf } from '../../ops/errors.ts';
import { createChain } from './chain.ts';
import type { Chain } from './chain.ts';
import type { Arrival, Cluster, SessionRules } from '../cluster/cluster.ts';
import type { Address } from '../config/model.ts';
import { connectionContext } from './connection-context.ts';
import { BadTraffic, Flow } from './frames.ts';
import type { Link } from './link.ts';
import { askBroker, askForNodes } from './own-requests.ts';
import { PendingQueue } from './pending.ts';
import { Pump } from './pump.ts';
import { RequestSide } from './request-side.ts';
import { badStart, REQUEST_HEAD } from './requests.ts';
import { ResponseSide } from './response-side.ts';
import type { CutReason } from '../stats.ts';
import { sameAddress } from '../cluster/topology.ts';
import type { Opened } from '../cluster/upstream.ts';

/**
 * One client connection and the broker connection behind it.
 *
 *   waiting     the client has not sent a request yet, and no broker connection is spent on it
 *   connecting  its first request looks right, and a broker connection is being opened
 *   open        requests and responses flow
 *   ending      we have ended our side, and discard what the client still sends until it ends its own
 *   closed
 */
type State = 'waiting' | 'connecting' | 'open' | 'ending' | 'closed';

/** How long a client may take to close its side after we have closed ours. */
const LINGER_MS = 10_000;
/** How long a client that has closed its side gets answers: it may be gone altogether, and the broker may hang. */
const LAST_ANSWERS_MS = 60_000;
/** How long a client may say nothing at all, where no limit is set: as long as brokers wait, of whom it has none yet. */
const SILENT_MS = 600_000;
const NO_FILTERS = createChain([]);

export class Session {
  readonly arrival: Arrival;
  readonly cluster: Cluster;
  readonly rules: SessionRules;
  readonly client: Link;
  readonly queue = new PendingQueue();
  readonly chain: Chain;
  upstream: Link | undefined;
  /** Connected to any broker, in place of one whose address nobody knows yet. */
  guessed = false;
  /** Past its login, as far as can be seen. */
  authenticated = false;
  /** Takes no further requests. */
  draining = false;
  #state: State = 'waiting';
  #clientEnded = false;
  #upstreamLost = false;
  #opening: Buffer = Buffer.alloc(0);
  #upstreamAddress: Address | undefined;
  readonly #responses = new ResponseSide(this);
  readonly #requestFlow: Flow;
  readonly #responseFlow = new Flow(this.#responses);
  #requestPump: Pump | undefined;
  #responsePump: Pump | undefined;
  /** Set by traffic, looked at and cleared by each sweep. */
  #active = true;
  #activeAt = performance.now();
  /** When to give up being patient; 0 is never. */
  #deadline = 0;
  readonly #onClosed: () => void;

  constructor(arrival: Arrival, rules: SessionRules, client: Link, onClosed: () => void) {
    this.arrival = arrival;
    this.cluster = arrival.cluster;
    this.rules = rules;
    this.client = client;
    this.#onClosed = onClosed;
    this.#requestFlow = new Flow(new RequestSide(this, rules.limits.maxFrameBytes));
    const { filters, sessions, stats } = this.cluster;
    const context = filters.length > 0 && connectionContext(this);
    this.chain = context ? createChain(filters.map((filter) => filter.connect(context))) : NO_FILTERS;
    sessions.add(this);
    stats.active.value += 1;
    stats.connections.value += 1;
  }

  /** Begins to read; `first` is what has been read already. */
  start(first: Buffer): void {
    this.client.events = {
      onChunk: (chunk, length) => this.#fromClient(chunk, length),
      onWritten: () => this.#goOn(),
      onEnd: () => this.#clientEnd(),
      onClose: () => this.#clientClosed(),
    };
    if (first.length === 0 || this.#fromClient(first, first.length)) this.client.resume();
  }

  get addressing() {
    return this.arrival.addressing;
  }

  /** Whether the session ends as soon as nothing is under way. */
  get ending(): boolean {
    return this.draining || this.#clientEnded;
  }

  /** A response is being handled, so that no other can come in. */
  get inResponse(): boolean {
    return this.#responseFlow.waiting;
  }

  #fromClient(chunk: Buffer, length: number): boolean {
    this.#active = true;
    if (this.#state === 'waiting') {
      this.#opening = Buffer.concat([this.#opening, chunk.subarray(0, length)]);
      return this.#opening.length < REQUEST_HEAD || this.#connect();
    }
    if (this.#state !== 'open') return this.#state === 'ending'; // to be discarded, without a stop
    try {
      const more = this.#requestPump!.chunk(chunk, length);
      if (!this.draining) return more;
      this.settle();
      // To stop reading now would keep the client's end from coming in.
      return more || (this.#state as State) === 'ending';
    } catch (error) {
      return this.#failed(error);
    }
  }

  #fromUpstream(chunk: Buffer, length: number): boolean {
    this.#active = true;
    if (this.#state !== 'open') return false;
    try {
      const more = this.#responsePump!.chunk(chunk, length);
      if (!this.#requestPump!.empty) this.#goOn(); // requests may have waited for these responses
      return more;
    } catch (error) {
      return this.#failed(error);
    }
  }

  /** Opens the broker connection; always false, because the client has to wait for it. */
  #connect(): false {
    const { limits } = this.rules;
    const bad = badStart(this.#opening, limits.maxFrameBytes);
    if (bad !== undefined) {
      this.cut('bad_traffic', bad);
      return false;
    }
    this.#state = 'connecting';
    this.cluster.upstream.open(this.arrival.node, limits.connectTimeoutMs).then(
      (opened) => this.#connected(opened),
      (error: unknown) => this.cut('upstream', messageOf(error)),
    );
    return false;
  }

  #connected({ link, address, guessed }: Opened): void {
    if (this.#state !== 'connecting') return link.destroy();
    const { stats } = this.cluster;
    this.#state = 'open';
    this.upstream = link;
    this.#upstreamAddress = address;
    this.guessed = guessed;
    this.#requestPump = new Pump(
      this.client,
      link,
      this.#requestFlow,
      stats.bytesFromClients,
      stats.pausedRequests,
    );
    this.#responsePump = new Pump(
      link,
      this.client,
      this.#responseFlow,
      stats.bytesToClients,
      stats.pausedResponses,
    );
    link.events = {
      onChunk: (chunk, length) => this.#fromUpstream(chunk, length),
      onWritten: () => this.#goOn(),
      onEnd: () => this.#upstreamGone(),
      onClose: () => this.#upstreamGone(),
    };
    link.resume();
    const opening = this.#opening;
    this.#opening = Buffer.alloc(0);
    if (this.#fromClient(opening, opening.length)) this.client.resume();
  }

  /** Cuts the session off because of what came in, or because of a fault of ours that it met; always false. */
  #failed(error: unknown): false {
    const theirs = error instanceof BadTraffic || error instanceof MalformedMessage;
    if (!theirs) this.cluster.log.error({ err: error }, 'a fault of the proxy ends a connection');
    this.cut(theirs ? 'bad_traffic' : 'internal', messageOf(error));
    return false;
  }

  /** Whatever was in the way may be gone: lets both directions try again. */
  #goOn(): void {
    if (this.#state !== 'open') return;
    try {
      this.#responsePump!.poke();
      this.#requestPump!.poke();
    } catch (error) {
      this.#failed(error);
    }
    if (this.ending) this.settle();
  }

  /** Works on a gathered request; those behind it wait until it is done. */
  pursueRequest(work: Promise<void>): void {
    this.#pursue(this.#requestFlow, work);
  }

  pursueResponse(work: Promise<void>): void {
    this.#pursue(this.#responseFlow, work);
  }

  #pursue(flow: Flow, work: Promise<void>): void {
    work
      .then(() => {
        flow.proceed();
        if (this.#responses.due && this.#responseFlow.atBoundary) this.#responses.writeDue();
        this.#goOn();
        // Only now: more responses may have come before the broker was lost.
        if (this.#upstreamLost && !this.inResponse) this.finish();
        this.#discard();
      })
      .catch((error: unknown) => {
        const theirs = error instanceof MalformedMessage;
        // Not at the level of a filter that closes on purpose; but after the end, its questions fail by themselves.
        if (!theirs && this.#state === 'open')
          this.cluster.log.warn({ err: error }, 'a fault of a filter ends a connection');
        this.cut(theirs ? 'bad_traffic' : 'filter', messageOf(error));
      });
  }

  /** Answers a request in place of the broker, when all earlier ones have been answered. */
  answer(answer: Buffer): void {
    if (this.#state !== 'open') return;
    if (this.queue.length === 0 && this.#responseFlow.atBoundary) return this.client.write(answer);
    this.queue.push({ correlationId: 0, apiKey: 0, apiVersion: 0, since: 0, answer, asker: undefined });
    this.#responses.due = true;
  }

  /** Asks the broker on behalf of a filter. */
  async ask<Name extends ApiName>(
    api: Name,
    apiVersion: number,
    body: Draft<Requests[Name]>,
  ): Promise<Responses[Name]> {
    if (this.inResponse) throw new Error('the broker can be asked only while a request is handled');
    if (!this.upstream || this.#state !== 'open') throw new Error('the connection is closed');
    return askBroker(this.upstream, this.queue, api, apiVersion, body);
  }

  /** Learns where the brokers are; true if the one that this connection is for turns out to be at its end already. */
  async findNode(): Promise<boolean> {
    const { topology } = this.cluster;
    topology.learn(await askForNodes(this.upstream!, this.queue));
    this.guessed = false;
    return sameAddress(topology.addressOf(this.arrival.node!), this.#upstreamAddress);
  }

  /**
   * Ends the session if its broker is somewhere else now. A client would not notice by itself: to it the broker's
   * address stays the same, and someone else may have got the old one.
   */
  followBroker(): void {
    const { node } = this.arrival;
    if (node === undefined || this.#state !== 'open' || this.guessed) return;
    const address = this.cluster.topology.addressOf(node);
    if (address && !sameAddress(address, this.#upstreamAddress)) this.drain('the broker has moved');
  }

  /** Ends the session at the next moment at which nothing is under way; forcibly when the time is over. */
  drain(reason: string, timeoutMs = this.cluster.config.drainTimeoutMs): void {
    if (this.draining) return;
    this.cluster.log.debug({ client: this.arrival.clientAddress, reason }, 'a connection drains');
    this.draining = true;
    this.#responses.due = true;
    this.#deadline = performance.now() + timeoutMs;
    if (this.#state === 'waiting' || this.#state === 'connecting') this.finish();
    else this.settle();
  }

  /** Ends the session if it is to end and nothing is under way. */
  settle(): void {
    if (this.#state !== 'open' || this.queue.length > 0) return;
    if (!this.#responseFlow.atBoundary || this.#requestFlow.waiting) return;
    if (this.upstream!.backlog > 0) return; // requests that want no answer are in no queue
    if (this.draining ? this.#requestFlow.atBoundary : this.#requestPump!.empty) this.finish();
  }

  /** Ends our side in good order: what has been written arrives. */
  finish(): void {
    if (this.#state === 'ending' || this.#state === 'closed') return;
    this.#state = 'ending';
    this.#deadline = performance.now() + LINGER_MS;
    this.#leaveBroker();
    // A socket that is closed with unread bytes in it resets the connection, and what we wrote last would be lost.
    this.client.end();
    this.#discard();
  }

  /** Reads on, for nobody. Not while a filter still works on what was read last, which reading would write over. */
  #discard(): void {
    if (this.#state === 'ending' && !this.#requestFlow.waiting) this.client.resume();
  }

  /** Ends the session at once, and says why. */
  cut(reason: CutReason, why: string): void {
    if (this.#state === 'ending' || this.#state === 'closed') return;
    this.#state = 'ending';
    const { clientAddress: client, node } = this.arrival;
    this.cluster.reportCut(reason, { client, node, why });
    this.#leaveBroker();
    this.client.destroy();
  }

  #leaveBroker(): void {
    this.upstream?.destroy();
    this.queue.abandon();
  }

  #clientEnd(): void {
    if (this.#state === 'ending' && this.client.backlog > 0) return; // it closes when that has left
    if (this.#state !== 'open') return this.client.destroy();
    this.#clientEnded = true;
    this.#deadline ||= performance.now() + LAST_ANSWERS_MS;
    this.#responses.due = true;
    this.settle();
  }

  #upstreamGone(): void {
    this.#upstreamLost = true;
    if (this.#state === 'open' && !this.inResponse) this.finish();
  }

  #clientClosed(): void {
    this.#state = 'closed';
    this.#leaveBroker();
    this.cluster.sessions.delete(this);
    this.cluster.stats.active.value -= 1;
    this.#onClosed();
    try {
      this.chain.close();
    } catch (error) {
      this.cluster.log.error({ err: error }, 'a filter failed when a connection was closed');
    }
  }

  /** Called every now and then: enforces time-outs without a timer for each connection. */
  sweep(now: number): void {
    if (this.#deadline > 0 && now > this.#deadline) {
      if (this.#state === 'ending') this.client.destroy();
      else this.cut('drain_timeout', 'requests were still under way when the time to drain was over');
    }
    if (this.#active) {
      this.#active = false;
      this.#activeAt = now;
      return;
    }
    const { idleTimeoutMs, unauthenticatedIdleTimeoutMs } = this.rules.limits;
    const unheard = unauthenticatedIdleTimeoutMs || (this.#state === 'waiting' ? SILENT_MS : 0);
    const limit = this.authenticated ? idleTimeoutMs : unheard;
    if (limit > 0 && now - this.#activeAt > limit) this.cut('idle', `nothing was sent for ${limit} ms`);
  }
}
