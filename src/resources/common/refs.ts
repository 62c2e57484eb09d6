/** References to other objects. */
import { z } from 'zod';
import { text } from '../schema.ts';
import { dnsLabel, objectName } from './names.ts';

/**
 * A reference that can be to one kind only, so that kind and group may be left out. Two refs that name the same thing
 * are then equal.
 */
export function refTo<Kind extends string, Group extends string>(kind: Kind, group: Group) {
  return z.object({
    kind: z.literal(kind).default(kind).describe(`Always ${kind}.`),
    group: z
      .literal(group)
      .default(group)
      .describe(group === '' ? 'Always "", the core group.' : `Always ${group}.`),
    name: objectName.describe(`The name of the ${kind}.`),
  });
}

// The design document prints it without a value, and only server-side apply would refuse a null that is not allowed.
const namespace = dnsLabel
  .meta({ nullable: true, description: 'Its namespace; the namespace of this resource if left out.' })
  .exactOptional();

/** The same, where the object may be in another namespace. */
export function refAcross<Kind extends string, Group extends string>(kind: Kind, group: Group) {
  return refTo(kind, group).extend({ namespace });
}

const secretKey = (usual: string) =>
  text(253).default(usual).describe(`The key in the Secret; \`${usual}\` if left out.`);

const keystore = z.object({
  key: secretKey('keystore.p12'),
  passwordRef: z
    .object({
      name: objectName
        .describe(
          'The Secret with the password, in the namespace of the store; that of the store if left out.',
        )
        .exactOptional(),
      key: secretKey('password'),
    })
    .prefault({})
    .describe('Where the password of the store is.'),
});

/** A Secret that holds a certificate and its key. */
export const certificateRef = refAcross('Secret', '').extend({
  keystore: keystore
    .describe(
      'Where the Secret has them as a PKCS#12 or JKS store. If left out: `tls.crt` and `tls.key`, or `user.crt` and `user.key` as in the Secret of a KafkaUser.',
    )
    .exactOptional(),
});

/** A ConfigMap that holds certificates to trust. */
export const trustAnchorRef = refAcross('ConfigMap', '').extend({
  key: text(253)
    .describe('The key in it. If left out: `ca.crt`, `ca-bundle.crt`, or the only key there is.')
    .exactOptional(),
});

/** The filters of a virtual cluster, first to last as a request meets them. */
export const filterRefs = z
  .array(refTo('KafkaProtocolFilter', 'filter.kroxylicious.io'))
  .max(32)
  .meta({ 'x-kubernetes-list-type': 'atomic' });

export type CertificateRef = z.output<typeof certificateRef>;
export type TrustAnchorRef = z.output<typeof trustAnchorRef>;

/** The reference with its namespace written out. */
export function inNamespace<R extends { namespace?: string }>(
  ref: R,
  namespace: string,
): R & { namespace: string } {
  return { ...ref, namespace: ref.namespace ?? namespace };
}
