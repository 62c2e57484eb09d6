import { apiOf } from '../../kafka/apis.ts';
import { responseCodec } from '../../kafka/codec.ts';
import { ERRORS } from '../../kafka/errors.ts';
import { encodeResponse } from '../../kafka/frame.ts';
import type { TapEntry } from '../cluster/tap.ts';
import type { MemoryAccount } from '../net/byte-budget.ts';
import { HIGH_WATER } from './direction.ts';
import type { FrameOutcome, Side } from './direction.ts';
import { BadTraffic, GATHER, MORE, PASS, WAIT } from './frame-stream.ts';
import type { Decision } from './frame-stream.ts';
import {
  API,
  badLogin,
  describeBytes,
  isLogin,
  LARGE_REQUEST,
  peekAcks,
  REQUEST_HEAD,
} from './request-head.ts';
import { isServed } from './served-apis.ts';
import type { SessionState } from './session-state.ts';
import { tappedRequest } from './tapped.ts';

/** A client with so many unanswered requests has to wait. */
const MAX_IN_FLIGHT = 4096;
/** Anybody can announce a large request: memory comes with the bytes. */
const FIRST_GATHER = 16_384;
const UNSUPPORTED_VERSION = ERRORS.UNSUPPORTED_VERSION.code;

/** The direction from the client to the broker. */
export class RequestSide implements Side {
  readonly minHead = REQUEST_HEAD;
  readonly maxFrame: number;
  readonly firstGather = FIRST_GATHER;
  readonly account: MemoryAccount;
  readonly #state: SessionState;
  readonly #confirm: () => void;
  #confirming = false;
  /** Of the request that filters work on. */
  #tapped: TapEntry | undefined;

  /** `confirm` makes the broker answer something, after which the stream is fed again. */
  constructor(state: SessionState, confirm: () => void) {
    this.#state = state;
    this.account = state.account;
    this.#confirm = confirm;
    this.maxFrame = state.rules.limits.maxFrameBytes;
  }

  mayBegin(): boolean {
    const { draining, pause, inFlight, client } = this.#state;
    if (draining || pause.on || inFlight.length >= MAX_IN_FLIGHT) return false;
    return client.backlog + inFlight.answerBytes <= HIGH_WATER;
  }

  decide(bytes: Buffer, at: number, end: number): Decision {
    const state = this.#state;
    const length = bytes.readInt32BE(at);
    const apiKey = bytes.readInt16BE(at + 4);
    const apiVersion = bytes.readInt16BE(at + 6);
    const served =
      isServed(apiKey, apiVersion, state.rules.unknownApis) &&
      apiVersion <= state.chain.newestVersion(apiKey);
    if (!served && apiKey !== API.apiVersions)
      throw new BadTraffic(`request of an API that is not served: ${describeApi(apiKey, apiVersion)}`);
    if (!isLogin(apiKey) && state.chain.mustBegin()) return this.#confirmFirst();
    if (!isLogin(apiKey) && state.chain.isStranger()) throw new BadTraffic('a request before a login');
    const wanted = state.chain.wantsRequest(apiKey);
    const acks = apiKey === API.produce && !wanted ? peekAcks(bytes, at, end, apiVersion) : 1;
    if (!state.accepted || state.guessed) {
      const bad = isLogin(apiKey) ? badLogin(apiKey, length) : undefined;
      if (bad !== undefined) throw new BadTraffic(bad);
      if (!isLogin(apiKey) && (wanted || state.guessed || length > LARGE_REQUEST || !acks))
        return this.#confirmFirst();
    }
    if (wanted || localAnswer(apiKey, apiVersion, 0)) return GATHER;
    if (apiKey !== API.produce && length > LARGE_REQUEST && state.accepted) return GATHER;
    if (acks === undefined) return MORE;
    const tapped = state.info.cluster.tap.on ? this.#tap(bytes, at, end) : undefined;
    this.#sent(apiKey, apiVersion, bytes.readInt32BE(at + 8), acks !== 0, tapped);
    return PASS;
  }

  /**
   * A request has to wait until the broker has accepted the session, because it would cost something here, or would
   * never show that: it is large, filters want it, its head comes in pieces, it has no answer. So the proxy itself asks
   * something. Any other request goes to the broker, whose answer shows it.
   */
  #confirmFirst(): typeof WAIT {
    if (!this.#confirming) this.#confirm();
    this.#confirming = true;
    return WAIT;
  }

  /** Counts a request that goes to the broker, and remembers it if it will be answered. */
  #sent(
    apiKey: number,
    apiVersion: number,
    correlationId: number,
    answered: boolean,
    tapped: TapEntry | undefined,
  ): void {
    const { info, inFlight } = this.#state;
    info.cluster.stats.api(apiKey).requests.value += 1;
    if (!answered) {
      if (tapped) info.cluster.tap.show(tapped);
      return;
    }
    const since = performance.now();
    inFlight.push({
      correlationId,
      apiKey,
      apiVersion,
      since,
      answer: undefined,
      onResponse: undefined,
      tapped,
    });
  }

  #tap(bytes: Buffer, at: number, end: number): TapEntry | undefined {
    const { info } = this.#state;
    return info.cluster.tap.admits() ? tappedRequest(info, bytes, at, end) : undefined;
  }

  take(frame: Buffer): FrameOutcome | Promise<FrameOutcome> {
    const { chain } = this.#state;
    const apiKey = frame.readInt16BE(4);
    const answer = localAnswer(apiKey, frame.readInt16BE(6), frame.readInt32BE(8));
    if (answer) return { answer };
    if (!chain.wantsRequest(apiKey)) return 'pass';
    return this.#state.info.cluster.tap.on ? this.#tapFiltered(frame) : chain.request(frame);
  }

  /** One that is forwarded is shown with its response, in the form in which it came. */
  async #tapFiltered(frame: Buffer): Promise<FrameOutcome> {
    const { chain, info } = this.#state;
    const tapped = this.#tap(frame, 0, frame.length);
    const since = performance.now();
    const outcome = await chain.request(frame);
    this.#tapped = tapped;
    if (!tapped || typeof outcome !== 'object' || 'forward' in outcome) return outcome;
    this.#tapped = undefined;
    const latencyMs = performance.now() - since;
    const ended =
      'answer' in outcome
        ? { verdict: 'answered' as const, responseBytes: outcome.answer.length }
        : { verdict: 'closed' as const, reason: outcome.close };
    info.cluster.tap.show({ ...tapped, latencyMs, ...ended });
    return outcome;
  }

  /** Together with its writing: what is in flight is in the order of the wire. */
  forwarded(frame: Buffer): void {
    const apiKey = frame.readInt16BE(4);
    const apiVersion = frame.readInt16BE(6);
    const acks = apiKey === API.produce ? peekAcks(frame, 0, frame.length, apiVersion) : 1;
    const { tap } = this.#state.info.cluster;
    const tapped = this.#tapped ?? (tap.on ? this.#tap(frame, 0, frame.length) : undefined);
    this.#tapped = undefined;
    this.#sent(apiKey, apiVersion, frame.readInt32BE(8), acks !== 0, tapped);
  }

  badLength(length: number, bytes: Buffer, at: number): string {
    return `a frame of ${length} bytes is announced: ${describeBytes(bytes, at)}`;
  }
}

const describeApi = (apiKey: number, version: number) => `${apiOf(apiKey)?.name ?? apiKey} v${version}`;

/**
 * Requests that are answered here. An ApiVersions request that is newer than we know gets what a broker would say, the
 * versions that it may use instead; SaslHandshake v0 would be followed by bytes without frames.
 */
function localAnswer(apiKey: number, apiVersion: number, correlationId: number): Buffer | undefined {
  if (apiKey === API.apiVersions && apiVersion > apiOf('ApiVersions').max) {
    const { key, min, max } = apiOf('ApiVersions');
    const apiKeys = [{ apiKey: key, minVersion: min, maxVersion: max }];
    return encodeResponse(apiKey, 0, { correlationId }, { errorCode: UNSUPPORTED_VERSION, apiKeys });
  }
  if (apiKey === API.saslHandshake && apiVersion === 0) {
    const body = responseCodec('SaslHandshake', 0).encode(
      { errorCode: UNSUPPORTED_VERSION, mechanisms: [] },
      8,
    );
    body.writeInt32BE(body.length - 4, 0);
    body.writeInt32BE(correlationId, 4);
    return body;
  }
  return undefined;
}
