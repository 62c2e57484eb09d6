/** Follows references to Secrets and ConfigMaps, as far as they are permitted. */
import { createHash } from 'node:crypto';
import { BoundedMap } from '../../../ops/bounded-map.ts';
import { messageOf } from '../../../ops/errors.ts';
import { readKeyStore } from '../../../pki/key-store.ts';
import type { CertificateRef, TrustAnchorRef } from '../../../resources/common/refs.ts';
import { keyPairProblem, readTrustBundle } from '../evaluate/certificates.ts';
import type { KeyPair } from '../evaluate/certificates.ts';
import type { Fault, Reason } from '../faults.ts';
import { entryOf, find, unreadableIn } from '../snapshot.ts';
import type { KeyedText, ProxySnapshot } from '../snapshot.ts';

/** Collects what is wrong at one place of a resource. Each call says nothing was found. */
export type Report = (reason: Reason, message: string) => undefined;

/** Reports into a list, at a path. */
export function reportInto(faults: Fault[], path: Fault['path']): Report {
  return (reason, message) => {
    faults.push({ reason, path, message });
    return undefined;
  };
}

/** Reports a resource that is not there, or is there and cannot be read: then it is that one's own fault. */
export function reportMissing(
  kind: string,
  name: string,
  namespace: string,
  snapshot: ProxySnapshot,
  report: Report,
): undefined {
  const problem = unreadableIn(snapshot, kind, namespace, name);
  if (problem === undefined) return report('ReferencedResourcesNotFound', `no ${kind} is named "${name}"`);
  return report('InvalidReferencedResource', `${kind} "${name}" cannot be read: ${problem}`);
}

/** Who refers: the kind and namespace that a ReferenceGrant names. */
export interface Referrer {
  kind: 'VirtualKafkaCluster' | 'KafkaClusterRef';
  namespace: string;
}

export type InNamespace<R> = R & { namespace: string };

/** The certificate and key in a Secret, found to fit each other. */
export function keyPairOf(
  ref: InNamespace<CertificateRef>,
  from: Referrer,
  snapshot: ProxySnapshot,
  report: Report,
): KeyPair | undefined {
  const secret = follow(ref, from, snapshot.secrets, snapshot, report);
  if (!secret) return undefined;
  if (ref.keystore) return storedKeyPair(ref, secret, from, snapshot, report);
  const { data } = secret;
  // As kubectl and cert-manager name them, and as Strimzi does in the Secret of a KafkaUser.
  const [certificate, privateKey] =
    data['tls.crt'] === undefined && data['user.crt'] !== undefined
      ? [data['user.crt'], data['user.key']]
      : [data['tls.crt'], data['tls.key']];
  if (!certificate || !privateKey) {
    const advice = 'make it with `kubectl create secret tls`';
    return report('InvalidReferencedResource', `Secret "${ref.name}" lacks tls.crt or tls.key (${advice})`);
  }
  // On a single machine the proxy is in the same process and says itself what it cannot use.
  const problem = snapshot.cluster && keyPairProblem({ certificate, privateKey });
  if (problem) return report('InvalidReferencedResource', `Secret "${ref.name}": ${problem}`);
  return { certificate, privateKey };
}

const MAX_STORES = 1024;
/** To open a store costs some ten thousand digests, and the same ones are looked at for every change of a proxy. */
const opened = new BoundedMap<string, KeyPair | { problem: string }>(MAX_STORES);

function openStore(base64: string, password: string): KeyPair | { problem: string } {
  const name = createHash('sha256').update(`${password}\0${base64}`).digest('hex');
  const known = opened.get(name);
  if (known) return known;
  let found: KeyPair | { problem: string };
  try {
    found = readKeyStore(Buffer.from(base64, 'base64'), password);
  } catch (error) {
    found = { problem: messageOf(error) };
  }
  opened.set(name, found);
  return found;
}

/** The certificate and key in a PKCS#12 or JKS store. */
function storedKeyPair(
  ref: InNamespace<CertificateRef>,
  secret: KeyedText,
  from: Referrer,
  snapshot: ProxySnapshot,
  report: Report,
): KeyPair | undefined {
  const { key, passwordRef } = ref.keystore!;
  const { name = ref.name } = passwordRef;
  const passwords =
    name === ref.name ? secret : follow({ ...ref, name }, from, snapshot.secrets, snapshot, report);
  if (!passwords) return undefined;
  const store = secret.base64 && entryOf(secret.base64, key);
  if (store === undefined)
    return report(
      'InvalidReferencedResource',
      `Secret "${ref.name}" has no key "${key}"; name the store in keystore.key`,
    );
  const password = entryOf(passwords.data, passwordRef.key);
  if (password === undefined)
    return report(
      'InvalidReferencedResource',
      `Secret "${name}" has no key "${passwordRef.key}"; say in keystore.passwordRef where the password is`,
    );
  // With the line break that an editor leaves, it would never fit.
  const pair = openStore(store, password.replace(/\r?\n$/, ''));
  if (!('problem' in pair)) return pair;
  return report('InvalidReferencedResource', `Secret "${ref.name}": the store in "${key}" ${pair.problem}`);
}

/** The certificates to trust, of all ConfigMaps together; undefined if there are none. */
export function trustOf(
  refs: readonly InNamespace<TrustAnchorRef>[],
  from: Referrer,
  snapshot: ProxySnapshot,
  report: Report,
): string | undefined {
  const bundles = refs.flatMap((ref) => {
    const configMap = follow(ref, from, snapshot.configMaps, snapshot, report);
    const bundle = configMap && trustBundle(configMap, ref.key);
    if (configMap && !bundle) {
      const missing = ref.key === undefined ? 'ca.crt and no single other key; name one in key' : ref.key;
      report('InvalidReferencedResource', `ConfigMap "${ref.name}" has no ${missing}`);
    }
    const problem = snapshot.cluster && bundle && readTrustBundle(bundle);
    if (problem) report('InvalidReferencedResource', `ConfigMap "${ref.name}": ${problem}`);
    return bundle ?? [];
  });
  return bundles.length > 0 ? bundles.join('\n') : undefined;
}

function trustBundle({ data }: KeyedText, key: string | undefined): string | undefined {
  if (key !== undefined) return entryOf(data, key);
  const values = Object.values(data);
  return data['ca.crt'] ?? data['ca-bundle.crt'] ?? (values.length === 1 ? values[0] : undefined);
}

function follow(
  { kind, name, namespace }: InNamespace<CertificateRef | TrustAnchorRef>,
  from: Referrer,
  objects: readonly KeyedText[],
  snapshot: ProxySnapshot,
  report: Report,
): KeyedText | undefined {
  const elsewhere = namespace === from.namespace ? '' : ` in namespace "${namespace}"`;
  // Said before whether it exists: who may not refer to it must not learn that either.
  if (elsewhere !== '' && !isGranted({ kind, name, namespace }, from, snapshot)) {
    // Where the kind is not served, no grant can be made.
    const first = snapshot.cluster?.grants
      ? 'create'
      : 'this cluster serves no ReferenceGrants: install their CRD of the Gateway API, and create';
    const advice = `${first} a ReferenceGrant there, from ${from.kind} in namespace "${from.namespace}" to ${kind}`;
    return report('RefNotPermitted', `${kind} "${name}"${elsewhere} may not be referred to; ${advice}`);
  }
  const found = find(objects, namespace, name);
  return found ?? report('ReferencedResourcesNotFound', `no ${kind} is named "${name}"${elsewhere}`);
}

/** Whether a reference into another namespace is allowed there. Files on one machine belong to one user, so all are. */
function isGranted(
  to: { kind: string; name: string; namespace: string },
  from: Referrer,
  snapshot: ProxySnapshot,
): boolean {
  if (!snapshot.cluster) return true;
  return (snapshot.cluster.grants ?? []).some(
    ({ metadata, spec }) =>
      metadata.namespace === to.namespace &&
      spec.from.some(
        (it) => it.group === 'kroxylicious.io' && it.kind === from.kind && it.namespace === from.namespace,
      ) &&
      spec.to.some(
        (it) => it.group === '' && it.kind === to.kind && (it.name === undefined || it.name === to.name),
      ),
  );
}
