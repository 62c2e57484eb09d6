import { apiOf } from '../../kafka/apis.ts';
import type { ApiName } from '../../kafka/apis.ts';
import { requestCodec, responseCodec } from '../../kafka/codec.ts';
import type { Draft } from '../../kafka/codec.ts';
import { errorResponse } from '../../kafka/error-response.ts';
import { ERRORS } from '../../kafka/errors.ts';
import { decodeRequestHeader, encodeRequest, encodeResponse } from '../../kafka/frame.ts';
import type { RequestHeader } from '../../kafka/frame.ts';
import type { Requests, Responses } from '../../kafka/schemas/types.ts';
import type {
  ConnectionFilter,
  MessageContext,
  RequestHandlers,
  RequestVerdict,
  ResponseHandlers,
  ResponseVerdict,
} from '../filter.ts';
import type { FrameOutcome } from './direction.ts';

/** The filters of one connection, in the order of requests. */
export interface FilterChain {
  wantsRequest(apiKey: number): boolean;
  wantsResponse(apiKey: number): boolean;
  /** The newest version of an API that all filters can deal with. */
  newestVersion(apiKey: number): number;
  /** Whether the client has to log in before it may send anything else. */
  isStranger(): boolean;
  /** Whether filters have something to do before the first request that is no part of a login, and have not done it. */
  mustBegin(): boolean;
  /** Has them do it; why the connection is to be closed, if it is. */
  begin(): Promise<string | undefined>;
  request(frame: Buffer): Promise<FrameOutcome>;
  /** Passes a decoded response through the filters, the last first. */
  response(body: Responses[ApiName], context: MessageContext): Promise<Passed>;
  close(): void;
}

/** A response behind (some of) the filters. */
export type Passed = { body: Responses[ApiName]; touched: boolean } | { close: string };

type RequestHandler = (
  body: Requests[ApiName],
  context: MessageContext,
) => RequestVerdict | Promise<RequestVerdict>;
type ResponseHandler = (
  body: Responses[ApiName],
  context: MessageContext,
) => ResponseVerdict | Promise<ResponseVerdict>;

/** Which API keys have a handler. */
function wanted(handlers: (RequestHandlers | ResponseHandlers | undefined)[]): boolean[] {
  const keys: boolean[] = [];
  for (const each of handlers)
    for (const name of Object.keys(each ?? {})) keys[apiOf(name as ApiName).key] = true;
  return keys;
}

/** By API key. */
function newestVersions(filters: readonly ConnectionFilter[]): number[] {
  const newest: number[] = [];
  for (const { newestVersions: wanted = {} } of filters)
    for (const [name, version] of Object.entries(wanted)) {
      const { key } = apiOf(name as ApiName);
      newest[key] = Math.min(newest[key] ?? Infinity, version);
    }
  return newest;
}

/** The chain of no filters wants nothing. */
export function createFilterChain(filters: readonly ConnectionFilter[]): FilterChain {
  const requests = wanted(filters.map(({ onRequest }) => onRequest));
  const responses = wanted(filters.map(({ onResponse }) => onResponse));
  const newest = newestVersions(filters);
  const doorkeepers = filters.filter(({ isStranger }) => isStranger !== undefined);
  const beginners = filters.filter(({ onBegin }) => onBegin !== undefined);
  let hasBegun = beginners.length === 0;
  const onlyKnown = filters.some(({ onlyKnownApis }) => onlyKnownApis);
  return {
    wantsRequest: (apiKey) => requests[apiKey] === true,
    wantsResponse: (apiKey) => responses[apiKey] === true,
    newestVersion: (apiKey) => newest[apiKey] ?? (onlyKnown && !apiOf(apiKey) ? -1 : Infinity),
    isStranger: () => doorkeepers.some((filter) => filter.isStranger!()),
    mustBegin: () => !hasBegun,
    async begin() {
      for (const filter of hasBegun ? [] : beginners) {
        const verdict = await filter.onBegin!();
        if (verdict) return verdict.close;
      }
      hasBegun = true;
      return undefined;
    },
    request: (frame) => filterRequest(filters, frame),
    response: (body, context) => filterResponse(filters, body, context),
    close() {
      for (const filter of filters) filter.onClose?.();
    },
  };
}

async function filterRequest(filters: readonly ConnectionFilter[], frame: Buffer): Promise<FrameOutcome> {
  const { end, ...header } = decodeRequestHeader(frame, 4);
  const { apiKey, apiVersion } = header;
  const api = apiOf(apiKey)!.name;
  let body = requestCodec(apiKey, apiVersion).decode(frame, end);
  let touched = false;
  const context: MessageContext = { api, ...header, bytes: frame.length };
  for (const [i, filter] of filters.entries()) {
    const verdict = await (filter.onRequest?.[api] as RequestHandler | undefined)?.(body, context);
    if (verdict === undefined) continue;
    if ('close' in verdict) return verdict;
    if ('forward' in verdict) {
      body = verdict.forward;
      touched = true;
      continue;
    }
    if (api === 'Produce' && (body as Requests['Produce']).acks === 0)
      return { close: 'a filter refused a request that wants no response' };
    const draft =
      'respond' in verdict
        ? verdict.respond
        : errorResponse(apiKey, apiVersion, body, ERRORS[verdict.answer].code, verdict.message);
    return answerFrom(filters.slice(0, i), header, draft, context);
  }
  return touched ? { forward: encodeRequest(header, body) } : 'pass';
}

async function filterResponse(
  filters: readonly ConnectionFilter[],
  body: Responses[ApiName],
  context: MessageContext,
): Promise<Passed> {
  let passed = { body, touched: false };
  for (let i = filters.length - 1; i >= 0; i--) {
    const handler = filters[i]!.onResponse?.[context.api] as ResponseHandler | undefined;
    const verdict = await handler?.(passed.body, context);
    if (verdict && 'close' in verdict) return verdict;
    if (verdict) passed = { body: verdict.forward, touched: true };
  }
  return passed;
}

/** A filter's answer goes back through those before it. */
async function answerFrom(
  before: readonly ConnectionFilter[],
  { apiKey, apiVersion, correlationId }: RequestHeader,
  draft: Draft<Responses[ApiName]>,
  context: MessageContext,
): Promise<FrameOutcome> {
  if (before.length === 0) return { answer: encodeResponse(apiKey, apiVersion, { correlationId }, draft) };
  const codec = responseCodec(apiKey, apiVersion);
  const encoded = codec.encode(draft);
  const passed = await filterResponse(before, codec.decode(encoded), { ...context, bytes: encoded.length });
  if ('close' in passed) return passed;
  return { answer: encodeResponse(apiKey, apiVersion, { correlationId }, passed.body) };
}
