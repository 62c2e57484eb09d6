/** The Secrets of users: what they are to hold, and which certificates and passwords have to be made for that. Pure. */
import type { AnyObject } from '../../../kube/object.ts';
import { authorityFacts, readAuthority } from '../../../pki/authority-secrets.ts';
import type { AuthorityMaterial } from '../../../pki/authority-secrets.ts';
import { readBundle } from '../../../pki/bundle.ts';
import { isFault } from '../../../pki/certificate-facts.ts';
import type { CertificateFacts } from '../../../pki/certificate-facts.ts';
import { readLeaf } from '../../../pki/leaf.ts';
import { signingStep } from '../../../pki/renewal.ts';
import type { Step } from '../../../pki/renewal.ts';
import { encoded, textOf } from '../../../pki/secrets.ts';
import type { KafkaUser } from '../../../resources/strimzi/kafka-user.ts';
import type { Kafka } from '../../../resources/strimzi/kafka.ts';
import { MANAGED_BY } from '../../kernel/field-manager.ts';
import { trustersAmong, viewOf } from '../certificates/seen.ts';
import { policiesOf } from '../certificates/policy.ts';
import type { CertificateTimes } from '../certificates/policy.ts';
import { SIGNED_BY, SIGNED_SINCE } from '../certificates/user-leaves.ts';
import {
  CLUSTER_LABEL,
  KIND_LABEL,
  PART_LABEL,
  USER_PART,
  clientsCaCertName,
  clientsCaName,
  trustBundleName,
} from '../model/names.ts';

/** The name of a user's certificate within its Secret. */
export const LEAF = 'user';

/** On the Secret of every user of a cluster. */
export const userLabels = (cluster: string): Record<string, string> => ({
  [CLUSTER_LABEL]: cluster,
  [PART_LABEL]: USER_PART,
  ...MANAGED_BY,
});

export interface ClientsAuthority {
  material: AuthorityMaterial;
  /** What is to be signed, or why nothing can be. */
  step: Step;
  validityMs: number;
  /** All that is trusted, newest first. */
  known: readonly CertificateFacts[];
  now: Date;
}

/** The authority that signs users' certificates, and which of them are due, by name of the user. */
export function clientsAuthority(
  home: Kafka,
  secretOf: (name: string) => AnyObject | undefined,
  pods: readonly AnyObject[],
  holders: readonly { name: string; secret: AnyObject | undefined }[],
  now: Date,
  times: CertificateTimes | undefined,
): ClientsAuthority {
  const { name } = home.metadata;
  const { isSupplied, ...policy } = policiesOf(home, times).policies.clients;
  const material = readAuthority(
    viewOf(secretOf(clientsCaCertName(name))),
    viewOf(secretOf(clientsCaName(name))),
  );
  const published = readBundle(viewOf(secretOf(trustBundleName(name))), 'clients-ca');
  const known = [...certificatesIn(material), ...published];
  const step = signingStep({
    ...authorityFacts(material),
    now,
    policy,
    isSupplied,
    bundles: [published],
    trusters: trustersAmong(pods, 'clients-ca'),
    leaves: holders.map(({ name: leaf, secret }) => ({
      name: leaf,
      held: readLeaf(LEAF, viewOf(secret), known),
      running: undefined,
      wantedNames: [],
    })),
  });
  return { material, step, validityMs: policy.validityMs, known, now };
}

const certificatesIn = ({ certificate, above, former }: AuthorityMaterial): CertificateFacts[] => [
  ...(certificate && !isFault(certificate) ? [certificate] : []),
  ...above,
  ...former,
];

/** What a TLS user's Secret is to hold: what was made just now, or else what it has; undefined as long as there is nothing. */
export function certificateData(
  secret: AnyObject | undefined,
  made: Readonly<Record<string, string>> | undefined,
  { material }: Pick<ClientsAuthority, 'material'>,
): Record<string, string> | undefined {
  const { certificate } = material;
  const leaf = made ?? leafIn(secret);
  if (!leaf || !certificate || isFault(certificate)) return undefined;
  return { ...leaf, ...encoded({ 'ca.crt': certificate.pem }) };
}

/** Says by which key a user's certificate is signed, and since when it is no longer the one before: see `formerUsers`. */
export function signatureOf(
  secret: AnyObject | undefined,
  data: Record<string, string>,
  { known, now }: Pick<ClientsAuthority, 'known' | 'now'>,
): Record<string, string> {
  const leaf = readLeaf(LEAF, { data }, known);
  if (!leaf || isFault(leaf) || leaf.signedBy === undefined) return {};
  const { [SIGNED_BY]: before, [SIGNED_SINCE]: since } = secret?.metadata.annotations ?? {};
  const isReplaced = before !== undefined && before !== leaf.signedBy;
  const changed = isReplaced ? now.toISOString() : since;
  return { [SIGNED_BY]: leaf.signedBy, ...(changed !== undefined && { [SIGNED_SINCE]: changed }) };
}

/** Whether a user has a certificate of another key than the clients CA has now. */
export function isOfFormerKey(
  secret: AnyObject | undefined,
  authority: Pick<ClientsAuthority, 'material'> | undefined,
): boolean {
  const signedBy = secret?.metadata.annotations?.[SIGNED_BY];
  const key = authority?.material.key;
  return signedBy !== undefined && key !== undefined && !isFault(key) && key.keyId !== signedBy;
}

const FILES = ['crt', 'key', 'p12', 'password'].map((file) => `${LEAF}.${file}`);

function leafIn(secret: AnyObject | undefined): Record<string, string> | undefined {
  const { data = {} } = viewOf(secret) ?? {};
  const files = FILES.flatMap((file) => (data[file] === undefined ? [] : [[file, data[file]] as const]));
  return files.length === FILES.length ? Object.fromEntries(files) : undefined;
}

export const passwordIn = (secret: AnyObject | undefined): string | undefined => {
  const password = textOf(viewOf(secret), 'password');
  return password === '' ? undefined : password;
};

/** What a user with a password has in its Secret: the password, and how Java clients want to be told of it. */
export function passwordData(username: string, password: string): Record<string, string> {
  const quoted = (text: string) => `"${text.replaceAll(/["\\]/g, String.raw`\$&`)}"`;
  const module = 'org.apache.kafka.common.security.scram.ScramLoginModule';
  return encoded({
    password,
    'sasl.jaas.config': `${module} required username=${quoted(username)} password=${quoted(password)};`,
  });
}

/** The Secret of a user, named like it; it goes with the user. */
export function userSecret(
  user: KafkaUser,
  cluster: string,
  data: Record<string, string>,
  annotations: Record<string, string> = {},
): AnyObject {
  const { namespace, name, uid = '' } = user.metadata;
  const { apiVersion, kind } = user;
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: {
      name,
      namespace,
      labels: { ...userLabels(cluster), [KIND_LABEL]: 'KafkaUser' },
      annotations,
      ownerReferences: [{ apiVersion, kind, name, uid, controller: false, blockOwnerDeletion: false }],
    },
    type: 'Opaque',
    data,
  };
}

/** What can be the name of a Secret; there is no use in asking for another. */
const SECRET_NAME = /^[a-z0-9][a-z0-9.-]{0,252}$/;

export interface PasswordSource {
  /** Empty if what is written cannot be the name of any. */
  secret: string;
  key: string;
}

/** Where a user's password comes from, if not from here. */
export function passwordSource({ spec }: KafkaUser): PasswordSource | undefined {
  const { password } = (spec.authentication ?? {}) as {
    password?: { valueFrom?: { secretKeyRef?: { name?: unknown; key?: unknown } } };
  };
  if (password === undefined) return undefined;
  const { name, key = 'password' } = password.valueFrom?.secretKeyRef ?? {};
  const isName = typeof name === 'string' && SECRET_NAME.test(name);
  return { secret: isName ? name : '', key: String(key) };
}
