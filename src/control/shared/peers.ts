/** What nodes of other Kubernetes clusters are called, written on a pod set by whoever makes it, for whoever measures how far away they are. Pure. */
import { isJsonObject } from '../../kube/json.ts';

/** On a pod set: by cluster, a few addresses of nodes there, `host:port`. */
export const PEERS_ANNOTATION = 'isthmus.dev/peers';

/** By cluster, as the network calls it. */
export type Peers = Readonly<Record<string, readonly string[]>>;

const MAX_CLUSTERS = 64;
/** One that is down must not hide the cluster that it is in. */
export const PEERS_A_CLUSTER = 3;
const ADDRESS = /^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?:[0-9]{1,5}$/;

/** Reads it back; whatever is not as it should be is no peer. */
export function readPeers(text: string | undefined): Peers {
  const parsed = parse(text ?? '{}');
  const entries = Object.entries(parsed).flatMap(([cluster, addresses]) =>
    Array.isArray(addresses)
      ? [[cluster, addresses.filter(isAddress).slice(0, PEERS_A_CLUSTER)] as const]
      : [],
  );
  return Object.fromEntries(entries.slice(0, MAX_CLUSTERS));
}

const isAddress = (address: unknown): address is string =>
  typeof address === 'string' && ADDRESS.test(address);

function parse(text: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(text);
    return isJsonObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}
