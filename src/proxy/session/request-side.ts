import { apiOf } from '../../kafka/apis.ts';
import { responseCodec } from '../../kafka/codec.ts';
import { ERRORS } from '../../kafka/errors.ts';
import { encodeResponse } from '../../kafka/frame.ts';
import { BadTraffic, GATHER, MORE, PASS } from './frames.ts';
import type { Decision, FrameOwner } from './frames.ts';
import { HIGH_WATER } from './pump.ts';
import { API, describeBytes, peekAcks, REQUEST_HEAD } from './requests.ts';
import type { Session } from './session.ts';

/** A client that has asked so much without an answer has to wait. */
const MOST_PENDING = 4096;
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
export class RequestSide implements FrameOwner {
  readonly minHead = REQUEST_HEAD;
  readonly maxFrame: number;
  readonly due = false;
  readonly firstGather = FIRST_GATHER;
  keepsFrame = false;
  readonly program: readonly number[] = [];
  readonly #session: Session;

  constructor(session: Session, maxFrame: number) {
    this.#session = session;
    this.maxFrame = maxFrame;
  }

  mayBegin(): boolean {
    const session = this.#session;
    return !session.draining && session.queue.length < MOST_PENDING && session.client.backlog <= HIGH_WATER;
  }

  decide(bytes: Buffer, at: number, end: number): Decision {
    const session = this.#session;
    const apiKey = bytes.readInt16BE(at + 4);
    const apiVersion = bytes.readInt16BE(at + 6);
    if (!apiOf(apiKey) && (session.rules.unknownApis === 'refuse' || apiKey < 0))
      throw new BadTraffic(`a request has the unknown API key ${apiKey}`);
    if (!isLogin(apiKey)) {
      session.authenticated = true;
      if (session.guessed) return GATHER;
    }
    if (session.chain.wantsRequest(apiKey) || localAnswer(apiKey, apiVersion, 0)) return GATHER;
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
    const session = this.#session;
    session.cluster.stats.api(apiKey).requests.value += 1;
    if (!answered) return;
    const since = performance.now();
    session.queue.push({ correlationId, apiKey, apiVersion, since, answer: undefined, asker: undefined });
  }

  take(frame: Buffer): boolean {
    const session = this.#session;
    const apiKey = frame.readInt16BE(4);
    this.keepsFrame = false;
    const answer = localAnswer(apiKey, frame.readInt16BE(6), frame.readInt32BE(8));
    if (answer) {
      session.answer(answer);
      return true;
    }
    if (!session.guessed && !session.chain.wantsRequest(apiKey)) {
      this.keepsFrame = true;
      this.#forward(frame);
      return true;
    }
    session.pursueRequest(this.#handle(apiKey, frame));
    return false;
  }

  async #handle(apiKey: number, frame: Buffer): Promise<void> {
    const session = this.#session;
    if (session.guessed && !isLogin(apiKey) && !(await session.findNode())) {
      session.finish(); // the client connects again, now to the broker that it wants
      return;
    }
    const outcome = session.chain.wantsRequest(apiKey)
      ? await session.chain.request(frame)
      : { forward: frame };
    if ('close' in outcome) session.cut('filter', outcome.close);
    else if ('answer' in outcome) session.answer(outcome.answer);
    else {
      this.keepsFrame = outcome.forward === frame;
      this.#forward(outcome.forward);
    }
  }

  #forward(frame: Buffer): void {
    const apiKey = frame.readInt16BE(4);
    const apiVersion = frame.readInt16BE(6);
    const acks = apiKey === API.produce ? peekAcks(frame, 0, frame.length, apiVersion) : 1;
    this.#sent(apiKey, apiVersion, frame.readInt32BE(8), acks !== 0);
    this.write(frame);
  }

  write(bytes: Buffer): void {
    const { client, upstream } = this.#session;
    if (client.reuses) upstream?.write(bytes);
    else upstream?.writeSoon(bytes);
  }

  writeDue(): void {}

  endpointsHidden(): void {}

  badLength(length: number, bytes: Buffer, at: number): string {
    return `a frame of ${length} bytes is announced: ${describeBytes(bytes, at)}`;
  }
}

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
