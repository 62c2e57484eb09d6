/** Measures round trips by connecting: a TCP connection is there after one. Nothing is sent. */
import { lookup } from 'node:dns/promises';
import { connect } from 'node:net';
import type { Peers } from '../shared/peers.ts';

const TIMEOUT_MS = 3000;
/** The quickest of them counts: the others may have waited for this process, or for one there. */
const ATTEMPTS = 3;

/** By cluster, in milliseconds; of one whose nodes are not reached there is none. */
export async function measurePeers(peers: Peers, signal: AbortSignal): Promise<Map<string, number>> {
  const found = await Promise.all(
    Object.entries(peers).map(async ([cluster, addresses]) => {
      for (const address of addresses) {
        const ms = await roundTripMs(address, signal).catch(() => undefined);
        if (ms !== undefined) return [[cluster, ms] as const];
      }
      return [];
    }),
  );
  return new Map(found.flat());
}

async function roundTripMs(address: string, signal: AbortSignal): Promise<number> {
  const at = address.lastIndexOf(':');
  const port = Number(address.slice(at + 1));
  // Names are looked up before the clock is started.
  const { address: host } = await lookup(address.slice(0, at));
  let quickest = Infinity;
  for (let n = 0; n < ATTEMPTS && !signal.aborted; n++)
    quickest = Math.min(quickest, await connectMs(host, port));
  return quickest;
}

function connectMs(host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    const socket = connect({ host, port, timeout: TIMEOUT_MS });
    const end = (error?: Error) => {
      socket.destroy();
      if (error) reject(error);
      else resolve(performance.now() - began);
    };
    socket.once('connect', () => end());
    socket.once('timeout', () => end(new Error('no answer in time')));
    socket.once('error', end);
  });
}
