import { createBreaker } from '../../../crypto/breaker.ts';
import { createKeyRing } from '../../../crypto/key-ring.ts';
import { KMS_SECRET_FIELDS } from '../../../crypto/kms/providers.ts';
import { meteredKms, reportBreaker } from '../../../crypto/metered.ts';
import { retryingKms } from '../../../crypto/retry.ts';
import { BoundedMap } from '../../../ops/bounded-map.ts';
import type { ConnectionContext, ConnectionFilter, FilterProblem, FilterType } from '../../filter.ts';
import { recordEncryptionSchema } from './config.ts';
import type { RecordEncryptionConfig } from './config.ts';
import { openTopics } from './open-response.ts';
import type { FetchedTopic, TopicNames } from './open-response.ts';
import { sealOrRefuse } from './seal-request.ts';
import { createCounters, MOST_TOPICS } from './shared.ts';
import type { Shared } from './shared.ts';

/** The names by which a configuration asks for this filter. */
export const RECORD_ENCRYPTION_TYPES = [
  'record-encryption',
  'RecordEncryption',
  'io.kroxylicious.filter.encryption.RecordEncryption',
] as const;

/**
 * Seals records on their way to the broker and opens them on their way back, in the original's format or in ours, as the
 * policy of their topic says. What the policy leaves open is refused: a topic that has no rule or no key, and what is not
 * sealed in a fetched topic that must be. Both formats are read wherever something is sealed. What was sealed with another key than the topic's is never opened: a broker may put records anywhere.
 */
export const recordEncryption: FilterType<RecordEncryptionConfig> = {
  config: recordEncryptionSchema,
  secretFields: KMS_SECRET_FIELDS.map((field) => `kmsConfig.${field}`),
  create(config, { virtualCluster, name, metrics, outbound }) {
    const labels = { virtual_cluster: virtualCluster, filter: name };
    const breaker = createBreaker();
    const service = config.provider.create(config.kmsConfig, { outbound });
    const kms = retryingKms(meteredKms(service, metrics, labels), { breaker });
    const stopReport = reportBreaker(breaker, metrics, labels);
    const filter: Shared = {
      config,
      ring: createKeyRing(kms, config.limits),
      counters: createCounters(metrics),
      virtualCluster,
      topics: new Set(),
      keks: new BoundedMap(MOST_TOPICS),
    };
    return {
      connect: (context) => connectionFilter(filter, context),
      problem: () => (breaker.isFailing() ? KEYS_UNAVAILABLE : undefined),
      close() {
        stopReport();
        filter.ring.close();
      },
    };
  },
};

const KEYS_UNAVAILABLE: FilterProblem = {
  reason: 'KeyServiceUnavailable',
  message:
    'its key service does not answer; what needs a key that is not remembered is refused until it does',
};

/** The last versions in which clients name their topics: after these, the broker would have to say what an id means. */
const BY_NAME = { Produce: 12, Fetch: 12 } as const;

function connectionFilter(shared: Shared, context: ConnectionContext): ConnectionFilter {
  const open = async <T extends { responses: FetchedTopic[] }>(response: T, names?: TopicNames) =>
    (await openTopics(shared, response.responses, context.log, names)) ? { forward: response } : undefined;
  return {
    newestVersions: BY_NAME,
    onRequest: {
      Produce: (request) => sealOrRefuse(shared, request, context.log),
      async ShareFetch(request) {
        await context.topicNames(request.topics.map(({ topicId }) => topicId)); // known when the response comes
        return undefined;
      },
    },
    onResponse: {
      Fetch: (response) => open(response),
      ShareFetch: async (response) =>
        open(response, await context.topicNames(response.responses.map(({ topicId }) => topicId))),
    },
  };
}
