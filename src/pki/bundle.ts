import type { ObservedAuthority, Trust } from './authority-state.ts';
import { isFault, readCertificates } from './certificate-facts.ts';
import type { CertificateFacts } from './certificate-facts.ts';
import { certificateHash } from './leaf.ts';
import type { StoredLeaf } from './leaf.ts';
import { textOf } from './secrets.ts';
import type { SecretView } from './secrets.ts';

/**
 * What nodes trust and present, in the trust bundle's Secret and as annotations of their pods. The bundle, and a node's Secret, must be
 * written before the annotations that speak of them: a pod that has them has loaded at least that.
 */

type Annotations = Readonly<Record<string, string>>;

/** Whom a bundle is about: nodes and the operator, or clients. */
export type Bundle = 'cluster-ca' | 'clients-ca';

/** The files of `C-trustbundle`: all certificates that are trusted, in PEM. */
export const bundleFiles = (
  bundles: Readonly<Record<Bundle, readonly CertificateFacts[]>>,
): Record<string, string> => ({
  'cluster-ca.crt': pemOf(bundles['cluster-ca']),
  'clients-ca.crt': pemOf(bundles['clients-ca']),
});

const pemOf = (certificates: readonly CertificateFacts[]) => certificates.map(({ pem }) => pem).join('');

/** The certificates of a bundle; none where it is missing or cannot be read, so that it is written anew. */
export function readBundle(secret: SecretView | undefined, bundle: Bundle): CertificateFacts[] {
  const certificates = readCertificates(textOf(secret, `${bundle}.crt`) ?? '');
  return isFault(certificates) ? [] : certificates;
}

/** What a pod has loaded; undefined is unknown. */
export interface NodeCertificates {
  clusterTrust: readonly Trust[] | 'unknown';
  clientsTrust: readonly Trust[] | 'unknown';
  /** The key that signed its certificate. */
  signedBy: string | undefined;
  hash: string | undefined;
  /** When its certificate ends. */
  until: Date | undefined;
}

const CLUSTER_TRUST = 'isthmus.dev/cluster-ca-trust';
const CLIENTS_TRUST = 'isthmus.dev/clients-ca-trust';
const SIGNED_BY = 'isthmus.dev/server-cert-signed-by';
const UNTIL = 'isthmus.dev/server-cert-until';
const RELOADED = 'isthmus.dev/reloaded-certificates';
const HASH = 'strimzi.io/server-cert-hash';

/** The annotations of a pod that is made now, from what its Secrets have now. */
export function nodeAnnotations(
  bundles: Readonly<Record<Bundle, readonly CertificateFacts[]>>,
  { hash, notAfter, signedBy }: Pick<StoredLeaf, 'hash' | 'notAfter' | 'signedBy'>,
): Record<string, string> {
  return {
    [CLUSTER_TRUST]: trustText(bundles['cluster-ca']),
    [CLIENTS_TRUST]: trustText(bundles['clients-ca']),
    ...(signedBy === undefined ? {} : { [SIGNED_BY]: signedBy }),
    [HASH]: hash,
    [UNTIL]: notAfter.toISOString(),
  };
}

/** Generations as Strimzi writes them on pods, for people and their tools; nothing is decided by them. */
export const generationAnnotations = (
  cluster: Pick<ObservedAuthority, 'certificateGeneration' | 'keyGeneration'>,
  clients: Pick<ObservedAuthority, 'certificateGeneration'>,
): Record<string, string> => ({
  'strimzi.io/cluster-ca-cert-generation': `${cluster.certificateGeneration}`,
  'strimzi.io/cluster-ca-key-generation': `${cluster.keyGeneration}`,
  'strimzi.io/clients-ca-cert-generation': `${clients.certificateGeneration}`,
});

/** `KEY=END` for each certificate, sorted: says all that decisions need when the certificate itself is gone from all Secrets. */
const trustText = (certificates: readonly CertificateFacts[]) =>
  certificates
    .map(({ keyId, notAfter }) => `${keyId}=${notAfter.toISOString()}`)
    .toSorted()
    .join(',');

/** Reads the annotations back. Anything that is not as `nodeAnnotations` writes it is unknown. */
export function readNodeAnnotations(annotations: Annotations): NodeCertificates {
  const until = new Date(annotations[UNTIL] ?? '');
  return {
    clusterTrust: trustsIn(annotations[CLUSTER_TRUST]),
    clientsTrust: trustsIn(annotations[CLIENTS_TRUST]),
    signedBy: annotations[SIGNED_BY],
    hash: annotations[HASH],
    until: Number.isNaN(until.getTime()) ? undefined : until,
  };
}

function trustsIn(text: string | undefined): Trust[] | 'unknown' {
  const trusts = (text ?? '').split(',').map((item) => {
    const [, keyId = '', end = ''] = /^([0-9a-f]{16})=([0-9TZ:.-]{10,30})$/.exec(item) ?? [];
    return { keyId, until: new Date(end) };
  });
  return trusts.some(({ until }) => Number.isNaN(until.getTime())) ? 'unknown' : trusts;
}

/** Why a node cannot come to what it should have but by a restart. Only a key that is new, or gone, is waited for by anybody. */
export type RestartWhy = 'keys changed' | 'authority renewed' | 'certificate renewed';

/** How a running node comes to what it should have: broker listeners reload, all else takes a restart before what it has loaded ends. */
export interface Loading {
  reload: boolean;
  restart: { why: RestartWhy; by: Date } | undefined;
}

/**
 * The parts of Kafka that cannot reload (connections between controllers, and to them) go on with what they were started with. That
 * is good until it ends, unless keys have changed: an authority that was renewed has the same key and name, so old and new verify the same.
 */
export function loadingOf(loaded: Annotations, wanted: Annotations): Loading {
  const has = (name: string) => loaded[name] === wanted[name];
  const reload = (loaded[RELOADED] ?? markOf(loaded)) !== markOf(wanted);
  const isSameKeys = has(SIGNED_BY) && keysIn(loaded[CLUSTER_TRUST]) === keysIn(wanted[CLUSTER_TRUST]);
  const why: RestartWhy | undefined = !isSameKeys
    ? 'keys changed'
    : !has(CLUSTER_TRUST)
      ? 'authority renewed'
      : has(HASH)
        ? undefined
        : 'certificate renewed';
  return { reload, restart: why && { why, by: endOf(loaded) } };
}

function keysIn(text: string | undefined): string {
  const trusts = trustsIn(text);
  return trusts === 'unknown' ? 'unknown' : trusts.map(({ keyId }) => keyId).join();
}

/** When the first of what a pod has loaded ends; long ago where that is not known. */
function endOf(loaded: Annotations): Date {
  const { until, clusterTrust } = readNodeAnnotations(loaded);
  if (!until || clusterTrust === 'unknown') return new Date(0);
  return new Date(Math.min(...[until, ...clusterTrust.map((one) => one.until)].map((end) => end.getTime())));
}

/** Says which certificates and trust broker listeners are to have. */
export const markOf = (annotations: Annotations): string =>
  certificateHash([CLUSTER_TRUST, CLIENTS_TRUST, HASH].map((name) => annotations[name]).join());

/** Whether it is written on a pod that its broker listeners have reloaded to this. */
export const hasReloaded = (loaded: Annotations, wanted: Annotations): boolean =>
  loaded[RELOADED] === markOf(wanted);

/** What is written on a pod whose broker listeners have reloaded. The rest goes on as the pod was made, and so do its other annotations. */
export const reloadedAnnotations = (wanted: Annotations): Record<string, string> => ({
  [CLIENTS_TRUST]: wanted[CLIENTS_TRUST] ?? '',
  [RELOADED]: markOf(wanted),
});

/**
 * What is written on a pod whose listeners are seen to take certificates of the newest clients' authority, so that users can be given
 * them; undefined if that is known already. Whether they still take those of a former one nobody can see, so the reload is not over.
 */
export const trustingAnnotations = (
  loaded: Annotations,
  wanted: Annotations,
): Record<string, string> | undefined =>
  loaded[CLIENTS_TRUST] === wanted[CLIENTS_TRUST]
    ? undefined
    : { [CLIENTS_TRUST]: wanted[CLIENTS_TRUST] ?? '', [RELOADED]: 'under way' };

/** Which certificate a pod is to present. */
export const wantedHash = (wanted: Annotations): string | undefined => wanted[HASH];
