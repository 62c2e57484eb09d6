import { apiOf } from './apis.ts';
import type { ApiName } from './apis.ts';
import { responseCodec } from './codec.ts';
import { errorResponse } from './error-response.ts';
import { ERRORS } from './errors.ts';
import type { KafkaErrorName } from './errors.ts';
import { changeNames } from './names.ts';
import type { NameKind } from './names.ts';
import type { Requests, Responses } from './schemas/types.ts';

/** What was taken out of a request, as its answer; all of it, or a part that belongs into the broker's response. */
export type Split = { respond: Responses[ApiName] } | { partly: Responses[ApiName] };

/**
 * Takes out of a request what is refused, in place, and makes the entries of the response that say so. For requests whose
 * entries are answered one by one, each with a name of this kind.
 */
export function splitRequest(
  api: ApiName,
  apiVersion: number,
  request: Requests[ApiName],
  kind: NameKind,
  isRefused: (name: string) => boolean,
  error: KafkaErrorName,
): Split {
  const refused = copyOf(request);
  let left = 0;
  const keep = (message: Requests[ApiName], wanted: (name: string) => boolean) =>
    changeNames(`${api}Request`, message, (each, name) => (each !== kind || wanted(name) ? name : undefined));
  keep(refused, isRefused);
  keep(request, (name) => {
    if (isRefused(name)) return false;
    left += 1;
    return true;
  });
  const { key } = apiOf(api);
  const codec = responseCodec(key, apiVersion);
  const response = codec.decode(codec.encode(errorResponse(key, apiVersion, refused, ERRORS[error].code)));
  // A response without brokers is worth nothing to clients: they ask again, and never learn of the error. Version 0 would list all topics.
  const isEmpty = left === 0 && !(api === 'Metadata' && apiVersion > 0);
  return isEmpty ? { respond: response } : { partly: response };
}

/** A message that can be changed without the other; the bytes in it, which may be most of it, are the same. */
function copyOf<T>(value: T): T {
  if (typeof value !== 'object' || value === null || Buffer.isBuffer(value)) return value;
  if (Array.isArray(value)) return value.map(copyOf) as T;
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, copyOf(inner)])) as T;
}

/** Adds the entries of one response to another of the same API and version. */
export function addEntries(response: Responses[ApiName], entries: Responses[ApiName]): void {
  const into = response as unknown as Record<string, unknown>;
  for (const [name, list] of Object.entries(entries))
    if (Array.isArray(list) && list.length > 0)
      into[name] = [...((into[name] as unknown[] | null) ?? []), ...list];
}
