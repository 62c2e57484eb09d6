import type { Connection } from '../net/connection.ts';
import { Direction } from './direction.ts';
import type { DirectionEvents } from './direction.ts';
import { RequestSide } from './request-side.ts';
import { ResponseSide } from './response-side.ts';
import type { SessionState } from './session-state.ts';

/** What flow control asks of the session that it belongs to. */
export interface SessionControl {
  /** Ends the session in good order. */
  finish(): void;
  /** Ends it at once. */
  cut(reason: 'filter', why: string): void;
  /** Ends it if it is to end and nothing is under way. */
  settle(): void;
  /** A frame that was held has been dealt with: `resume` may be called. */
  onReleased(): void;
  /** The work on a frame that was held has failed. */
  onFailed(error: unknown): void;
  /** Makes the broker answer something, so that it shows whether it accepts the session; then `resume` is called. */
  confirm(): void;
}

/**
 * The two directions of an open session, and the one order that ties them: Kafka answers in the order of asking, so an
 * answer of ours waits until every earlier response has gone to the client.
 */
export class FlowControl implements DirectionEvents {
  readonly requests: Direction;
  readonly responses: Direction;
  readonly #state: SessionState;
  readonly #upstream: Connection;
  readonly #session: SessionControl;
  #ending = false;
  #closed = false;

  constructor(state: SessionState, upstream: Connection, session: SessionControl) {
    this.#state = state;
    this.#upstream = upstream;
    this.#session = session;
    const { client } = state;
    const { stats } = state.info.cluster;
    this.requests = new Direction(
      { source: client, sink: upstream },
      // Requests that have passed are written when the read is through, and this must come behind them.
      new RequestSide(state, () => queueMicrotask(() => session.confirm())),
      this,
      { bytes: stats.bytesFromClients, pauses: stats.pausedRequests },
    );
    this.responses = new Direction({ source: upstream, sink: client }, new ResponseSide(state), this, {
      bytes: stats.bytesToClients,
      pauses: stats.pausedResponses,
    });
  }

  /** Whether nothing is under way, so that the session can end without losing anything. */
  get settled(): boolean {
    const { inFlight, draining } = this.#state;
    if (inFlight.length > 0 || !this.responses.atBoundary || this.requests.holding) return false;
    if (this.#upstream.backlog > 0) return false; // requests that want no response are not in flight
    return draining ? this.requests.atBoundary : this.requests.empty;
  }

  /** For how many milliseconds filters have been at work on a frame. */
  heldFor(now: number): number {
    return Math.max(this.requests.heldFor(now), this.responses.heldFor(now));
  }

  /** Whatever was in the way may be gone: lets both directions try again. */
  resume(): void {
    if (this.#closed) return;
    this.responses.resume();
    this.requests.resume();
  }

  /** The session is to end: from now on it may do so between any two responses. */
  endAtBoundary(): void {
    this.#ending = true;
    this.responses.stopAtBoundaries(true);
  }

  /** The session has ended: nothing goes on, and nothing is answered any more. */
  close(): void {
    this.#closed = true;
  }

  /** Answers a request in place of the broker. */
  onAnswer(answer: Buffer): void {
    if (this.#closed) return;
    const { inFlight, client } = this.#state;
    if (inFlight.length === 0 && this.responses.atBoundary) return client.write(answer);
    const ours = { correlationId: 0, apiKey: 0, apiVersion: 0, since: 0, answer };
    inFlight.push({ ...ours, onResponse: undefined, tapped: undefined });
    this.responses.stopAtBoundaries(true);
  }

  /** Between two responses: writes the answers of ours whose turn has come. */
  onBoundary(): void {
    const { inFlight } = this.#state;
    while (inFlight.first?.answer) this.responses.write(inFlight.shift()!.answer!);
    this.responses.stopAtBoundaries(this.#ending || inFlight.hasAnswers);
    if (this.#ending) this.#session.settle();
  }

  onReleased(): void {
    if (this.responses.stopsAtBoundaries && this.responses.atBoundary) this.onBoundary();
    this.#session.onReleased();
  }

  onFailed(error: unknown): void {
    this.#session.onFailed(error);
  }

  onFinish(): void {
    this.#session.finish();
  }

  onClose(why: string): void {
    this.#session.cut('filter', why);
  }
}
