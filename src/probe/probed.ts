/** What a probe finds, step by step, as an outside client would meet it. */

/** The steps in the order they are taken. Which of them there are depends on the listener. */
export type Step = 'connect' | 'tls' | 'versions' | 'login' | 'metadata' | 'identity';

export interface Passed {
  step: Step;
  ms: number;
}

export interface Failed {
  step: Step;
  problem: string;
}

/** One address of a name: every client may be given any of them. */
export interface ProbedAddress {
  address: string;
  passed: readonly Passed[];
  failed?: Failed;
}

export interface ProbedEndpoint {
  host: string;
  port: number;
  /** The broker that this should be; none for the address that clients begin with. */
  nodeId?: number;
  resolveMs: number;
  /** Why the name has no address. */
  unresolved?: string;
  addresses: readonly ProbedAddress[];
}

export interface Broker {
  nodeId: number;
  host: string;
  port: number;
}

export interface ProbedCluster {
  clusterId: string | null;
  bootstrap: readonly ProbedEndpoint[];
  brokers: readonly ProbedEndpoint[];
  /** Brokers that were left out, because there are too many. */
  leftOut: number;
}

/** Whether a client gets through, whichever address it takes. */
export const isReachable = ({ addresses }: ProbedEndpoint): boolean =>
  addresses.length > 0 && addresses.every(({ failed }) => failed === undefined);

/** How long the whole way took, of the address that took longest: a client may be given any. */
export const wayMs = ({ resolveMs, addresses }: ProbedEndpoint): number =>
  resolveMs + Math.max(0, ...addresses.map(({ passed }) => passed.reduce((all, { ms }) => all + ms, 0)));
