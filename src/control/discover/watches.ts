/**
 * The kinds that discover watches and writes, one row each, and what a change may affect: `exported` gets the keys of exported
 * services, `all` is woken by what may affect every one of them, and `named` gets `<kind> <key>` of local objects with names of their own.
 */
import { isDeepStrictEqual } from 'node:util';
import { keyOf } from '../../kube/object.ts';
import type { AnyObject, KubeObject } from '../../kube/object.ts';
import { dnsEndpoint } from '../../resources/external-dns/dns-endpoint.ts';
import { namePolicy } from '../../resources/isthmus/name-policy.ts';
import { serviceExport } from '../../resources/multicluster/service-export.ts';
import { serviceImport } from '../../resources/multicluster/service-import.ts';
import { builtIn, core, ownKey } from '../kernel/watches.ts';
import type { View, WatchTable, WatchedKind } from '../kernel/watches.ts';
import { hasSameAddresses, trimNode } from './members/nodes.ts';
import { trimService, trimSlice } from './members/trim.ts';
import { labelledService } from './placement.ts';
import {
  FQDN_ANNOTATION,
  GRANTS_LABEL,
  HOSTNAME_ANNOTATION,
  NODE_PORTS_LABEL,
  SERVICE_NAME_LABEL,
  derivedName,
  headlessName,
} from './names.ts';

/** In every cluster of the set. */
export interface MemberViews {
  services: View;
  slices: View;
  exports?: View;
  properties?: View;
  namespaces?: View;
}

/** In clusters that are reached by node ports. */
export interface NodeViews {
  nodes: View;
}

/** In the local cluster. */
export interface LocalViews {
  imports?: View;
  dnsEndpoints?: View;
  policies?: View;
  namespaces: View;
}

/** What the import of services makes in the local cluster. */
export type ImportViews = Pick<MemberViews, 'services' | 'slices'> & Pick<LocalViews, 'imports'>;
/** What it says of the local cluster's own exports. */
export type ExportViews = Pick<MemberViews, 'exports'>;

/** In the program's own namespace: the grants of names. */
export interface GrantViews {
  grants: View;
}

const CLUSTER_PROPERTY: WatchedKind = {
  group: 'about.k8s.io',
  kind: 'ClusterProperty',
  plural: 'clusterproperties',
  versions: ['v1alpha1', 'v1beta1', 'v1'],
  scope: 'Cluster',
};

const NAMESPACE: WatchedKind = { ...core('Namespace', 'namespaces'), scope: 'Cluster' };

type Trim = (object: AnyObject) => AnyObject;
const EVERY_KEY = () => [''];

export const MEMBER_WATCHES: WatchTable<MemberViews> = {
  services: {
    kind: core('Service', 'services'),
    trim: trimService as unknown as Trim,
    indexes: { nodePortsOf: labelled(NODE_PORTS_LABEL) },
    wakes: {
      exported: (service, { exports }) => [
        ...ifExported([keyOf(service.metadata)], exports),
        ...importedFor(service),
        ...labelled(NODE_PORTS_LABEL)(service),
      ],
      named: ifAnnotated(FQDN_ANNOTATION),
    },
  },
  slices: {
    kind: builtIn('discovery.k8s.io', 'EndpointSlice', 'endpointslices'),
    trim: trimSlice as unknown as Trim,
    indexes: { service: labelled(SERVICE_NAME_LABEL), imported: importedFor },
    wakes: {
      exported: (slice, { exports }) => [
        ...ifExported(labelled(SERVICE_NAME_LABEL)(slice), exports),
        ...importedFor(slice),
      ],
      named: (slice, { services }) => [
        ...ifAnnotated(HOSTNAME_ANNOTATION)(slice),
        ...labelled(SERVICE_NAME_LABEL)(slice)
          .flatMap((key) => services.get(key) ?? [])
          .flatMap(ifAnnotated(FQDN_ANNOTATION)),
      ],
    },
  },
  // Not dispensable, unlike the next: imports would be deleted for exports that may not be read.
  exports: { kind: serviceExport, optional: true, wakes: { exported: ownKey } },
  // Without it, the cluster's id is the name under which it was joined.
  properties: { kind: CLUSTER_PROPERTY, optional: true, dispensable: true, wakes: { all: EVERY_KEY } },
  // Without it, nobody is told that another cluster lacks the namespace of an export.
  namespaces: {
    kind: NAMESPACE,
    optional: true,
    dispensable: true,
    trim: trimNamespace,
    wakes: { namespaces: ownKey },
    when: ({ before, after }) => before === undefined || after === undefined,
  },
};

export const NODE_WATCHES: WatchTable<NodeViews> = {
  nodes: {
    kind: { ...core('Node', 'nodes'), scope: 'Cluster' },
    trim: trimNode as unknown as Trim,
    wakes: { all: EVERY_KEY },
    // Most updates of nodes are heartbeats.
    when: ({ before, after }) => !hasSameAddresses(before, after),
  },
};

export const LOCAL_WATCHES: WatchTable<LocalViews> = {
  imports: {
    kind: serviceImport,
    optional: true,
    wakes: { exported: (object) => [...ownKey(object), ...importedFor(object)], named: derivedServicesOf },
  },
  dnsEndpoints: { kind: dnsEndpoint, optional: true, wakes: { named: taskOf } },
  // Not dispensable: what may not be read must not open a zone.
  policies: { kind: namePolicy, optional: true, wakes: { policies: EVERY_KEY } },
  namespaces: {
    kind: NAMESPACE,
    trim: trimNamespace,
    wakes: { namespaces: ownKey },
    when: ({ before, after }) => !hasSameLabels(before, after),
  },
};

export const IMPORT_WATCHES: WatchTable<ImportViews> = {
  services: { kind: MEMBER_WATCHES.services.kind, owned: true },
  slices: { kind: MEMBER_WATCHES.slices.kind, owned: true },
  imports: { kind: serviceImport, optional: true, owned: true, writesStatus: true },
};

export const EXPORT_WATCHES: WatchTable<ExportViews> = {
  exports: { kind: serviceExport, optional: true, writesStatus: true },
};

export const GRANT_WATCHES: WatchTable<GrantViews> = {
  grants: { kind: core('ConfigMap', 'configmaps'), labelSelector: GRANTS_LABEL },
};

function trimNamespace({
  apiVersion,
  kind,
  metadata: { name, uid, resourceVersion, labels },
}: AnyObject): AnyObject {
  return { apiVersion, kind, metadata: { name, uid, resourceVersion, labels } as AnyObject['metadata'] };
}

/** By its status an imported Service is known to be that of other clusters. */
function derivedServicesOf(object: KubeObject): string[] {
  const { namespace = '', name } = object.metadata;
  const services = [{ namespace, name }, labelledService(object) ?? []].flat();
  const names = services.flatMap((service) => [derivedName(service), headlessName(service)]);
  return names.map((each) => `Service ${keyOf({ namespace, name: each })}`);
}

/** The key of the service that an object was imported for, by its labels. */
function importedFor(object: KubeObject): string[] {
  const service = labelledService(object);
  return service ? [keyOf(service)] : [];
}

/** The only thing about namespaces that matters here. */
function hasSameLabels(a: KubeObject | undefined, b: KubeObject | undefined): boolean {
  return a !== undefined && b !== undefined && isDeepStrictEqual(a.metadata.labels, b.metadata.labels);
}

function taskOf({ kind, metadata }: KubeObject): string[] {
  return [`${kind} ${keyOf(metadata)}`];
}

function ifAnnotated(annotation: string): (object: KubeObject) => string[] {
  return (object) => (object.metadata.annotations?.[annotation] === undefined ? [] : taskOf(object));
}

function ifExported(keys: readonly string[], exports: View | undefined): string[] {
  return keys.filter((key) => exports?.get(key));
}

/** The key that a label's value names in the object's namespace. */
function labelled(label: string): (object: KubeObject) => string[] {
  return ({ metadata: { namespace = '', labels } }) => {
    const name = labels?.[label];
    return name === undefined ? [] : [keyOf({ namespace, name })];
  };
}
