import type { Addressing } from '../cluster/addressing.ts';
import type { Cluster } from '../cluster/cluster.ts';
import type { Limits, ProxyConfig } from '../config/model.ts';

/** Where a client's connection was routed to, and whose it is. */
export interface ConnectionInfo {
  cluster: Cluster;
  gateway: string;
  addressing: Addressing;
  /** The broker that it is for; undefined is any of them. */
  node: number | undefined;
  clientAddress: string;
  principal: string | undefined;
}

/** What a session needs to know of the process's configuration. */
export interface SessionRules {
  limits: Limits;
  unknownApis: ProxyConfig['unknownApis'];
}
