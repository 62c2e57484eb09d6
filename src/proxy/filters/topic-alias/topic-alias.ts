import type { ApiName } from '../../../kafka/apis.ts';
import { topicIdsIn } from '../../../kafka/names.ts';
import type { Requests, Responses } from '../../../kafka/schemas/types.ts';
import { addEntries } from '../../../kafka/split-request.ts';
import type {
  ConnectionContext,
  ConnectionFilter,
  FilterType,
  MessageContext,
  RequestVerdict,
} from '../../filter.ts';
import { aliasesOf } from './aliases.ts';
import type { Aliases } from './aliases.ts';
import { ALIAS_API_NAMES, NEWEST_VERSIONS } from './apis.ts';
import { topicAliasSchema } from './config.ts';
import type { TopicAliasConfig } from './config.ts';
import { toBroker, toClient } from './translate.ts';

/** Lets clients call topics by other names than the broker has for them. What it does not know is refused. */
export const topicAlias: FilterType<TopicAliasConfig> = {
  config: topicAliasSchema,
  create(config) {
    const aliases = aliasesOf(config);
    return { connect: (context) => connectionFilter(aliases, context) };
  },
};

function connectionFilter(aliases: Aliases, context: ConnectionContext): ConnectionFilter {
  /** By correlation id: entries that belong into a response that has not come yet. */
  const pending = new Map<number, Responses[ApiName]>();

  const onRequest = async (
    request: Requests[ApiName],
    { api, apiVersion, correlationId }: MessageContext,
  ): Promise<RequestVerdict> => {
    if (!(await seesTopics(aliases, topicIdsIn(`${api}Request`, request), context)))
      return { answer: 'UNKNOWN_TOPIC_ID' };
    const outcome = toBroker(aliases, api, apiVersion, request);
    if ('refuse' in outcome) return { answer: outcome.refuse };
    if ('respond' in outcome) return outcome;
    if (outcome.answered && !wantsNoAnswer(api, request)) pending.set(correlationId, outcome.answered);
    return { forward: request };
  };
  const onResponse = (response: Responses[ApiName], { api, correlationId }: MessageContext) => {
    toClient(aliases, api, response);
    const entries = pending.get(correlationId);
    pending.delete(correlationId);
    if (entries) addEntries(response, entries);
    return { forward: response };
  };
  const forAll = <T>(handler: T) => Object.fromEntries(ALIAS_API_NAMES.map((api) => [api, handler]));
  return {
    newestVersions: NEWEST_VERSIONS,
    onlyKnownApis: true,
    onRequest: forAll(onRequest),
    onResponse: forAll(onResponse),
    onClose: () => pending.clear(),
  };
}

const wantsNoAnswer = (api: ApiName, request: Requests[ApiName]) =>
  api === 'Produce' && (request as Requests['Produce']).acks === 0;

/** Whether clients see all of these topics. An id that means nothing is treated as that of a hidden topic. */
async function seesTopics(
  aliases: Aliases,
  ids: ReadonlySet<string>,
  context: ConnectionContext,
): Promise<boolean> {
  if (ids.size === 0) return true;
  const names = await context.topicNames(ids);
  return [...ids].every((id) => aliases.inward(names.get(id) ?? '') !== undefined && names.has(id));
}
