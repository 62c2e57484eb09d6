/** Labels and annotations of joined clusters, spelled here and nowhere else. */

/** On the Secret with the kubeconfig of a joined cluster: the id of that cluster. */
export const CLUSTER_LABEL = 'connectivity.tanzu.vmware.com/cluster-name';

/** On the same: which roads it was joined for, separated by commas; for all of them if it is left out. */
export const ROADS_ANNOTATION = 'isthmus.dev/roads';

/** On the same: the namespaces that the account has rights in, separated by commas; `*` for all of them. */
export const NAMESPACES_ANNOTATION = 'isthmus.dev/namespaces';

/** On the same: `namespace/name` of the ServiceAccount whose token is renewed from here; without it nothing is. */
export const ACCOUNT_ANNOTATION = 'isthmus.dev/token-account';

/** On the same: for how many seconds a token is asked for. */
export const LIFETIME_ANNOTATION = 'isthmus.dev/token-lifetime-seconds';

/** The entry of the Secret. */
export const KUBECONFIG_ENTRY = 'kubeconfig';

/** A cluster id is a label of DNS names. */
export const CLUSTER_ID = /^[a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?$/;

/** What a cluster can be joined for. */
export const JOIN_ROADS = ['stretch', 'discover', 'probe'] as const;
export type JoinRoad = (typeof JOIN_ROADS)[number];

/** The words of an annotation. */
export const listed = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((word) => word.trim())
    .filter((word) => word !== '');
