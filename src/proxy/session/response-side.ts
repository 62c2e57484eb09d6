import { apiOf } from '../../kafka/apis.ts';
import type { ApiName } from '../../kafka/apis.ts';
import { responseCodec } from '../../kafka/codec.ts';
import { ERRORS } from '../../kafka/errors.ts';
import { decodeResponseHeader, encodeResponse } from '../../kafka/frame.ts';
import type { ResponseHeader } from '../../kafka/frame.ts';
import type { Responses } from '../../kafka/schemas/types.ts';
import { learnTopic } from '../cluster/topic-names.ts';
import type { MemoryAccount } from '../net/byte-budget.ts';
import type { FrameOutcome, Side } from './direction.ts';
import { EndpointScanner, scanProgram } from './endpoint-scanner.ts';
import { frameMemory, LARGE_FRAME } from './frame-memory.ts';
import { BadTraffic, GATHER, PASS } from './frame-stream.ts';
import type { Decision } from './frame-stream.ts';
import type { InFlightRequest } from './in-flight.ts';
import { API, isLogin, RESPONSE_HEAD } from './request-head.ts';
import { REWRITTEN, restrictVersions, rewriteAddresses, rewriteEndpoints } from './rewrite.ts';
import type { Seen } from './rewrite.ts';
import type { SessionState } from './session-state.ts';

const UNSUPPORTED_VERSION = ERRORS.UNSUPPORTED_VERSION.code;
/** No broker sends more. What has to be gathered is bounded by what a connection may hold. */
const MAX_RESPONSE = 0x7fff_ffff;
/** Brokers send what they announce, so memory for most responses is set aside at once. */
const FIRST_GATHER = 4_194_304;
/** An encoded response is hardly ever larger than the one that came by so much. */
const SLACK = 1024;

/** Which responses are always decoded, by API key. */
const DECODED: boolean[] = [];
for (const api of [...REWRITTEN, 'ApiVersions'] as const) DECODED[apiOf(api).key] = true;

/** The direction from the broker to the client. */
export class ResponseSide implements Side {
  readonly minHead = RESPONSE_HEAD;
  readonly maxFrame = MAX_RESPONSE;
  readonly firstGather = FIRST_GATHER;
  readonly account: MemoryAccount;
  readonly #state: SessionState;
  readonly #scanner: EndpointScanner;
  /** The request that the current frame answers. */
  #request: InFlightRequest | undefined;

  constructor(state: SessionState) {
    this.#state = state;
    this.account = state.account;
    this.#scanner = new EndpointScanner(state.info.cluster.stats.neutralised);
  }

  /** The client has asked for it, so it is never in the way. */
  mayBegin(): boolean {
    return true;
  }

  decide(bytes: Buffer, at: number): Decision {
    const state = this.#state;
    const { inFlight, info, chain } = state;
    const request = inFlight.first;
    if (!request || request.answer || request.correlationId !== bytes.readInt32BE(at + 4))
      throw new BadTraffic('the broker sent a response that was not asked for');
    inFlight.shift();
    this.#request = request;
    const { apiKey, apiVersion } = request;
    // Brokers answer nothing else before a login; where they want none, the first answer shows that.
    if (!state.accepted && !isLogin(apiKey)) state.accepted = true;
    if (request.onResponse) return GATHER;
    const latencyMs = performance.now() - request.since;
    info.cluster.stats.api(apiKey).latency.observe(latencyMs / 1000);
    if (request.tapped)
      info.cluster.tap.show({ ...request.tapped, latencyMs, responseBytes: bytes.readInt32BE(at) + 4 });
    if (DECODED[apiKey] || chain.wantsResponse(apiKey)) return GATHER;
    const program = scanProgram(apiKey, apiVersion);
    return program.length > 0 ? this.#scanner.begin(program) : PASS;
  }

  take(frame: Buffer): FrameOutcome | Promise<FrameOutcome> {
    const request = this.#request!;
    const { chain } = this.#state;
    const { apiKey, onResponse } = request;
    if (onResponse) {
      onResponse(frame);
      return 'drop';
    }
    const filtered = chain.wantsResponse(apiKey);
    if (!DECODED[apiKey] && !filtered) return this.#withEndpoints(frame, request);
    const api = apiOf(apiKey)!.name;
    const apiVersion = versionOf(request, frame);
    const { end, ...header } = decodeResponseHeader(apiKey, apiVersion, frame, 4);
    const body = responseCodec(api, apiVersion).decode(frame, end);
    const changed = this.#rewrite(api, body);
    if (filtered) return this.#filter(frame, changed, body, { ...request, apiVersion }, header);
    return changed ? encoded(frame, body, apiKey, apiVersion, header) : 'pass';
  }

  async #filter(
    frame: Buffer,
    changed: boolean,
    body: Responses[ApiName],
    { apiKey, apiVersion }: InFlightRequest,
    header: ResponseHeader,
  ): Promise<FrameOutcome> {
    const { correlationId } = header;
    const context = {
      api: apiOf(apiKey)!.name,
      apiVersion,
      correlationId,
      clientId: null,
      bytes: frame.length,
    };
    const passed = await this.#state.chain.response(body, context);
    if ('close' in passed) return passed;
    return changed || passed.touched ? encoded(frame, passed.body, apiKey, apiVersion, header) : 'pass';
  }

  /** Does to a decoded response what has to be done; true if that may have changed it. */
  #rewrite(api: ApiName, body: Responses[ApiName]): boolean {
    const { chain, rules, info } = this.#state;
    const { cluster, addressing } = info;
    if (api === 'ApiVersions') {
      const isDecoded = (key: number) => DECODED[key] || chain.wantsRequest(key) || chain.wantsResponse(key);
      const newest = (key: number) => chain.newestVersion(key);
      restrictVersions(body as Responses['ApiVersions'], isDecoded, rules.unknownApis, newest);
      return true;
    }
    const isFiltered = cluster.filters.length > 0;
    if (api === 'Metadata' && (isFiltered || cluster.tap.on)) {
      for (const { topicId, name } of (body as Responses['Metadata']).topics)
        if (!learnTopic(cluster.topicNames, topicId, name) && isFiltered)
          throw new BadTraffic(`the broker gives the id ${topicId} to two topics, one of them ${name}`);
    }
    const seen = rewriteAddresses(api, body, addressing);
    this.#learn(seen);
    return REWRITTEN.includes(api) || seen.nodes.length > 0;
  }

  #withEndpoints(frame: Buffer, { apiKey, apiVersion }: InFlightRequest): FrameOutcome {
    const { cluster, addressing } = this.#state.info;
    const { end } = decodeResponseHeader(apiKey, apiVersion, frame, 4);
    const rewritten = rewriteEndpoints(apiKey, apiVersion, frame, end, addressing);
    if (!rewritten) return 'pass';
    cluster.stats.rewritten.value += 1;
    this.#learn(rewritten.seen);
    return { forward: rewritten.frame };
  }

  #learn({ nodes, unadvertised }: Seen): void {
    const { cluster } = this.#state.info;
    cluster.topology.learn(nodes);
    if (unadvertised.length > 0) cluster.reportUnadvertised(unadvertised);
  }

  badLength(length: number): string {
    return `the broker announces a frame of ${length} bytes`;
  }
}

/** A changed response that goes on in place of `frame`; a large one in pooled memory. */
function encoded(
  frame: Buffer,
  body: Responses[ApiName],
  apiKey: number,
  apiVersion: number,
  header: ResponseHeader,
): FrameOutcome {
  if (frame.length < LARGE_FRAME) return { forward: encodeResponse(apiKey, apiVersion, header, body) };
  const memory = frameMemory.take(frame.length + SLACK);
  const forward = encodeResponse(apiKey, apiVersion, header, body, memory);
  if (forward.buffer === memory.buffer) return { forward, memory };
  frameMemory.give(memory); // it has outgrown its memory, which then is free already
  return { forward };
}

/** A broker that does not know the version of an ApiVersions request answers in version 0. */
function versionOf({ apiKey, apiVersion }: InFlightRequest, frame: Buffer): number {
  const refused =
    apiKey === API.apiVersions && frame.length >= 10 && frame.readInt16BE(8) === UNSUPPORTED_VERSION;
  return refused ? 0 : apiVersion;
}
