/** Names of what is exposed: spelled here and nowhere else. */
import type { Exposure } from '../model/cluster.ts';

export const ID_TOKEN = '$(id)';

/** The name of a broker, or of all of them. */
export const exposedHost = (pattern: string, id: number | 'bootstrap'): string =>
  pattern.replaceAll(ID_TOKEN, String(id));

export const hostPortServiceName = (cluster: string, listener: string) =>
  `${cluster}-kafka-${listener}-hostport`;
export const dnsEndpointName = (cluster: string, listener: string) => `${cluster}-kafka-${listener}`;

/** As what the port of a listener is written down: another way to get one gets another. */
export const portKey = (listener: string, { strategy }: Pick<Exposure, 'strategy'>): string =>
  strategy === 'range' ? `${listener}.range` : listener;
