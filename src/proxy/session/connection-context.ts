import { apiOf } from '../../kafka/apis.ts';
import type { ConnectionContext } from '../filter.ts';
import type { Session } from './session.ts';

/** The first version of Metadata that can be asked for topics by their ids alone. */
const METADATA_BY_ID = 12;

/** A session as its filters see it. */
export function connectionContext(session: Session): ConnectionContext {
  const { cluster, arrival } = session;
  return {
    virtualCluster: cluster.config.name,
    gateway: arrival.gateway,
    clientAddress: arrival.clientAddress,
    principal: arrival.principal,
    log: cluster.log,
    closeSoon: (reason) => session.drain(reason),
    ask: (api, apiVersion, body) => session.ask(api, apiVersion, body),
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
      const response = await session.ask('Metadata', version, { topics, allowAutoTopicCreation: false });
      for (const { topicId, name } of response.topics) {
        if (name === null || name === '') continue;
        cluster.topicNames.learn(topicId, name);
        found.set(topicId, name);
      }
      return found;
    },
  };
}
