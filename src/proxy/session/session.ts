import { messageOf } from '../../ops/errors.ts';
import type { Cluster, ClusterSession } from '../cluster/cluster.ts';
import type { CutReason } from '../cluster/stats.ts';
import type { BrokerConnection } from '../cluster/upstream.ts';
import type { Connection } from '../net/connection.ts';
import { Broker } from './broker.ts';
import { MemoryAccount } from '../net/byte-budget.ts';
import { connectionContext } from './connection-context.ts';
import type { ConnectionInfo, SessionRules } from './connection-info.ts';
import { reasonOf } from './cut-reason.ts';
import { createFilterChain } from './filter-chain.ts';
import type { FilterChain } from './filter-chain.ts';
import { FlowControl } from './flow-control.ts';
import type { SessionControl } from './flow-control.ts';
import { InFlightQueue } from './in-flight.ts';
import { Pause } from './pause.ts';
import { checkStart, REQUEST_HEAD } from './request-head.ts';
import type { SessionState } from './session-state.ts';
import { tappedConnection } from './tapped.ts';
import { FILTER_MS, LAST_RESPONSES_MS, LINGER_MS, Timeouts } from './timeouts.ts';

/**
 * One client connection and the broker connection behind it.
 *
 *   waiting     the client has not sent a request yet, and no broker connection is spent on it
 *   connecting  its first request looks right, and a broker connection is being opened
 *   open        requests and responses flow
 *   ending      we have ended our side, and discard what the client still sends until it ends its own
 *   closed
 */
type Phase = 'waiting' | 'connecting' | 'open' | 'ending' | 'closed';

const NO_FILTERS = createFilterChain([]);

export class Session implements SessionState, SessionControl, ClusterSession {
  readonly info: ConnectionInfo;
  readonly rules: SessionRules;
  readonly client: Connection;
  readonly inFlight = new InFlightQueue();
  readonly chain: FilterChain;
  readonly account: MemoryAccount;
  readonly pause = new Pause(() => this.#resume());
  guessed = false;
  accepted = false;
  draining = false;
  readonly #cluster: Cluster;
  readonly #timeouts: Timeouts;
  #phase: Phase = 'waiting';
  #clientEnded = false;
  #upstreamLost = false;
  /** What the client has sent before there was a broker connection. */
  #opening: Buffer = Buffer.alloc(0);
  #broker: Broker | undefined;
  #flow: FlowControl | undefined;

  constructor(info: ConnectionInfo, rules: SessionRules, client: Connection) {
    this.info = info;
    this.rules = rules;
    this.client = client;
    this.#cluster = info.cluster;
    this.#timeouts = new Timeouts(rules.limits);
    this.account = new MemoryAccount(info.cluster.memory, rules.limits, () => this.#resume());
    const { filters, sessions, stats } = info.cluster;
    const context = filters.length > 0 && connectionContext(this);
    this.chain = context ? createFilterChain(filters.map((filter) => filter.connect(context))) : NO_FILTERS;
    sessions.add(this);
    stats.active.value += 1;
    stats.connections.value += 1;
  }

  /** Begins to read; `first` is what has been read already. */
  start(first: Buffer): void {
    this.client.events = {
      onChunk: (chunk, length) => this.#fromClient(chunk, length),
      onWritten: () => this.#resume(),
      onEnd: () => this.#clientEnd(),
      onClose: () => this.#clientClosed(),
    };
    if (first.length === 0 || this.#fromClient(first, first.length)) this.client.resume();
  }

  get upstream(): Connection | undefined {
    return this.#broker?.connection;
  }

  /** While it can be asked something. */
  get openBroker(): Broker | undefined {
    return this.#phase === 'open' ? this.#broker : undefined;
  }

  /** Whether the session ends as soon as nothing is under way. */
  get ending(): boolean {
    return this.draining || this.#clientEnded;
  }

  /** A response is being handled, so that no other can come in. */
  get inResponse(): boolean {
    return this.#flow?.responses.holding ?? false;
  }

  #fromClient(chunk: Buffer, length: number): boolean {
    // Before the broker has accepted the session only its answers count: anybody can send bytes now and then.
    if (this.accepted) this.#timeouts.touch();
    if (this.#phase === 'waiting') {
      this.#opening = Buffer.concat([this.#opening, chunk.subarray(0, length)]);
      return this.#opening.length < REQUEST_HEAD || this.#connect();
    }
    if (this.#phase !== 'open') return this.#phase === 'ending'; // to be discarded, without a stop
    try {
      const more = this.#flow!.requests.read(chunk, length);
      if (!this.draining) return more;
      this.settle();
      // To stop reading now would keep the client's end from coming in.
      return more || (this.#phase as Phase) === 'ending';
    } catch (error) {
      return this.#failed(error);
    }
  }

  #fromUpstream(chunk: Buffer, length: number): boolean {
    this.#timeouts.touch();
    if (this.#phase !== 'open') return false;
    try {
      const more = this.#flow!.responses.read(chunk, length);
      if (!this.#flow!.requests.empty) this.#resume(); // requests may have waited for these responses
      return more;
    } catch (error) {
      return this.#failed(error);
    }
  }

  /** Opens the broker connection; always false, because the client has to wait for it. */
  #connect(): false {
    const { limits } = this.rules;
    try {
      checkStart(this.#opening, limits.maxFrameBytes, this.account.most);
    } catch (error) {
      return this.#failed(error);
    }
    this.#phase = 'connecting';
    this.#cluster.upstream.open(this.info.node, limits.connectTimeoutMs).then(
      (opened) => this.#connected(opened),
      (error: unknown) => this.cut('upstream', messageOf(error)),
    );
    return false;
  }

  #connected({ connection, address, guessed }: BrokerConnection): void {
    if (this.#phase !== 'connecting') return connection.destroy();
    this.#phase = 'open';
    this.#broker = new Broker(connection, address, this.inFlight);
    this.guessed = guessed;
    this.#flow = new FlowControl(this, connection, this);
    connection.events = {
      onChunk: (chunk, length) => this.#fromUpstream(chunk, length),
      onWritten: () => this.#resume(),
      onEnd: () => this.#upstreamClosed(),
      onClose: () => this.#upstreamClosed(),
    };
    connection.resume();
    if (this.#fromClient(this.#opening, this.#opening.length)) this.client.resume();
    this.#opening = Buffer.alloc(0);
  }

  /** Whatever was in the way may be gone: lets both directions try again. */
  #resume(): void {
    if (this.#phase !== 'open') return;
    try {
      this.#flow!.resume();
    } catch (error) {
      this.#failed(error);
    }
    if (this.ending) this.settle();
  }

  /** Cuts the session off because of what came in, or because of a fault of ours that it met; always false. */
  #failed(error: unknown): false {
    const reason = reasonOf(error);
    if (reason === 'internal') this.#cluster.log.error({ err: error }, 'internal error, connection closed');
    this.cut(reason, messageOf(error));
    return false;
  }

  onReleased(): void {
    this.#resume();
    // Only now: more responses may have come before the broker was lost.
    if (this.#upstreamLost && !this.inResponse) this.finish();
    this.#discard();
  }

  onFailed(error: unknown): void {
    const theirs = reasonOf(error) === 'bad_traffic';
    // Not at the level of a filter that closes on purpose; but after the end, its requests fail by themselves.
    if (!theirs && this.#phase === 'open')
      this.#cluster.log.warn({ err: error }, 'filter failed, closing the connection');
    this.cut(theirs ? 'bad_traffic' : 'filter', messageOf(error));
  }

  /** Asks what any client may ask: where the brokers are. The client of a broker somewhere else connects again, now to it. */
  confirm(): void {
    this.chain.begin().then(
      (why) => (why === undefined ? this.#ask() : this.cut('filter', why)),
      (error: unknown) => this.onFailed(error),
    );
  }

  #ask(): void {
    if (this.#phase !== 'open') return;
    const asked = this.#broker!.findNode(this.info.node, this.#cluster.topology).then((found) => {
      if (this.guessed && !found) return this.finish();
      this.guessed = false;
      return this.#resume();
    });
    asked.catch((error: unknown) => this.cut('upstream', messageOf(error)));
  }

  /** A client would not notice by itself: to it the broker's address stays the same, and someone else may have got the old one. */
  followBroker(): void {
    const { node } = this.info;
    if (node === undefined || this.#phase !== 'open' || this.guessed) return;
    if (this.#broker!.hasMoved(node, this.#cluster.topology)) this.drain('the broker has moved');
  }

  drain(reason: string, timeoutMs = this.#cluster.config.drainTimeoutMs): void {
    if (this.draining) return;
    this.#cluster.log.debug({ client: this.info.clientAddress, reason }, 'draining the connection');
    this.draining = true;
    this.#flow?.endAtBoundary();
    this.#timeouts.setDeadline(timeoutMs);
    if (this.#phase === 'waiting' || this.#phase === 'connecting') this.finish();
    else this.settle();
  }

  /** Ends the session if it is to end and nothing is under way. */
  settle(): void {
    if (this.#phase === 'open' && this.#flow!.settled) this.finish();
  }

  /** Ends our side in good order: what has been written arrives. */
  finish(): void {
    if (this.#phase === 'ending' || this.#phase === 'closed') return;
    this.#phase = 'ending';
    this.#timeouts.setDeadline(LINGER_MS);
    this.#closeUpstream();
    // A socket that is closed with unread bytes in it resets the connection, and what we wrote last would be lost.
    this.client.end();
    this.#discard();
  }

  /** Reads on, for nobody. Not while a filter still works on what was read last, which reading would write over. */
  #discard(): void {
    if (this.#phase === 'ending' && !this.#flow?.requests.holding) this.client.resume();
  }

  /** Ends the session at once, and says why. */
  cut(reason: CutReason, why: string): void {
    if (this.#phase === 'ending' || this.#phase === 'closed') return;
    this.#phase = 'ending';
    const { clientAddress: client, node } = this.info;
    this.#cluster.reportCut(reason, { client, node, why });
    const { tap } = this.#cluster;
    if (tap.on && tap.admits()) tap.show({ ...tappedConnection(this.info), verdict: 'closed', reason });
    this.#closeUpstream(reason);
    this.client.destroy();
  }

  destroy(): void {
    this.client.destroy();
  }

  #closeUpstream(reason?: CutReason): void {
    this.#flow?.close();
    this.upstream?.destroy();
    this.inFlight.abandon(({ tapped }) => {
      if (tapped) this.#cluster.tap.show({ ...tapped, verdict: 'closed', reason });
    });
  }

  #clientEnd(): void {
    if (this.#phase === 'ending' && this.client.backlog > 0) return; // it closes when that has left
    if (this.#phase !== 'open') return this.client.destroy();
    this.#clientEnded = true;
    if (!this.#timeouts.hasDeadline) this.#timeouts.setDeadline(LAST_RESPONSES_MS);
    this.#flow!.endAtBoundary();
    this.settle();
  }

  #upstreamClosed(): void {
    this.#upstreamLost = true;
    if (this.#phase === 'open' && !this.inResponse) this.finish();
  }

  #clientClosed(): void {
    this.#phase = 'closed';
    this.account.close();
    this.pause.close();
    this.#closeUpstream();
    this.#cluster.sessions.delete(this);
    this.#cluster.stats.active.value -= 1;
    try {
      this.chain.close();
    } catch (error) {
      this.#cluster.log.error({ err: error }, 'filter failed when the connection was closed');
    }
  }

  sweep(now: number): void {
    if (this.#timeouts.isOverdue(now)) {
      if (this.#phase === 'ending') this.client.destroy();
      else this.cut('drain_timeout', 'requests were still in flight when the time to drain was over');
    }
    if (this.account.isOverdue(now)) this.cut('memory', 'no room in time, maxBufferedBytes is reached');
    if ((this.#flow?.heldFor(now) ?? 0) > FILTER_MS)
      this.cut('filter', `a filter has not answered for ${FILTER_MS} ms`);
    const limit = this.#timeouts.exceededIdleLimit(now, this.accepted);
    if (limit !== undefined) this.cut('idle', `nothing was sent for ${limit} ms`);
  }
}
