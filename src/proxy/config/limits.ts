import type { Limits } from './model.ts';
import type { ConfigDocument } from './schema.ts';

const DEFAULT_CONNECTIONS = 10_000;
/** For the frames that one worker holds. What is made of them takes as much again, so that a worker has twice this at most. */
const DEFAULT_BUFFERED = 134_217_728;
/** What one tenant or one client may have of a limit: most of it, but never so much that nothing is left to the others. */
const mostOf = (limit: number) => Math.ceil(limit * 0.75);

/** What a timer can wait; it would take more, and also "no limit", for no time at all. */
const LONGEST_MS = 0x7fff_ffff;
const forTimer = (ms: number) => Math.min(ms || LONGEST_MS, LONGEST_MS);

/** Fills in the defaults; all are finite. */
export function limitsOf({ limits = {}, network }: ConfigDocument, workers: number): Limits {
  const { maxConnections = DEFAULT_CONNECTIONS } = limits;
  return {
    maxConnections,
    maxConnectionsPerAddress: limits.maxConnectionsPerAddress ?? mostOf(maxConnections),
    maxConnectionsPerVirtualCluster: limits.maxConnectionsPerVirtualCluster ?? mostOf(maxConnections),
    maxFrameBytes: limits.maxFrameBytes ?? 104_857_600,
    ...bufferLimits(limits, workers),
    connectTimeoutMs: forTimer(limits.connectTimeout ?? 10_000),
    handshakeTimeoutMs: forTimer(limits.handshakeTimeout ?? 10_000),
    idleTimeoutMs: network?.proxy?.authenticatedIdleTimeout ?? limits.idleTimeout ?? 600_000,
    unauthenticatedIdleTimeoutMs:
      network?.proxy?.unauthenticatedIdleTimeout ?? limits.unauthenticatedIdleTimeout ?? 60_000,
  };
}

/** Of one worker: each has memory of its own, so what is given for all is divided evenly. */
function bufferLimits(limits: NonNullable<ConfigDocument['limits']>, workers: number) {
  const inAll = limits.maxBufferedBytes ?? DEFAULT_BUFFERED * workers;
  const ofOneCluster = limits.maxBufferedBytesPerVirtualCluster ?? mostOf(inAll);
  return {
    maxBufferedBytes: Math.floor(inAll / workers),
    maxBufferedBytesPerVirtualCluster: Math.floor(ofOneCluster / workers),
    maxBufferedBytesPerConnection: limits.maxBufferedBytesPerConnection ?? DEFAULT_BUFFERED / 2,
  };
}
