/** OpenShift: the DNS operator generates the Corefile from the list `spec.servers` of its DNS object. */
import { DELEGATED_BY_ANNOTATION } from '../names.ts';
import { ownedElsewhere } from './corefile/block.ts';
import type { DnsOperator, DnsOperatorServer, PlatformChange, WantedDelegation } from './platform.ts';

const SERVER_NAME = 'isthmus';
/** OpenShift has no other cluster domain. */
const CLUSTER_DOMAIN = 'cluster.local';

/**
 * The server `isthmus` in the list, and the installation that wrote it in an annotation. A merge patch replaces whole lists, so the
 * other servers are in it unchanged.
 */
export function openShiftChange(object: DnsOperator | undefined, wanted: WantedDelegation): PlatformChange {
  const { zones, server = '', owner } = wanted;
  if (!object)
    return zones.length === 0
      ? { object, write: undefined }
      : { problem: 'the DNS object of the operator does not exist' };
  const present = object.spec?.servers?.find(({ name }) => name === SERVER_NAME);
  const writtenBy = object.metadata.annotations?.[DELEGATED_BY_ANNOTATION];
  if (present && writtenBy !== undefined && writtenBy !== owner)
    return zones.length === 0 ? { object, write: undefined } : { problem: ownedElsewhere(writtenBy) };
  const servers = object.spec?.servers ?? [];
  const others = servers.filter(({ name }) => name !== SERVER_NAME);
  const taken = zones.find((zone) => others.some((other) => other.zones.includes(zone)));
  if (taken !== undefined) return { problem: `${taken} is already served by another server` };
  const hiding = zones.find((zone) => zone === CLUSTER_DOMAIN || CLUSTER_DOMAIN.endsWith(`.${zone}`));
  if (hiding !== undefined) return { problem: `${hiding} would hide the cluster's own ${CLUSTER_DOMAIN}` };
  const ours = { name: SERVER_NAME, zones: zones.toSorted(), forwardPlugin: { upstreams: [server] } };
  const isAsWanted =
    zones.length === 0 ? !present : present !== undefined && isSame(present, ours) && writtenBy === owner;
  if (isAsWanted) return { object, write: undefined };
  // Replaced in place, so that the order of the list stays; other fields that somebody set on our server stay, too.
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
