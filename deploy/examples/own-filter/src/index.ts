/** A filter of one's own: some topics are read-only, and new ones have to be named as the house wants it. */
import type { ConnectionContext, ConnectionFilter, FilterType } from 'isthmus/filter';
import { z } from 'zod';

/** What stands in `config`. What is not in here is refused, with the name of the field, before anything is loaded. */
const config = z.strictObject({
  readOnly: z.array(z.string()).default([]),
  newTopics: z.string().default('^[a-z][a-z0-9.-]*$'),
});

type Config = z.output<typeof config>;

/** The one thing that the package exports: the kind of filter. */
export const filter: FilterType<Config> = {
  config,
  // Once for each virtual cluster that has the filter in its list, and again when its configuration changes.
  create({ readOnly, newTopics }, { virtualCluster, metrics }) {
    const pattern = new RegExp(newTopics);
    const refused = metrics
      .counter('isthmus_filter_topic_guard_refused_total', 'Requests that the topic guard refused')
      .of({ virtual_cluster: virtualCluster });
    return {
      connect: (context) => guard(new Set(readOnly), pattern, () => void (refused.value += 1), context),
    };
  },
};

/** Once for each connection. The handlers say which APIs are decoded; all others pass without being looked at. */
function guard(
  readOnly: ReadonlySet<string>,
  pattern: RegExp,
  count: () => void,
  context: ConnectionContext,
): ConnectionFilter {
  return {
    onRequest: {
      async Produce(request) {
        // Since version 13 a request has ids of topics instead of their names.
        const ids = request.topicData.map(({ topicId }) => topicId);
        const byId = await context.topicNames(ids);
        const names = request.topicData.map(({ name, topicId }) => name || byId.get(topicId));
        if (!names.some((name) => name !== undefined && readOnly.has(name))) return undefined; // passes as it is
        count();
        context.log.info({ user: context.principal ?? null }, 'write to a read-only topic refused');
        return { answer: 'TOPIC_AUTHORIZATION_FAILED', message: 'the topic is read-only' };
      },
      CreateTopics(request) {
        if (request.topics.every(({ name }) => pattern.test(name))) return undefined;
        count();
        return {
          answer: 'INVALID_TOPIC_EXCEPTION',
          message: `names of topics have to match ${pattern.source}`,
        };
      },
    },
    onResponse: {
      /** Clients are not shown what begins with an underscore; a changed response is forwarded. */
      Metadata(response) {
        response.topics = response.topics.filter(({ name }) => !name?.startsWith('_'));
        return { forward: response };
      },
    },
  };
}
