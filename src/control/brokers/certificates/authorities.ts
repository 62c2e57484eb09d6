/**
 * The two authorities of a cluster and what they sign: what their Secrets and the pods say, what is to be done next, and what the
 * Secrets are to hold. Pure; keys and signatures are made by `mint` and come back as data.
 */
import { canonicalJson } from '../../../kube/json.ts';
import type { AnyObject } from '../../../kube/object.ts';
import type { Authority } from '../../../pki/authority-state.ts';
import { bundleFiles, generationAnnotations, loadingOf, nodeAnnotations } from '../../../pki/bundle.ts';
import type { Bundle } from '../../../pki/bundle.ts';
import type { CertificateFacts } from '../../../pki/certificate-facts.ts';
import { restartAt } from '../../../pki/renewal.ts';
import type { Step } from '../../../pki/renewal.ts';
import { encoded } from '../../../pki/secrets.ts';
import type { SecretContent } from '../../../pki/secrets.ts';
import { nodesOf } from '../model/cluster.ts';
import {
  clientsCaCertName,
  clientsCaName,
  clusterCaCertName,
  clusterCaName,
  nodeCommonName,
  operatorCertsName,
  podName,
  trustBundleName,
} from '../model/names.ts';
import { chainProblems } from './chains.ts';
import type { CertificateEnds } from './metrics.ts';
import { NAMES, OPERATOR, authorityOf, currentOf, endsOf, namesOf, viewOf } from './seen.ts';
import type { SeenAuthority, SeenCertificates } from './seen.ts';

/** A step that takes keys, with all that it takes to carry it out. */
export interface MintRequest {
  /** Which request it is: the answer to it is no answer to another. */
  id: string;
  authority: Bundle;
  step: Step;
  validityMs: number;
  /** By leaf: what a certificate is asked for. */
  leaves: Readonly<Record<string, { commonName: string; names: readonly string[] }>>;
}

/** What was made for a request: whole Secrets, by name. */
export interface Minted {
  id: string;
  secrets: Readonly<Record<string, SecretContent>>;
}

export interface Certificates {
  /** What is to be written, by name of the Secret: all that the cluster is to have, also what stays as it is. */
  secrets: ReadonlyMap<string, SecretContent>;
  /** Keys to be made next. */
  requests: readonly MintRequest[];
  steps: Readonly<Record<Bundle, Step>>;
  /** The annotations that the pod of a node is made with; a node that is not here has no certificate yet. */
  annotations: ReadonlyMap<string, Readonly<Record<string, string>>>;
  /** When certificates end: of authorities, of the operator, and of each node the first of those that it uses. */
  ends: CertificateEnds;
  /** What clients trust. */
  trusted: readonly CertificateFacts[];
  /** Why clients that trust just that do not believe what nodes present. */
  unverified: readonly string[];
  /** What somebody has to know of an authority before it hurts. */
  warnings: readonly string[];
  /** When the next of it is due, as far as that is a matter of time. */
  nextAt: Date | undefined;
  /** Whether a step can be taken, or is about to be written, so that the next one can be decided about at once. */
  isAdvancing: boolean;
}

const BUNDLES = ['cluster-ca', 'clients-ca'] as const;

export function certificatesOf(seen: SeenCertificates, minted: readonly Minted[]): Certificates {
  const { cluster, secrets } = seen;
  const view = (name: string) => viewOf(secrets.get(name));
  const bundle = view(trustBundleName(cluster.name));
  const own = {
    'cluster-ca': authorityOf(seen, 'cluster-ca', bundle),
    'clients-ca': authorityOf(seen, 'clients-ca', bundle),
  };
  const steps = { 'cluster-ca': own['cluster-ca'].step, 'clients-ca': own['clients-ca'].step };
  const requests = BUNDLES.flatMap((name) => requestOf(seen, name, own[name]));
  const answers = minted.filter(({ id }) => requests.some((request) => request.id === id));
  const bundles = {
    'cluster-ca': bundleAfter(own['cluster-ca']),
    'clients-ca': bundleAfter(own['clients-ca']),
  };
  const written = new Map<string, SecretContent>();
  for (const name of secretNames(seen)) keep(written, name, secrets.get(name));
  const isPublishable = bundles['cluster-ca'].length > 0 && bundles['clients-ca'].length > 0;
  if (isPublishable)
    written.set(trustBundleName(cluster.name), { data: encoded(bundleFiles(bundles)), annotations: {} });
  for (const answer of answers)
    for (const [name, content] of Object.entries(answer.secrets)) written.set(name, content);
  const annotations = annotationsOf(seen, own);
  return {
    secrets: written,
    requests: requests.filter(({ id }) => !answers.some((answer) => answer.id === id)),
    steps,
    annotations,
    ends: endsOf(seen, own),
    trusted: bundles['cluster-ca'],
    unverified: chainProblems(own['cluster-ca'].leaves, bundles['cluster-ca'], seen.now),
    warnings: BUNDLES.flatMap((name) => own[name].warnings.map((warning) => `${name}: ${warning}`)),
    nextAt: nextAt(seen, Object.values(steps), annotations),
    isAdvancing:
      requests.length > 0 || (isPublishable && BUNDLES.some((name) => steps[name].do === 'publish')),
  };
}

/** The next time at which a step is due, or the restart of a node. */
function nextAt(
  { pods, policies, now }: SeenCertificates,
  steps: readonly Step[],
  wanted: Certificates['annotations'],
): Date | undefined {
  const ofSteps = steps.flatMap((step) => ('until' in step && step.until ? [step.until] : []));
  const ofRestarts = pods.flatMap(({ metadata: { name, annotations = {} } }) => {
    const { restart } = loadingOf(annotations, wanted.get(name) ?? annotations);
    return restart ? [restartAt(restart, policies.cluster, wanted.size)] : [];
  });
  const [next] = [...ofSteps, ...ofRestarts]
    .filter((time) => time > now)
    .toSorted((a, b) => a.getTime() - b.getTime());
  return next;
}

/** Annotations of others stay theirs. */
const OWN_ANNOTATION = /^strimzi\.io\/(ca-(cert|key)-generation|force-(renew|replace))$/;

function keep(written: Map<string, SecretContent>, name: string, secret: AnyObject | undefined): void {
  const view = viewOf(secret);
  if (!view?.data || Object.keys(view.data).length === 0) return;
  const annotations = Object.entries(view.annotations ?? {}).filter(([key]) => OWN_ANNOTATION.test(key));
  written.set(name, { data: { ...view.data }, annotations: Object.fromEntries(annotations) });
}

/** What users bring stays theirs. */
function secretNames({ cluster, policies }: SeenCertificates): string[] {
  const { name } = cluster;
  return [
    ...(policies.cluster.isSupplied ? [] : [clusterCaName(name), clusterCaCertName(name)]),
    ...(policies.clients.isSupplied ? [] : [clientsCaName(name), clientsCaCertName(name)]),
    trustBundleName(name),
    operatorCertsName(name),
    ...nodesOf(cluster).map(({ pool, node }) => podName(name, pool.name, node.id)),
  ];
}

/** By which the Secrets of authorities are known: no plan that does not have them deletes them. */
export const AUTHORITY_LABEL = 'isthmus.dev/authority';

/** The authority whose Secret has this name. */
export const authorityOfSecret = (cluster: string, secret: string): Bundle | undefined =>
  (Object.keys(NAMES) as Bundle[]).find(
    (name) => NAMES[name].key(cluster) === secret || NAMES[name].certificate(cluster) === secret,
  );

/** Steps that are writes of what is known already need no keys. */
const NEEDS_KEYS: ReadonlySet<Step['do']> = new Set(['make key', 'make certificate', 'remove', 'sign']);

function requestOf(
  seen: SeenCertificates,
  authority: Bundle,
  { step, leaves }: SeenAuthority,
): MintRequest[] {
  if (!NEEDS_KEYS.has(step.do)) return [];
  const { cluster, policies } = seen;
  const wanted = step.do === 'sign' ? step.leaves.map(({ name }) => name) : [];
  const asked = Object.fromEntries(
    wanted.map((name) => [
      name,
      name === OPERATOR
        ? { commonName: OPERATOR, names: [] }
        : { commonName: nodeCommonName(cluster.name), names: namesOf(seen, name, leaves.get(name)) },
    ]),
  );
  const { validityMs } = authority === 'cluster-ca' ? policies.cluster : policies.clients;
  // One that is signed again for the same reason is another one.
  const before = wanted.map((name) => leaves.get(name)?.hash);
  const id = canonicalJson({ authority, step, asked, before });
  return [{ id, authority, step, validityMs, leaves: asked }];
}

/** What the bundle is to have: as it is, unless it is time to publish. */
function bundleAfter({ step, published, material }: SeenAuthority): readonly CertificateFacts[] {
  if (step.do !== 'publish') return published;
  const known = new Map([...published, ...currentOf(material)].map((one) => [one.thumbprint, one]));
  return step.authorities.flatMap(({ thumbprint }: Authority) => known.get(thumbprint) ?? []);
}

/** By what the Secrets have now: a pod is made with what it speaks of only after that is there. */
function annotationsOf(
  { cluster }: SeenCertificates,
  own: Readonly<Record<Bundle, SeenAuthority>>,
): Map<string, Record<string, string>> {
  const { 'cluster-ca': ofCluster, 'clients-ca': ofClients } = own;
  const { leaves } = ofCluster;
  const published = { 'cluster-ca': ofCluster.published, 'clients-ca': ofClients.published };
  if (BUNDLES.some((name) => published[name].length === 0) || leaves.size === 0) return new Map();
  const generations = generationAnnotations(ofCluster.material, ofClients.material);
  return new Map(
    nodesOf(cluster).flatMap(({ pool, node }) => {
      const name = podName(cluster.name, pool.name, node.id);
      const leaf = leaves.get(name);
      return leaf ? [[name, { ...generations, ...nodeAnnotations(published, leaf) }] as const] : [];
    }),
  );
}
