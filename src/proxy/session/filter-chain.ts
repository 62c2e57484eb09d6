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

/** The chain of no filters wants nothing. */
export function createFilterChain(filters: readonly ConnectionFilter[]): FilterChain {
  const requests = wanted(filters.map(({ onRequest }) => onRequest));
  const responses = wanted(filters.map(({ onResponse }) => onResponse));

  async function responseFrom(
    start: number,
    body: Responses[ApiName],
    context: MessageContext,
  ): Promise<Passed> {
    let passed = { body, touched: false };
    for (let i = start; i >= 0; i--) {
      const handler = filters[i]!.onResponse?.[context.api] as ResponseHandler | undefined;
      const verdict = await handler?.(passed.body, context);
      if (verdict && 'close' in verdict) return verdict;
      if (verdict) passed = { body: verdict.forward, touched: true };
    }
    return passed;
  }

  /** The answer of filter `from` goes back through those before it. */
  async function answer(
    from: number,
    header: RequestHeader,
    draft: Draft<Responses[ApiName]>,
    context: MessageContext,
  ): Promise<FrameOutcome> {
    const { apiKey, apiVersion, correlationId } = header;
    if (from === 0) return { answer: encodeResponse(apiKey, apiVersion, { correlationId }, draft) };
    const codec = responseCodec(apiKey, apiVersion);
    const passed = await responseFrom(from - 1, codec.decode(codec.encode(draft)), context);
    if ('close' in passed) return passed;
    return {
      answer: encodeResponse(apiKey, apiVersion, { correlationId }, passed.body),
    };
  }

  return {
    wantsRequest: (apiKey) => requests[apiKey] === true,
    wantsResponse: (apiKey) => responses[apiKey] === true,
    async request(frame) {
      const { end, ...header } = decodeRequestHeader(frame, 4);
      const api = apiOf(header.apiKey)!.name;
      let body = requestCodec(header.apiKey, header.apiVersion).decode(frame, end);
      let touched = false;
      const context: MessageContext = { api, ...header };
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
            : errorResponse(
                header.apiKey,
                header.apiVersion,
                body,
                ERRORS[verdict.answer].code,
                verdict.message,
              );
        return answer(i, header, draft, context);
      }
      return touched ? { forward: encodeRequest(header, body) } : 'pass';
    },
    response: (body, context) => responseFrom(filters.length - 1, body, context),
    close() {
      for (const filter of filters) filter.onClose?.();
    },
  };
}
