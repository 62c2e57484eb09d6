/** What the Secrets of a cluster and its pods say of its two authorities and of what they sign, and the next step of each. Pure. */
import type { AnyObject } from '../../../kube/object.ts';
import { sortNames } from '../../../pki/alternative-names.ts';
import { authorityFacts, readAuthority } from '../../../pki/authority-secrets.ts';
import type { AuthorityMaterial } from '../../../pki/authority-secrets.ts';
import type { ObservedAuthority, Policy, SignedLeaf, Truster } from '../../../pki/authority-state.ts';
import { hasReloaded, nodeAnnotations, readBundle, readNodeAnnotations } from '../../../pki/bundle.ts';
import type { Bundle } from '../../../pki/bundle.ts';
import { isFault } from '../../../pki/certificate-facts.ts';
import type { CertificateFacts } from '../../../pki/certificate-facts.ts';
import { readLeaf } from '../../../pki/leaf.ts';
import type { StoredLeaf } from '../../../pki/leaf.ts';
import { renewalWarnings } from '../../../pki/renewal-warnings.ts';
import { renewalStep } from '../../../pki/renewal.ts';
import type { Step } from '../../../pki/renewal.ts';
import type { SecretView } from '../../../pki/secrets.ts';
import { exposedNames } from '../expose/certificate-names.ts';
import { nodesOf } from '../model/cluster.ts';
import type { BrokerCluster } from '../model/cluster.ts';
import {
  BROKER_ROLE_LABEL,
  OPERATOR_COMMON_NAME,
  certificateNames,
  clientsCaCertName,
  clientsCaName,
  clusterCaCertName,
  clusterCaName,
  operatorCertsName,
  podName,
} from '../model/names.ts';
import { clusterSetNames } from '../stretch/network.ts';
import type { CertificateEnds } from './metrics.ts';
import { formerUsers } from './user-leaves.ts';

/** Both authorities, as their owner wants them. */
export interface AuthorityPolicies {
  cluster: Policy & { isSupplied: boolean };
  clients: Policy & { isSupplied: boolean };
}

/** What is there. */
export interface SeenCertificates {
  cluster: BrokerCluster;
  clusterDomain: string;
  policies: AuthorityPolicies;
  /** By name, with what they hold. */
  secrets: ReadonlyMap<string, AnyObject>;
  pods: readonly AnyObject[];
  /** The Secrets of its users, without what they hold. */
  users: readonly AnyObject[];
  /** Whether clients may have certificates of which nothing is known here, of a former central. */
  keepsClients?: boolean;
  now: Date;
}

/** The name by which the operator's own certificate goes among those that the cluster's authority signs. */
export const OPERATOR = OPERATOR_COMMON_NAME;

/** A Secret, as certificates are read from it. */
export const viewOf = (secret: AnyObject | undefined): SecretView | undefined =>
  secret && {
    data: (secret['data'] ?? {}) as Record<string, string>,
    annotations: secret.metadata.annotations ?? {},
  };

/** An authority, and what is next. */
export interface SeenAuthority {
  material: AuthorityMaterial;
  step: Step;
  /** What the bundle has now. */
  published: readonly CertificateFacts[];
  leaves: ReadonlyMap<string, StoredLeaf>;
  warnings: readonly string[];
}

/** The names of their Secrets. */
export const NAMES: Record<
  Bundle,
  { key: (cluster: string) => string; certificate: (cluster: string) => string }
> = {
  'cluster-ca': { key: clusterCaName, certificate: clusterCaCertName },
  'clients-ca': { key: clientsCaName, certificate: clientsCaCertName },
};

export function authorityOf(
  seen: SeenCertificates,
  name: Bundle,
  bundle: SecretView | undefined,
): SeenAuthority {
  const { cluster, secrets, policies, pods, users, now } = seen;
  const { isSupplied, ...policy } = name === 'cluster-ca' ? policies.cluster : policies.clients;
  const material = readAuthority(
    viewOf(secrets.get(NAMES[name].certificate(cluster.name))),
    viewOf(secrets.get(NAMES[name].key(cluster.name))),
  );
  const published = readBundle(bundle, name);
  const known = [...currentOf(material), ...published];
  const leaves = name === 'cluster-ca' ? leavesOf(seen, known) : [];
  const own = authorityFacts(material);
  const former =
    name === 'clients-ca' && typeof own.key === 'string'
      ? formerUsers(users, own.key, policy.renewalMs, now)
      : [];
  const unknown = name === 'clients-ca' && seen.keepsClients ? [CLIENTS_OF_BEFORE] : [];
  const facts: ObservedAuthority = {
    ...own,
    now,
    policy,
    isSupplied,
    bundles: [published],
    trusters: trustersAmong(pods, name).map((truster) => ({
      ...truster,
      listens: isListening(truster.name, { pods, leaves, bundle }),
    })),
    leaves: [...leaves.map(({ stored, ...leaf }) => ({ ...leaf, held: stored })), ...former, ...unknown],
  };
  const stored = leaves.flatMap(({ name: leaf, stored: one }) =>
    one && !isFault(one) ? [[leaf, one] as const] : [],
  );
  return {
    material,
    step: renewalStep(facts),
    published,
    leaves: new Map(stored),
    warnings: renewalWarnings(facts),
  };
}

/** Nobody knows who they are: their authority stays until it ends, or until somebody says that they are gone. */
const CLIENTS_OF_BEFORE: SignedLeaf = {
  name: 'clients of a former central cluster',
  held: 'unknown',
  running: undefined,
  wantedNames: [],
};

/** Whether the listeners of a node have loaded the bundle as it is now. */
function isListening(
  node: string,
  {
    pods,
    leaves,
    bundle,
  }: { pods: readonly AnyObject[]; leaves: readonly SeenLeaf[]; bundle: SecretView | undefined },
): boolean {
  const held = leaves.find(({ name }) => name === node)?.stored;
  const pod = pods.find(({ metadata }) => metadata.name === node);
  if (!held || isFault(held) || !pod) return false;
  const bundles = {
    'cluster-ca': readBundle(bundle, 'cluster-ca'),
    'clients-ca': readBundle(bundle, 'clients-ca'),
  };
  return hasReloaded(pod.metadata.annotations ?? {}, nodeAnnotations(bundles, held));
}

/** What pods trust. Only brokers have to do with clients. */
export function trustersAmong(pods: readonly AnyObject[], authority: Bundle): Truster[] {
  return pods.flatMap(({ metadata: { name, labels = {}, annotations = {} } }) => {
    const { clusterTrust, clientsTrust } = readNodeAnnotations(annotations);
    if (authority === 'cluster-ca') return [{ name, trusts: clusterTrust }];
    return labels[BROKER_ROLE_LABEL] === 'false' ? [] : [{ name, trusts: clientsTrust }];
  });
}

/** All certificates of it that are kept. */
export function currentOf({ certificate, above, former }: AuthorityMaterial): CertificateFacts[] {
  return [...(certificate && !isFault(certificate) ? [certificate] : []), ...above, ...former];
}

type SeenLeaf = Omit<SignedLeaf, 'held'> & { stored: ReturnType<typeof readLeaf> };

function leavesOf(seen: SeenCertificates, authorities: readonly CertificateFacts[]): SeenLeaf[] {
  const { cluster, secrets } = seen;
  const pods = new Map(seen.pods.map(({ metadata }) => [metadata.name, metadata.annotations ?? {}]));
  const nodes = nodesOf(cluster).map(({ pool, node }): SeenLeaf => {
    const name = podName(cluster.name, pool.name, node.id);
    const running = pods.get(name);
    const stored = readLeaf(name, viewOf(secrets.get(name)), authorities);
    return { name, stored, running: running && runningOf(running), wantedNames: namesOf(seen, name, stored) };
  });
  const operator = viewOf(secrets.get(operatorCertsName(cluster.name)));
  const own: SeenLeaf = {
    name: OPERATOR,
    stored: readLeaf(OPERATOR, operator, authorities),
    running: undefined,
    wantedNames: [],
  };
  return [...nodes, own];
}

function runningOf(annotations: Readonly<Record<string, string>>): SignedLeaf['running'] {
  const { signedBy } = readNodeAnnotations(annotations);
  return signedBy === undefined ? 'unknown' : { signedBy };
}

/** The names in the certificate of a node, of which one is stored, or none that can be read. */
export function namesOf(
  { cluster, clusterDomain, pods }: SeenCertificates,
  pod: string,
  stored: ReturnType<typeof readLeaf>,
): string[] {
  const live = pods.find(({ metadata }) => metadata.name === pod);
  const held = stored && !isFault(stored) ? stored.names : [];
  const own = nodesOf(cluster).find(({ pool, node }) => podName(cluster.name, pool.name, node.id) === pod);
  return sortNames([
    ...certificateNames(cluster, pod, clusterDomain),
    ...(own ? clusterSetNames(cluster, own.pool, own.node.id) : []),
    ...exposedNames(cluster, pod, live?.metadata.annotations ?? {}, held),
  ]).names;
}

/** When certificates end; of a node the first of those that it uses. */
export function endsOf(
  { pods }: SeenCertificates,
  own: Readonly<Record<Bundle, SeenAuthority>>,
): CertificateEnds {
  const ends = new Map<string, Date>();
  for (const name of Object.keys(own) as Bundle[]) {
    const { certificate } = own[name].material;
    if (certificate && !isFault(certificate)) ends.set(name, certificate.notAfter);
  }
  for (const [name, { notAfter }] of own['cluster-ca'].leaves) ends.set(name, notAfter);
  for (const { metadata } of pods) {
    const held = ends.get(metadata.name);
    const { until } = readNodeAnnotations(metadata.annotations ?? {});
    if (held && until && until < held) ends.set(metadata.name, until);
  }
  return ends;
}
