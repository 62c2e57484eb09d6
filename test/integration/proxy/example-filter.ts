/** A filter as a user would write it, for the tests: it uses every verdict, and asks the broker. */
import { z } from 'zod';
import type { FilterType } from '../../../src/proxy/filter.ts';

const schema = z.strictObject({ forbidden: z.string(), prefix: z.string() });

export const filter: FilterType<z.output<typeof schema>> = {
  config: schema,
  create: ({ forbidden, prefix }) => ({
    connect: (context) => ({
      onRequest: {
        /** Refuses one topic, and closes on another. */
        async Produce(request) {
          const names = await context.topicNames(request.topicData.map(({ topicId }) => topicId));
          const topics = new Set(request.topicData.map(({ name, topicId }) => name || names.get(topicId)));
          if (topics.has(forbidden)) return { answer: 'TOPIC_AUTHORIZATION_FAILED', message: 'forbidden' };
          if (topics.has(`${forbidden}-close`)) return { close: 'a topic that must not be written' };
          return undefined;
        },
        /** Changes what goes on. */
        CreateTopics(request) {
          for (const topic of request.topics) topic.name = prefix + topic.name;
          return { forward: request };
        },
        /** Answers here, after a while, with what the broker says to something else. */
        async DescribeCluster() {
          const { clusterId } = await context.ask('Metadata', 12, { topics: [] });
          await new Promise((resolve) => setTimeout(resolve, 200));
          return { respond: { clusterId: `mine-${clusterId}`, brokers: [] } };
        },
      },
      onResponse: {
        /** Changes what comes back. */
        CreateTopics(response) {
          for (const topic of response.topics) topic.name = topic.name.slice(prefix.length);
          return { forward: response };
        },
      },
    }),
  }),
};
