/** The records of objects in the local cluster that have names of their own. */
import { keyOf } from '../../../kube/object.ts';
import type { KubeObject } from '../../../kube/object.ts';
import type { ClusterSet } from '../members/cluster-set.ts';
import { HOSTNAME_ANNOTATION, IMPORTED_SERVICE_LABEL } from '../names.ts';
import { importedService } from '../placement.ts';
import { endpointObjectRecords, serviceRecords, sliceRecords } from './annotated.ts';
import { groupOf, sliceGroupOf } from './claim-group.ts';
import type { RecordResult } from './dns-record.ts';
import type { ObjectRecords } from './publisher.ts';

type RecordsOf = (set: ClusterSet, key: string) => ObjectRecords | undefined;

/** By kind; undefined if the object does not exist. */
const RECORDS_OF: Readonly<Record<string, RecordsOf>> = {
  Service(set, key) {
    const { local } = set;
    const object = local.services.get(key);
    return (
      object && {
        ...objectRecords(object, serviceRecords(object, local.slicesOf(key))),
        ...ownerOf(object, set),
      }
    );
  },
  EndpointSlice({ local }, key) {
    const object = local.slices.get(key);
    if (!object) return undefined;
    // A name may need several slices, e.g. one for each IP family: those of one namespace do not conflict.
    const name = object.metadata.annotations?.[HOSTNAME_ANNOTATION]?.toLowerCase();
    const claimGroup = sliceGroupOf(name, object.metadata.namespace);
    return { ...objectRecords(object, sliceRecords(object)), claimGroup };
  },
  DNSEndpoint(set, key) {
    const object = set.dnsEndpointOf(key);
    return object && objectRecords(object, endpointObjectRecords(object));
  },
};

/** The records of an object of the local cluster; none if it does not exist. */
export function localRecords(set: ClusterSet, kind: string, key: string): ObjectRecords[] {
  return [RECORDS_OF[kind]?.(set, key) ?? []].flat();
}

function objectRecords(object: KubeObject, result: RecordResult): ObjectRecords {
  const source = groupOf(object);
  const since = object.metadata.creationTimestamp ?? '';
  const { namespace = '' } = object.metadata;
  return { source, claimGroup: source, object, owner: { namespace }, since, result, reason: 'NameInvalid' };
}

/** The name of an imported Service is that of the clusters that export it, too, and of the namespace that it has there. */
function ownerOf(object: KubeObject, set: ClusterSet): Pick<ObjectRecords, 'owner'> {
  const { namespace: place = '', labels } = object.metadata;
  if (labels?.[IMPORTED_SERVICE_LABEL] === undefined) return {};
  const service = importedService(object, set.importNamespace);
  const clusters = (service && set.importOf(keyOf(service))?.status?.clusters) ?? [];
  return {
    owner: { namespace: service?.namespace ?? place, clusters: clusters.map(({ cluster }) => cluster) },
  };
}
