/** Messages as a filter gets them: decoded from what somebody has sent in one version, with the facts about them. */
import { apiOf } from '../../../src/kafka/apis.ts';
import type { ApiName } from '../../../src/kafka/apis.ts';
import { requestCodec, responseCodec } from '../../../src/kafka/codec.ts';
import type { Draft } from '../../../src/kafka/codec.ts';
import type { Requests, Responses } from '../../../src/kafka/schemas/types.ts';
import type { MessageContext } from '../../../src/proxy/filter.ts';

/** Every version that an API has. */
export function versionsOf(api: ApiName): number[] {
  const { min, max } = apiOf(api);
  return Array.from({ length: max - min + 1 }, (_, i) => min + i);
}

export function receivedRequest<Name extends ApiName>(
  api: Name,
  version: number,
  body: Draft<Requests[Name]>,
): Requests[Name] {
  const codec = requestCodec(api, version);
  return codec.decode(codec.encode(body));
}

export function receivedResponse<Name extends ApiName>(
  api: Name,
  version: number,
  body: Draft<Responses[Name]>,
): Responses[Name] {
  const codec = responseCodec(api, version);
  return codec.decode(codec.encode(body));
}

export const aboutMessage = (api: ApiName, apiVersion: number): MessageContext => ({
  api,
  apiVersion,
  correlationId: 1,
  clientId: 'c',
  bytes: 0,
});
