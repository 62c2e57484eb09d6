import { apiOf } from '../../kafka/apis.ts';
import { learnTopic } from '../cluster/topic-names.ts';
import type { ConnectionContext } from '../filter.ts';
import type { Broker } from './broker.ts';
import type { ConnectionInfo } from './connection-info.ts';
import type { Pause } from './pause.ts';

/** The first version of Metadata that can be asked for topics by their ids alone. */
const METADATA_BY_ID = 12;

/** What of a session its filters can use. */
interface FilteredSession {
  readonly openBroker: Broker | undefined;
  readonly info: ConnectionInfo;
  readonly inResponse: boolean;
  readonly pause: Pause;
  drain(reason: string): void;
}

/** A session as its filters see it. */
export function connectionContext(session: FilteredSession): ConnectionContext {
  const { info } = session;
  const { cluster } = info;
  let identified: string | undefined;
  const ask: ConnectionContext['ask'] = async (api, apiVersion, body) => {
    if (session.inResponse) throw new Error('the broker can be asked only while a request is handled');
    if (!session.openBroker) throw new Error('the connection is closed');
    return session.openBroker.ask(api, apiVersion, body);
  };
  return {
    virtualCluster: cluster.config.name,
    gateway: info.gateway,
    clientAddress: info.clientAddress,
    get principal() {
      return identified ?? info.principal;
    },
    identify(principal) {
      identified = principal;
    },
    log: cluster.log,
    pauseFor: (ms) => session.pause.extend(ms),
    closeSoon: (reason) => session.drain(reason),
    ask,
    async topicNames(ids) {
      const found = new Map<string, string>();
      const missing: string[] = [];
      for (const id of ids) {
        const name = cluster.topicNames.get(id);
        if (name === undefined) missing.push(id);
        else found.set(id, name);
      }
      if (missing.length === 0 || session.inResponse) return found;
      const topics = missing.map((topicId) => ({ topicId, name: null }));
      const version = Math.min(METADATA_BY_ID, apiOf('Metadata').max);
      const response = await ask('Metadata', version, { topics, allowAutoTopicCreation: false });
      const asked = new Set(missing);
      for (const { topicId, name } of response.topics) {
        if (name === null || name === '' || !asked.has(topicId)) continue;
        if (learnTopic(cluster.topicNames, topicId, name)) found.set(topicId, name);
      }
      return found;
    },
  };
}
