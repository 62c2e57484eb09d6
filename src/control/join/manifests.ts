/** What `isthmus join` makes in the cluster that is joined. */
import { createHash } from 'node:crypto';
import { OPERATOR_NAME, boundRole } from '../install/objects.ts';
import type { Manifest } from '../install/objects.ts';
import { operatorManifests } from '../install/manifests.ts';
import { rulesOf } from '../kernel/rights.ts';
import type { ReachMode } from '../discover/members/nodes.ts';
import type { JoinRoad } from '../targets/names.ts';
import { needsOf, renewalRule } from './needs.ts';

/** On everything that is made there: which cluster it was joined by. */
export const JOINED_BY_LABEL = 'isthmus.dev/joined-by';

export interface JoinOptions {
  /** By which the joining cluster is known, among others that may join the same one. */
  joinedBy: string;
  /** Where the account is. */
  namespace: string;
  roads: readonly JoinRoad[];
  /** Where Kafkas may run. */
  kafkaNamespaces: readonly string[];
  /** How its exported services are reached. */
  reach: ReachMode;
  /** Whether the token never ends. */
  isLongLived: boolean;
  /** The pod-set controller is installed with this image; it is not if undefined. */
  podSetImage: string | undefined;
  /** The version of that image, where it is known. */
  podSetVersion?: string | undefined;
  /** Whether that may read nodes, to tell brokers their zones and addresses. */
  readsNodes: boolean;
}

/** The name for a joining cluster, from the uid of its namespace kube-system, which is as good as one of the cluster. */
export const joinedByOf = (uid: string): string => createHash('sha256').update(uid).digest('hex').slice(0, 8);

/** The account in the joined cluster. */
export const accountName = (joinedBy: string): string => `isthmus-joined-${joinedBy}`;

/** Everything but namespaces, in the order in which it is applied. */
export function joinManifests(options: JoinOptions): Manifest[] {
  const { joinedBy, namespace, roads, kafkaNamespaces, reach, isLongLived, podSetImage } = options;
  const name = accountName(joinedBy);
  const account = { name, namespace };
  const { home, namespaced, everywhere } = needsOf(roads, reach);
  const manifests: Manifest[] = [
    { apiVersion: 'v1', kind: 'ServiceAccount', metadata: account, automountServiceAccountToken: false },
    ...(everywhere.length > 0 ? boundRole({ name }, rulesOf(everywhere), account) : []),
    ...(namespaced.length > 0
      ? kafkaNamespaces.flatMap((where) =>
          boundRole({ name, namespace: where }, rulesOf(namespaced), account),
        )
      : []),
    ...(home.length > 0 ? boundRole({ name: `${name}-home`, namespace }, rulesOf(home), account) : []),
    ...(isLongLived
      ? [tokenSecret(account)]
      : boundRole({ name: `${name}-token`, namespace }, [renewalRule(name)], account)),
    ...(podSetImage === undefined ? [] : podSetController(options, podSetImage)),
  ];
  return manifests.map((manifest) => labelled(manifest, joinedBy));
}

/** The document's way: Kubernetes fills it with a token that never ends. */
function tokenSecret({ name, namespace }: { name: string; namespace: string }): Manifest {
  const annotations = { 'kubernetes.io/service-account.name': name };
  const metadata = { name, namespace, annotations };
  return { apiVersion: 'v1', kind: 'Secret', metadata, type: 'kubernetes.io/service-account-token' };
}

const READ_NODES = [{ apiGroups: [''], resources: ['nodes'], verbs: ['list', 'watch'] }];

/** Keeps pods alive where the joining cluster cannot be reached. */
function podSetController(
  { namespace, kafkaNamespaces, readsNodes, joinedBy, podSetVersion: version }: JoinOptions,
  image: string,
): Manifest[] {
  const watchNamespaces = [...kafkaNamespaces];
  const roads = ['pod-sets'] as const;
  const all = operatorManifests({ namespace, image, version, replicas: 2, roads, watchNamespaces });
  const account = { name: OPERATOR_NAME, namespace };
  return [
    ...all.filter(({ kind }) => kind !== 'Namespace'),
    ...(readsNodes ? boundRole({ name: `isthmus-nodes-${joinedBy}` }, READ_NODES, account) : []),
  ];
}

function labelled(manifest: Manifest, joinedBy: string): Manifest {
  const labels = {
    'app.kubernetes.io/part-of': 'isthmus',
    ...manifest.metadata.labels,
    [JOINED_BY_LABEL]: joinedBy,
  };
  return { ...manifest, metadata: { ...manifest.metadata, labels } };
}
