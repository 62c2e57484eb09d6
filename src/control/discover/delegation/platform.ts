/** Which way a cluster's own DNS can be told of our zones, and what is to be written for it. Each is undone by no zones at all. */
import type { KubeObject } from '../../../kube/object.ts';
import { delegate, delegationBlocks, undelegate } from './block.ts';
import type { Delegation } from './block.ts';
import { parseCorefile } from './corefile.ts';

export interface ConfigMap extends KubeObject {
  data?: Record<string, string>;
}

/** OpenShift's description of its DNS. */
export interface DnsOperator extends KubeObject {
  spec?: { servers?: DnsOperatorServer[] };
}

interface DnsOperatorServer {
  name: string;
  zones: string[];
  forwardPlugin: { upstreams: string[] };
}

/** What a cluster has of each way; undefined where there is none. */
export interface ClusterDns {
  operator?: DnsOperator | undefined;
  coredns?: ConfigMap | undefined;
  custom?: ConfigMap | undefined;
  kubeDns?: ConfigMap | undefined;
}

export type Way = 'openshift' | 'coredns-custom' | 'corefile' | 'kube-dns';

/** A change to one object, as a merge patch. */
export type Change =
  | { way: Way; object: KubeObject; patch: object | undefined }
  | { way: Way | undefined; problem: string };

const CUSTOM_KEY = 'isthmus.server';
const SERVER_NAME = 'isthmus';

/**
 * The way to take. OpenShift's operator and the platforms with a `coredns-custom` put their own Corefile back, so that those
 * come first; kube-dns is there only where CoreDNS is not.
 */
export function chooseWay({ operator, coredns, custom, kubeDns }: ClusterDns): Way | undefined {
  if (operator) return 'openshift';
  if (custom && coredns?.data?.['Corefile']?.includes('.server')) return 'coredns-custom';
  if (coredns?.data?.['Corefile'] !== undefined) return 'corefile';
  return kubeDns ? 'kube-dns' : undefined;
}

/** What to write so that the zones are delegated; no patch if they are already. */
export function planDelegation(found: ClusterDns, wanted: Delegation): Change {
  const way = chooseWay(found);
  switch (way) {
    case undefined:
      return { way, problem: 'the cluster has no DNS that is known here' };
    case 'openshift':
      return { way, object: found.operator!, patch: operatorPatch(found.operator!, wanted) };
    case 'coredns-custom':
      return customChange(found.custom!, wanted);
    case 'corefile':
      return corefileChange(found.coredns!, wanted);
    case 'kube-dns':
      return stubChange(found.kubeDns!, wanted);
  }
  return way satisfies never;
}

/** Lists are replaced whole by a merge patch, so that the servers of others are in it too. */
function operatorPatch({ spec }: DnsOperator, { zones, server }: Delegation): object | undefined {
  const servers = spec?.servers ?? [];
  const ours = { name: SERVER_NAME, zones: zones.toSorted(), forwardPlugin: { upstreams: [server] } };
  const others = servers.filter(({ name }) => name !== SERVER_NAME);
  const present = servers.find(({ name }) => name === SERVER_NAME);
  if (zones.length === 0) return present && { spec: { servers: others } };
  const isSame =
    present?.zones.toSorted().join() === ours.zones.join() &&
    present.forwardPlugin.upstreams.join() === ours.forwardPlugin.upstreams.join();
  return isSame ? undefined : { spec: { servers: [...others, ours] } };
}

function customChange(object: ConfigMap, wanted: Delegation): Change {
  const text = wanted.zones.length === 0 ? undefined : delegationBlocks(wanted);
  const way = 'coredns-custom';
  const others = Object.entries(object.data ?? {}).filter(
    ([key]) => key.endsWith('.server') && key !== CUSTOM_KEY,
  );
  const parsed = parseCorefile([...others.map(([, other]) => other), text ?? ''].join('\n'));
  if ('problem' in parsed) return { way, problem: `with the other servers of ${way}: ${parsed.problem}` };
  return { way, object, patch: dataPatch(object, CUSTOM_KEY, text) };
}

function corefileChange(object: ConfigMap, wanted: Delegation): Change {
  const before = object.data?.['Corefile'] ?? '';
  const edited = wanted.zones.length === 0 ? undelegate(before) : delegate(before, wanted);
  if ('problem' in edited) return { way: 'corefile', problem: edited.problem };
  return { way: 'corefile', object, patch: dataPatch(object, 'Corefile', edited.text) };
}

/** kube-dns has a table of zones for everybody: ours are those that lead to our server. */
function stubChange(object: ConfigMap, { zones, server }: Delegation): Change {
  const way = 'kube-dns';
  let table: unknown;
  try {
    table = JSON.parse(object.data?.['stubDomains'] ?? '{}');
  } catch {
    return { way, problem: 'stubDomains is no JSON; somebody has to look at it' };
  }
  if (typeof table !== 'object' || table === null || Array.isArray(table))
    return { way, problem: 'stubDomains is no table of zones' };
  const others = Object.entries(table).filter(
    ([, servers]) => JSON.stringify(servers) !== JSON.stringify([server]),
  );
  const taken = zones.find((zone) => others.some(([other]) => other === zone));
  if (taken !== undefined) return { way, problem: `${taken} is delegated to somebody else` };
  const ours = zones.toSorted().map((zone) => [zone, [server]]);
  const merged = Object.fromEntries([...others, ...ours]) as object;
  const text = Object.keys(merged).length === 0 ? undefined : JSON.stringify(merged);
  return { way, object, patch: dataPatch(object, 'stubDomains', text) };
}

/** Null takes a key out. */
function dataPatch({ data }: ConfigMap, key: string, text: string | undefined): object | undefined {
  return data?.[key] === text ? undefined : { data: { [key]: text ?? null } };
}
