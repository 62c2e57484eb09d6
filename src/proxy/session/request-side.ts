import { apiOf } from '../../kafka/apis.ts';
import { responseCodec } from '../../kafka/codec.ts';
import { ERRORS } from '../../kafka/errors.ts';
import { encodeResponse } from '../../kafka/frame.ts';
import { HIGH_WATER } from './direction.ts';
import type { FrameOutcome, Side } from './direction.ts';
import { BadTraffic, GATHER, MORE, PASS } from './frame-stream.ts';
import type { Decision } from './frame-stream.ts';
import { API, describeBytes, peekAcks, REQUEST_HEAD } from './request-head.ts';
import { isServed } from './served-apis.ts';
import type { SessionState } from './session-state.ts';

/** A client with so many unanswered requests has to wait. */
const MAX_IN_FLIGHT = 4096;
/**
 * A broker sets a request's announced length aside as soon as it sees it: announcements without anything behind them
 * would cost it all its memory. Produce requests are rightly large and pass at once; others wait here until they are whole.
 */
const LARGE_REQUEST = 65_536;
/** Anybody can announce a large request: memory comes with the bytes. */
const FIRST_GATHER = 16_384;
const UNSUPPORTED_VERSION = ERRORS.UNSUPPORTED_VERSION.code;

const isLogin = (apiKey: number) =>
  apiKey === API.apiVersions || apiKey === API.saslHandshake || apiKey === API.saslAuthenticate;

/** The direction from the client to the broker. */
export class RequestSide implements Side {
  readonly minHead = REQUEST_HEAD;
  readonly maxFrame: number;
  readonly firstGather = FIRST_GATHER;
  readonly #state: SessionState;
  readonly #findNode: () => Promise<boolean>;

  constructor(state: SessionState, findNode: () => Promise<boolean>) {
    this.#state = state;
    this.#findNode = findNode;
    this.maxFrame = state.rules.limits.maxFrameBytes;
  }

  mayBegin(): boolean {
    const { draining, inFlight, client } = this.#state;
    return !draining && inFlight.length < MAX_IN_FLIGHT && client.backlog <= HIGH_WATER;
  }

  decide(bytes: Buffer, at: number, end: number): Decision {
    const state = this.#state;
    const apiKey = bytes.readInt16BE(at + 4);
    const apiVersion = bytes.readInt16BE(at + 6);
    if (!isServed(apiKey, apiVersion, state.rules.unknownApis) && apiKey !== API.apiVersions)
      throw new BadTraffic(`request of an API that is not served: ${describeApi(apiKey, apiVersion)}`);
    if (!isLogin(apiKey)) {
      state.authenticated = true;
      if (state.guessed) return GATHER;
    }
    if (state.chain.wantsRequest(apiKey) || localAnswer(apiKey, apiVersion, 0)) return GATHER;
    if (apiKey !== API.produce && bytes.readInt32BE(at) > LARGE_REQUEST) return GATHER;
    if (apiKey === API.produce) {
      const acks = peekAcks(bytes, at, end, apiVersion);
      if (acks === undefined) return MORE;
      this.#sent(apiKey, apiVersion, bytes.readInt32BE(at + 8), acks !== 0);
    } else {
      this.#sent(apiKey, apiVersion, bytes.readInt32BE(at + 8), true);
    }
    return PASS;
  }

  /** Counts a request that goes to the broker, and remembers it if it will be answered. */
  #sent(apiKey: number, apiVersion: number, correlationId: number, answered: boolean): void {
    const { info, inFlight } = this.#state;
    info.cluster.stats.api(apiKey).requests.value += 1;
    if (!answered) return;
    const since = performance.now();
    inFlight.push({ correlationId, apiKey, apiVersion, since, answer: undefined, onResponse: undefined });
  }

  take(frame: Buffer): FrameOutcome | Promise<FrameOutcome> {
    const { guessed, chain } = this.#state;
    const apiKey = frame.readInt16BE(4);
    const answer = localAnswer(apiKey, frame.readInt16BE(6), frame.readInt32BE(8));
    if (answer) return { answer };
    return guessed || chain.wantsRequest(apiKey) ? this.#handle(apiKey, frame) : 'pass';
  }

  async #handle(apiKey: number, frame: Buffer): Promise<FrameOutcome> {
    const { guessed, chain } = this.#state;
    // The client connects again, now to the broker that it wants.
    if (guessed && !isLogin(apiKey) && !(await this.#findNode())) return 'finish';
    return chain.wantsRequest(apiKey) ? chain.request(frame) : 'pass';
  }

  /** Together with its writing: what is in flight is in the order of the wire. */
  forwarded(frame: Buffer): void {
    const apiKey = frame.readInt16BE(4);
    const apiVersion = frame.readInt16BE(6);
    const acks = apiKey === API.produce ? peekAcks(frame, 0, frame.length, apiVersion) : 1;
    this.#sent(apiKey, apiVersion, frame.readInt32BE(8), acks !== 0);
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
