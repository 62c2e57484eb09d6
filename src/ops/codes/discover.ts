/** Reasons of the discover road: ServiceExport, ServiceImport, names, joined clusters, delegation. */
import { NOTHING_TO_DO } from './entry.ts';
import type { CodeEntry } from './entry.ts';

/** A property in which exports of one service differ. */
const differing = (property: string): CodeEntry => ({
  means: `Exports of one service differ in ${property}.`,
  why: 'A service has this once for all clusters; the oldest export decides, and the others are overruled.',
  cure: 'Make the Services alike, or live with what the oldest one says.',
});

const EXPORTS = {
  Valid: {
    means: 'The Service can be exported.',
    why: 'It exists and has a usable type.',
    cure: NOTHING_TO_DO,
  },
  Exported: { means: 'The Service is exported.', why: 'Joined clusters may use it.', cure: NOTHING_TO_DO },
  NoConflicts: { means: 'All exports of the service agree.', why: 'Nothing differs.', cure: NOTHING_TO_DO },
  Pending: {
    means: 'The import is not ready yet.',
    why: 'Its addresses or its Service are being made.',
    cure: 'Wait a few seconds.',
  },
  Failed: {
    means: 'The Service cannot be reached from other clusters.',
    why: 'Its node ports cannot be made; the message says why.',
    cure: 'Do as the message says.',
  },
  NoService: {
    means: 'The Service to be exported does not exist.',
    why: 'A ServiceExport names the Service of its own name and namespace.',
    cure: 'Create the Service, or delete the ServiceExport.',
  },
  InvalidServiceType: {
    means: 'A Service of this type cannot be exported.',
    why: 'A Service of type ExternalName has no addresses of its own.',
    cure: 'Export a Service of another type.',
  },
  NamespaceFound: {
    means: 'No joined cluster is known to lack the namespace.',
    why: 'An import needs the namespace of its export.',
    cure: NOTHING_TO_DO,
  },
  NamespacesFound: {
    means: 'This cluster has the namespaces of all imports.',
    why: 'An import needs the namespace of its export.',
    cure: NOTHING_TO_DO,
  },
  NamespaceMissing: {
    means: 'A cluster lacks the namespace that a service is exported from.',
    why: 'Namespaces are the same in all clusters of a set, and Isthmus makes none.',
    cure: 'Create the namespace there, or set `importNamespace`.',
  },
  TypeConflict: differing('their type (headless or not)'),
  PortConflict: differing('their ports'),
  SessionAffinityConflict: differing('session affinity'),
  SessionAffinityConfigConflict: differing('the settings of session affinity'),
  InternalTrafficPolicyConflict: differing('the internal traffic policy'),
  TrafficDistributionConflict: differing('the traffic distribution'),
  IPFamilyConflict: differing('their IP families'),
  LabelsConflict: differing('exported labels'),
  AnnotationsConflict: differing('exported annotations'),
  FQDNConflict: differing('the host name asked for'),
} as const satisfies Record<string, CodeEntry>;

const NAMES = {
  ExportConflict: {
    means: 'A name of an exported service is not served as asked.',
    why: 'Its exports contradict one another, or name something that cannot be; the event says which.',
    cure: 'See the conditions of the ServiceExports.',
  },
  NameInvalid: {
    means: 'An annotation or record asks for a name that cannot be.',
    why: 'It is no host name, or lies outside of all zones that are served.',
    cure: 'Correct the annotation; `isthmus dns query NAME` says what is answered.',
  },
  NameReserved: {
    means: 'The DNS server’s own configuration has this name.',
    why: 'What is configured comes before what objects ask for.',
    cure: 'Choose another name.',
  },
  NameNotAllowed: {
    means: 'No NamePolicy lets this object have the name.',
    why: 'The zone has NamePolicies, so only what they name may be claimed in it; or it is a wildcard or a delegation, which need one in any zone.',
    cure: 'Choose a name that a NamePolicy allows, or have one extended.',
  },
  NameLimitReached: {
    means: 'The object or its namespace has as many names as a NamePolicy allows.',
    why: 'The note of the event names the limit.',
    cure: 'Give up names that nobody needs, or have the limit raised.',
  },
  NameNotServed: {
    means: 'A name cannot be served.',
    why: 'Its record contradicts another one, or has a value that DNS cannot carry.',
    cure: 'Correct the record that the event names.',
  },
} as const satisfies Record<string, CodeEntry>;

const CLUSTERS = {
  ClusterReachable: {
    means: 'A joined cluster answers again.',
    why: 'It was out of reach before.',
    cure: NOTHING_TO_DO,
  },
  ClusterUnreachable: {
    means: 'A joined cluster does not answer.',
    why: 'Its API server, the network, or the credentials in its Secret fail. What was known of it goes on.',
    cure: 'Try the kubeconfig of that Secret with kubectl, from here.',
  },
  ClusterForgotten: {
    means: 'A joined cluster did not answer for so long that its names and imports are gone.',
    why: 'The time that the settings allow is over.',
    cure: 'Bring it back, and it is read again; or remove its Secret.',
  },
  ClusterIdForbidden: {
    means: 'Whether a joined cluster is the one that its Secret says cannot be seen.',
    why: 'The credentials may not read its ClusterProperty.',
    cure: 'Grant the rights that `isthmus dns manifests` prints.',
  },
  DelegationWaiting: {
    means: 'The zones are not delegated yet; nothing was written.',
    why: 'Something is missing; the message says what.',
    cure: 'Provide it, or set `delegation: false`.',
  },
  DelegationRefused: {
    means: 'The zones are not delegated; nothing was written.',
    why: 'Writing would break something, or the cluster’s DNS belongs to somebody else’s tool.',
    cure: 'Do as the message says, or delegate by hand.',
  },
  DelegationWritten: {
    means: 'The delegation was written and is being verified.',
    why: 'Queries through the cluster’s DNS have to arrive three times in a row.',
    cure: 'Wait a minute.',
  },
  ZonesDelegated: {
    means: 'Names of the zones resolve in the whole cluster.',
    why: 'Queries through the cluster’s DNS arrive.',
    cure: NOTHING_TO_DO,
  },
  DelegationFailing: {
    means: 'The delegation worked once and fails now; it is left as it is.',
    why: 'The DNS server, or the way to it, is down.',
    cure: 'See the pods of the DNS server, its Service, and NetworkPolicies.',
  },
  DelegationFailed: {
    means: 'The delegation was written, never worked, and was undone.',
    why: 'Queries through the cluster’s DNS did not arrive.',
    cure: 'See whether the cluster’s DNS pods reach the Service of the DNS server; then restart its leader.',
  },
  DelegationRemoved: {
    means: 'The zones are no longer delegated.',
    why: 'The settings ask for that.',
    cure: NOTHING_TO_DO,
  },
} as const satisfies Record<string, CodeEntry>;

export const DISCOVER_REASONS = { ...EXPORTS, ...NAMES, ...CLUSTERS };
