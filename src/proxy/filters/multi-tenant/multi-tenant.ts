import { z } from 'zod';
import type { ApiName } from '../../../kafka/apis.ts';
import { topicIdsIn } from '../../../kafka/names.ts';
import type { Requests, Responses } from '../../../kafka/schemas/types.ts';
import type {
  ConnectionContext,
  ConnectionFilter,
  FilterType,
  MessageContext,
  RequestVerdict,
} from '../../filter.ts';
import { NEWEST_VERSIONS, TENANT_API_NAMES } from './apis.ts';
import { refusalOf, toCluster, toTenant } from './tenant.ts';

const schema = z.strictObject({
  prefixResourceNameSeparator: z
    .string()
    .regex(/^[a-zA-Z0-9._-]{1,8}$/, 'must be 1 to 8 of the characters that names of topics may have')
    .default('-'),
});

/** What a topic's name may be made of. */
const NAME = /^[a-zA-Z0-9._-]{1,100}$/;

/**
 * Gives each virtual cluster topics, groups and transactional ids of its own in one Kafka: their names have the virtual
 * cluster's name before them, which its clients never see. What it does not know is refused.
 */
export const multiTenant: FilterType<z.output<typeof schema>> = {
  config: schema,
  create({ prefixResourceNameSeparator: separator }, { virtualCluster }) {
    if (!NAME.test(virtualCluster))
      throw new Error(`the name of the virtual cluster ${virtualCluster} cannot be part of names of topics`);
    // Or the topics of "a" that begin with "b-" would be those of "a-b".
    if (virtualCluster.includes(separator))
      throw new Error(
        `the name of the virtual cluster ${virtualCluster} contains the separator "${separator}": ` +
          'set prefixResourceNameSeparator to one that no virtual cluster of this Kafka has in its name',
      );
    const prefix = virtualCluster + separator;
    return { connect: (context) => connectionFilter(prefix, context) };
  },
};

function connectionFilter(prefix: string, context: ConnectionContext): ConnectionFilter {
  const onRequest = async (request: Requests[ApiName], { api }: MessageContext): Promise<RequestVerdict> => {
    const refusal = refusalOf(api, request);
    if (refusal) return { answer: refusal };
    if (!(await ownsTopics(prefix, topicIdsIn(`${api}Request`, request), context)))
      return { answer: 'UNKNOWN_TOPIC_ID' };
    toCluster(prefix, api, request);
    return { forward: request };
  };
  const onResponse = (response: Responses[ApiName], { api }: MessageContext) => {
    toTenant(prefix, api, response);
    return { forward: response };
  };
  const forAll = <T>(handler: T) => Object.fromEntries(TENANT_API_NAMES.map((api) => [api, handler]));
  return {
    newestVersions: NEWEST_VERSIONS,
    onlyKnownApis: true,
    onRequest: forAll(onRequest),
    onResponse: forAll(onResponse),
  };
}

/** Whether all of these topics are the tenant's. An id that means nothing is treated as one that means another's topic. */
async function ownsTopics(
  prefix: string,
  ids: ReadonlySet<string>,
  context: ConnectionContext,
): Promise<boolean> {
  if (ids.size === 0) return true;
  const names = await context.topicNames(ids);
  return [...ids].every((id) => names.get(id)?.startsWith(prefix));
}
