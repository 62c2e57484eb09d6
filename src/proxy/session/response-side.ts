import { apiOf } from '../../kafka/apis.ts';
import type { ApiName } from '../../kafka/apis.ts';
import { responseCodec } from '../../kafka/codec.ts';
import { ERRORS } from '../../kafka/errors.ts';
import { decodeResponseHeader, encodeResponse } from '../../kafka/frame.ts';
import type { ResponseHeader } from '../../kafka/frame.ts';
import type { Responses } from '../../kafka/schemas/types.ts';
import { BadTraffic, GATHER, PASS, WALK } from './frames.ts';
import type { Decision, FrameOwner } from './frames.ts';
import { frameMemory } from './frame-memory.ts';
import type { Pending } from './pending.ts';
import { API, RESPONSE_HEAD } from './requests.ts';
import { restrictVersions, rewriteAddresses, rewriteEndpoints } from './rewrite.ts';
import type { Seen } from './rewrite.ts';
import type { Session } from './session.ts';
import { walkProgram } from './walker.ts';

const UNSUPPORTED_VERSION = ERRORS.UNSUPPORTED_VERSION.code;
const NO_TOPIC_ID = 'A'.repeat(22);
/** No broker sends more. */
const MAX_RESPONSE = 0x7fff_ffff;
/** Brokers send what they announce, so memory for most responses is set aside at once. */
const FIRST_GATHER = 4_194_304;
/** Smaller frames are not worth the care. */
const LARGE_FRAME = 32_768;
/** An encoded response is hardly ever larger than the one that came by so much. */
const SLACK = 1024;

/** Which responses are always decoded, by API key. */
const DECODED: boolean[] = [];
for (const api of ['Metadata', 'FindCoordinator', 'DescribeCluster', 'ApiVersions'] as const)
  DECODED[apiOf(api).key] = true;

/** The direction from the broker to the client. */
export class ResponseSide implements FrameOwner {
  readonly minHead = RESPONSE_HEAD;
  readonly maxFrame = MAX_RESPONSE;
  /** An answer of ours waits for its turn, or the session waits for a boundary to end at. */
  due = false;
  readonly firstGather = FIRST_GATHER;
  keepsFrame = false;
  program: readonly number[] = [];
  readonly #session: Session;
  #current: Pending | undefined;

  constructor(session: Session) {
    this.#session = session;
  }

  mayBegin(): boolean {
    return true;
  }

  decide(bytes: Buffer, at: number): Decision {
    const session = this.#session;
    const pending = session.queue.first;
    if (!pending || pending.answer || pending.correlationId !== bytes.readInt32BE(at + 4))
      throw new BadTraffic('the broker answered something that was not asked');
    session.queue.shift();
    this.#current = pending;
    if (pending.asker) return GATHER;
    const { apiKey, apiVersion } = pending;
    session.cluster.stats.api(apiKey).latency.observe((performance.now() - pending.since) / 1000);
    if (DECODED[apiKey] || session.chain.wantsResponse(apiKey)) return GATHER;
    this.program = walkProgram(apiKey, apiVersion);
    return this.program.length > 0 ? WALK : PASS;
  }

  take(frame: Buffer): boolean {
    const pending = this.#current!;
    const session = this.#session;
    this.keepsFrame = false;
    if (pending.asker) {
      pending.asker(frame);
      return true;
    }
    if (!DECODED[pending.apiKey] && !session.chain.wantsResponse(pending.apiKey)) {
      const rewritten = this.#withEndpoints(frame, pending);
      this.keepsFrame = rewritten === frame;
      this.write(rewritten);
      return true;
    }
    const api = apiOf(pending.apiKey)!.name;
    const apiVersion = versionOf(pending, frame);
    const { end, ...header } = decodeResponseHeader(pending.apiKey, apiVersion, frame, 4);
    const body = responseCodec(api, apiVersion).decode(frame, end);
    const changed = this.#rewrite(api, body);
    if (!session.chain.wantsResponse(pending.apiKey)) {
      this.#forward(frame, changed ? body : undefined, pending.apiKey, apiVersion, header);
      return true;
    }
    session.pursueResponse(this.#filter(frame, changed, body, { ...pending, apiVersion }, header));
    return false;
  }

  async #filter(
    frame: Buffer,
    changed: boolean,
    body: Responses[ApiName],
    { apiKey, apiVersion }: Pending,
    header: ResponseHeader,
  ): Promise<void> {
    const session = this.#session;
    const { correlationId } = header;
    const context = { api: apiOf(apiKey)!.name, apiVersion, correlationId, clientId: null };
    const passed = await session.chain.response(body, context);
    if ('close' in passed) session.cut('filter', passed.close);
    else
      this.#forward(frame, changed || passed.touched ? passed.body : undefined, apiKey, apiVersion, header);
  }

  /** Sends a response on: encoded anew if it was changed, else as it came. */
  #forward(
    frame: Buffer,
    body: Responses[ApiName] | undefined,
    apiKey: number,
    apiVersion: number,
    header: ResponseHeader,
  ): void {
    this.keepsFrame = !body;
    if (!body) return this.write(frame);
    if (frame.length < LARGE_FRAME) return this.write(encodeResponse(apiKey, apiVersion, header, body));
    const memory = frameMemory.take(frame.length + SLACK);
    const encoded = encodeResponse(apiKey, apiVersion, header, body, memory);
    // It may have outgrown its memory, which then is free already.
    if (encoded.buffer === memory.buffer) return this.write(encoded, () => frameMemory.give(memory));
    frameMemory.give(memory);
    this.write(encoded);
  }

  /** Does to a decoded response what has to be done; true if that may have changed it. */
  #rewrite(api: ApiName, body: Responses[ApiName]): boolean {
    const { cluster, chain, rules, addressing } = this.#session;
    if (api === 'ApiVersions') {
      const isDecoded = (key: number) =>
        DECODED[key] ||
        chain.wantsRequest(key) ||
        chain.wantsResponse(key) ||
        walkProgram(key, apiOf(key)!.max).length > 0;
      restrictVersions(body as Responses['ApiVersions'], isDecoded, rules.unknownApis);
      return true;
    }
    if (api === 'Metadata' && cluster.filters.length > 0) {
      for (const { topicId, name } of (body as Responses['Metadata']).topics)
        if (name !== null && topicId !== NO_TOPIC_ID) cluster.topicNames.learn(topicId, name);
    }
    const seen = rewriteAddresses(api, body, addressing);
    this.#learn(seen);
    return seen.nodes.length > 0;
  }

  #withEndpoints(frame: Buffer, { apiKey, apiVersion }: Pending): Buffer {
    const { end } = decodeResponseHeader(apiKey, apiVersion, frame, 4);
    const rewritten = rewriteEndpoints(apiKey, apiVersion, frame, end, this.#session.addressing);
    if (!rewritten) return frame;
    this.#session.cluster.stats.rewritten.value += 1;
    this.#learn(rewritten.seen);
    return rewritten.frame;
  }

  #learn({ nodes, unadvertised }: Seen): void {
    const { cluster } = this.#session;
    cluster.topology.learn(nodes);
    if (unadvertised.length > 0) cluster.reportUnadvertised(unadvertised);
  }

  write(bytes: Buffer, sent?: () => void): void {
    const { client, upstream } = this.#session;
    if (upstream?.reuses) client.write(bytes, sent);
    else client.writeSoon(bytes, sent);
  }

  /** Answers of ours whose turn has come. */
  writeDue(): void {
    const session = this.#session;
    while (session.queue.first?.answer) this.write(session.queue.shift()!.answer!);
    this.due = session.ending || session.queue.hasAnswers;
    if (session.ending) session.settle();
  }

  endpointsHidden(): void {
    this.#session.cluster.stats.neutralised.value += 1;
  }

  badLength(length: number): string {
    return `the broker announces a frame of ${length} bytes`;
  }
}

/** A broker that does not know the version of an ApiVersions request answers in version 0. */
function versionOf({ apiKey, apiVersion }: Pending, frame: Buffer): number {
  const refused =
    apiKey === API.apiVersions && frame.length >= 10 && frame.readInt16BE(8) === UNSUPPORTED_VERSION;
  return refused ? 0 : apiVersion;
}
