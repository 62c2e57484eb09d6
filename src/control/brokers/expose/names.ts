/** Names of what is exposed: spelled here and nowhere else. */
import type { HostPortExposure } from '../model/cluster.ts';

export const ID_TOKEN = '$(id)';
/** The same, and with a number that is added to the id, as Redpanda clusters have it. */
export const ANY_ID_TOKEN = /\$\(id(?:\+(\d+))?\)/g;

/** The name of a broker, or of all of them. */
export const exposedHost = (pattern: string, id: number | 'bootstrap'): string =>
  pattern.replaceAll(ID_TOKEN, String(id));

export const hostPortServiceName = (cluster: string, listener: string) =>
  `${cluster}-kafka-${listener}-hostport`;
export const dnsEndpointName = (cluster: string, listener: string) => `${cluster}-kafka-${listener}`;

/** Load balancers, as Strimzi names them. */
export const outsideServiceName = (cluster: string, listener: string) =>
  `${cluster}-kafka-${listener}-bootstrap`;
export const brokerServiceName = (cluster: string, pool: string, listener: string, id: number) =>
  `${cluster}-${pool}-${listener}-${id}`;

/** As what the addresses of a load balancer are written down. */
export const addressKey = (listener: string, id: number | 'bootstrap') => `${listener}-${id}`;

/** As what the port of a listener is written down: another way to get one gets another. */
export const portKey = (listener: string, { strategy }: Pick<HostPortExposure, 'strategy'>): string =>
  strategy === 'range' ? `${listener}.range` : listener;
