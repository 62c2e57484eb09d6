/** The Secret by which a cluster knows one that it has been joined with. */
import type { Secret } from '../../kube/clusters.ts';
import type { Connection } from '../../kube/http/connection.ts';
import { readPem } from '../../kube/http/connection.ts';
import { DNS_NAME } from '../discover/install.ts';
import { REACH_ANNOTATION } from '../discover/names.ts';
import { OPERATOR_NAME } from '../install/objects.ts';
import type { Manifest } from '../install/objects.ts';
import type { PolicyRule } from '../kernel/rights.ts';
import type { ReachMode } from '../discover/members/nodes.ts';
import { TOKEN_LIFETIME_SECONDS } from '../targets/joined-secret.ts';
import type { TokenAccount } from '../targets/joined-secret.ts';
import {
  ACCOUNT_ANNOTATION,
  CLUSTER_LABEL,
  KUBECONFIG_ENTRY,
  LIFETIME_ANNOTATION,
  NAMESPACES_ANNOTATION,
  ROADS_ANNOTATION,
} from '../targets/names.ts';
import type { JoinRoad } from '../targets/names.ts';

/** On the Secret: the uid of the other cluster's namespace kube-system, by which it is known wherever it is reached. */
export const CLUSTER_UID_ANNOTATION = 'isthmus.dev/cluster-uid';

export interface SecretOptions {
  cluster: string;
  clusterUid: string;
  /** Where the Secret is. */
  namespace: string;
  roads: readonly JoinRoad[];
  kafkaNamespaces: readonly string[];
  /** How the cluster's exported services are reached; as the DNS server's configuration says if undefined. */
  reach: ReachMode | undefined;
  /** Whose token is renewed; undefined of one that never ends. */
  account: TokenAccount | undefined;
  kubeconfig: string;
}

/** The name of the Secret of a cluster. */
export const secretName = (cluster: string): string => `isthmus-cluster-${cluster}`;

export function joinedSecret(options: SecretOptions): Secret {
  const { cluster, clusterUid, namespace, roads, kafkaNamespaces, reach, account, kubeconfig } = options;
  const lifetime = account?.lifetimeSeconds ?? TOKEN_LIFETIME_SECONDS;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name: secretName(cluster),
      namespace,
      labels: { [CLUSTER_LABEL]: cluster, 'app.kubernetes.io/part-of': 'isthmus' },
      annotations: {
        [CLUSTER_UID_ANNOTATION]: clusterUid,
        [ROADS_ANNOTATION]: roads.join(),
        ...(roads.includes('stretch') && { [NAMESPACES_ANNOTATION]: kafkaNamespaces.join() }),
        ...(account && { [ACCOUNT_ANNOTATION]: `${account.namespace}/${account.name}` }),
        ...(lifetime !== TOKEN_LIFETIME_SECONDS && { [LIFETIME_ANNOTATION]: String(lifetime) }),
        ...(reach && { [REACH_ANNOTATION]: reach }),
      },
    },
    data: { [KUBECONFIG_ENTRY]: Buffer.from(kubeconfig).toString('base64') },
  };
}

/** Who renews the token of a cluster that was joined for a road. */
const RENEWERS: Record<JoinRoad, string> = {
  stretch: OPERATOR_NAME,
  discover: DNS_NAME,
  probe: OPERATOR_NAME,
};

/** The right to write that one Secret, for those who renew its token; none for one that never ends. */
export function renewalRights({ cluster, namespace, roads, account }: SecretOptions): Manifest[] {
  if (!account) return [];
  const name = secretName(cluster);
  const labels = { [CLUSTER_LABEL]: cluster, 'app.kubernetes.io/part-of': 'isthmus' };
  const metadata = { name, namespace, labels };
  const group = 'rbac.authorization.k8s.io';
  const rule: PolicyRule = {
    apiGroups: [''],
    resources: ['secrets'],
    resourceNames: [name],
    verbs: ['patch'],
  };
  return [
    { apiVersion: `${group}/v1`, kind: 'Role', metadata, rules: [rule] },
    {
      apiVersion: `${group}/v1`,
      kind: 'RoleBinding',
      metadata,
      roleRef: { apiGroup: group, kind: 'Role', name },
      subjects: [...new Set(roads.map((road) => RENEWERS[road]))].map((account) => ({
        kind: 'ServiceAccount',
        name: account,
        namespace,
      })),
    },
  ];
}

/** How the joined cluster is reached, with a token in the place of whoever joined it. */
export function joinedKubeconfig(
  { server, tls }: Pick<Connection, 'server' | 'tls'>,
  { cluster, token, namespace }: { cluster: string; token: string; namespace: string },
): string {
  const ca = tls.ca === undefined ? undefined : readPem(tls.ca, 'certificate-authority');
  const its = {
    server,
    ...(ca !== undefined && { 'certificate-authority-data': Buffer.from(ca).toString('base64') }),
    ...(tls.insecure && { 'insecure-skip-tls-verify': true }),
    ...(tls.serverName !== undefined && { 'tls-server-name': tls.serverName }),
  };
  return JSON.stringify({
    apiVersion: 'v1',
    kind: 'Config',
    clusters: [{ name: cluster, cluster: its }],
    users: [{ name: cluster, user: { token } }],
    contexts: [{ name: cluster, context: { cluster, user: cluster, namespace } }],
    'current-context': cluster,
  });
}
