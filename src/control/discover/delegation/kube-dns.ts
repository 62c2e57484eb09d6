/** kube-dns: one map of stub domains for everybody; our entries are those with the address of our server. */
import { createdWith, dataChange, keyRemoval } from './config-map.ts';
import type { ClusterDns, ConfigMap, PlatformChange, WantedDelegation } from './platform.ts';

const KEY = 'stubDomains';
/** The ConfigMap of kube-dns does not name the cluster domain. */
const CLUSTER_DOMAIN = 'cluster.local';

type Table = Record<string, unknown>;

const NAME = 'kube-dns';

/**
 * The stub domains with our zones. The ConfigMap is created if it does not exist: kube-dns and NodeLocal DNSCache read it where it does, and
 * do without it otherwise.
 */
export function kubeDnsChange(
  { kubeDns: object, coredns, nodeCache }: ClusterDns,
  wanted: WantedDelegation,
): PlatformChange {
  const { zones, server } = wanted;
  const before = object?.data?.[KEY];
  const table = readTable(before);
  if (!table)
    return zones.length === 0 ? { object, write: undefined } : { problem: `${KEY} is not a JSON object` };
  const ownServers = [server, ...(wanted.formerServers ?? [])].filter((one) => one !== undefined);
  const isOurs = (zone: string) => ownServers.some((own) => isSame(table[zone], [own]));
  const taken = zones.find((zone) => zone in table && !isOurs(zone));
  if (taken !== undefined) return { problem: `${taken} is already delegated to another server` };
  const hiding = zones.find((zone) => zone === CLUSTER_DOMAIN || CLUSTER_DOMAIN.endsWith(`.${zone}`));
  if (hiding !== undefined) return { problem: `${hiding} would hide the cluster's own ${CLUSTER_DOMAIN}` };
  const stale = Object.keys(table).filter(
    (zone) => isOurs(zone) && !(zones.includes(zone) && isSame(table[zone], [server])),
  );
  const added = zones.toSorted().filter((zone) => !(zone in table) || stale.includes(zone));
  if (stale.length + added.length === 0) return { object, write: undefined };
  const text = edited(before ?? '{}', table, stale, added, server ?? '');
  if (text === undefined) return keyRemoval(object, KEY);
  if (object) return dataChange(object, KEY, text);
  const namespace = (nodeCache ?? coredns)?.metadata.namespace ?? 'kube-system';
  return createdWith({ namespace, name: NAME }, KEY, text);
}

/** The servers of these zones, as far as each has exactly one. */
export function serversOf(object: ConfigMap | undefined, zones: readonly string[]): string[] {
  const table = readTable(object?.data?.[KEY]) ?? {};
  return zones.flatMap((zone) => {
    const [server, ...more] = [table[zone]].flat();
    return typeof server === 'string' && more.length === 0 ? [server] : [];
  });
}

/** The text with as few changes as possible, to keep the formatting of others; undefined for an empty map. */
function edited(
  text: string,
  table: Table,
  stale: string[],
  added: string[],
  server: string,
): string | undefined {
  const next: Table = Object.fromEntries(Object.entries(table).filter(([zone]) => !stale.includes(zone)));
  let result = text;
  for (const zone of stale)
    result = without(result, `${JSON.stringify(zone)}:${JSON.stringify(table[zone])}`);
  for (const zone of added) {
    const end = /\s*\}\s*$/.exec(result)?.index ?? result.length;
    const comma = Object.keys(next).length > 0 ? ',' : '';
    result = `${result.slice(0, end)}${comma}${JSON.stringify(zone)}:["${server}"]${result.slice(end)}`;
    next[zone] = [server];
  }
  if (Object.keys(next).length === 0) return undefined;
  return isSame(sorted(readTable(result)), sorted(next)) ? result : JSON.stringify(next);
}

function without(text: string, entry: string): string {
  const found = [`,${entry}`, `${entry},`, entry].find((each) => text.includes(each));
  return found === undefined ? text : text.replace(found, '');
}

function readTable(text = '{}'): Table | undefined {
  try {
    const table: unknown = JSON.parse(text);
    return typeof table === 'object' && table !== null && !Array.isArray(table)
      ? (table as Table)
      : undefined;
  } catch {
    return undefined;
  }
}

const sorted = (table: Table = {}) => Object.entries(table).toSorted(([a], [b]) => (a < b ? -1 : 1));
const isSame = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);
