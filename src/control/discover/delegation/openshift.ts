/** The way by OpenShift's DNS operator, which writes the Corefile from a list of servers. */
import { DELEGATED_BY_ANNOTATION } from '../names.ts';
import { ownedElsewhere } from './corefile/block.ts';
import type { DnsOperator, DnsOperatorServer, Wanted, PlatformChange } from './platform.ts';

const SERVER_NAME = 'isthmus';
/** OpenShift's clusters have no other domain. */
const CLUSTER_DOMAIN = 'cluster.local';

/**
 * A server of ours in the list, and who of us wrote it in an annotation. A merge patch replaces lists whole, so that the servers of
 * others are in it as they were.
 */
export function openShiftChange(object: DnsOperator | undefined, wanted: Wanted): PlatformChange {
  const { zones, server = '', owner } = wanted;
  if (!object)
    return zones.length === 0 ? { object, write: undefined } : { problem: 'there is no DNS operator' };
  const present = object.spec?.servers?.find(({ name }) => name === SERVER_NAME);
  const writtenBy = object.metadata.annotations?.[DELEGATED_BY_ANNOTATION];
  if (present && writtenBy !== undefined && writtenBy !== owner)
    return zones.length === 0 ? { object, write: undefined } : { problem: ownedElsewhere(writtenBy) };
  const servers = object.spec?.servers ?? [];
  const others = servers.filter(({ name }) => name !== SERVER_NAME);
  const taken = zones.find((zone) => others.some((other) => other.zones.includes(zone)));
  if (taken !== undefined) return { problem: `${taken} is served by a server of somebody else` };
  const hiding = zones.find((zone) => zone === CLUSTER_DOMAIN || CLUSTER_DOMAIN.endsWith(`.${zone}`));
  if (hiding !== undefined) return { problem: `${hiding} would hide the cluster's own ${CLUSTER_DOMAIN}` };
  const ours = { name: SERVER_NAME, zones: zones.toSorted(), forwardPlugin: { upstreams: [server] } };
  const isAsWanted =
    zones.length === 0 ? !present : present !== undefined && isSame(present, ours) && writtenBy === owner;
  if (isAsWanted) return { object, write: undefined };
  // In its place, so that the order of the others stays what it was; what else somebody set for our server stays, too.
  const kept = { ...present, ...ours, forwardPlugin: { ...present?.forwardPlugin, ...ours.forwardPlugin } };
  const replaced = servers.flatMap((each) => (each !== present ? [each] : zones.length > 0 ? [kept] : []));
  const next = present || zones.length === 0 ? replaced : [...servers, kept];
  const patchOf = (list: readonly DnsOperatorServer[] | undefined, by: string | undefined) => ({
    metadata: { annotations: { [DELEGATED_BY_ANNOTATION]: by ?? null } },
    spec: { servers: list ?? null },
  });
  const patch = patchOf(next.length > 0 ? next : undefined, zones.length > 0 ? owner : undefined);
  return { object, write: { object, patch, undo: patchOf(object.spec?.servers, writtenBy) } };
}

function isSame(present: DnsOperatorServer, ours: DnsOperatorServer): boolean {
  return (
    present.zones.toSorted().join() === ours.zones.join() &&
    present.forwardPlugin.upstreams.join() === ours.forwardPlugin.upstreams.join()
  );
}
