import { createHmac, createPrivateKey, hash, randomBytes, X509Certificate } from 'node:crypto';
import type * as Pfx from '@peculiar/asn1-pfx';
import { ID, structures } from './pkcs12-structures.ts';

/**
 * PKCS12 stores (RFC 7292) as Java 8u301, 11.0.12, 17 and later read them. Keys are encrypted (PBES2, AES-256), certificates are
 * not: they are no secret, and Java looks only at the checksum.
 */

/** As many as keytool takes. Passwords are random and long, so that more would protect nothing. */
const MAC_ITERATIONS = 10_000;

/** A trust store: certificates in PEM, by the alias that Java shows. Needs a password for its checksum. */
export function writeTrustStore(certificates: Readonly<Record<string, string>>, password: string): Buffer {
  const anyUsage = Object.assign(new (structures().AttributeValue)(), { identifier: ID.anyExtendedKeyUsage });
  const trusted = attribute(ID.trustedKeyUsage, anyUsage);
  const bags = Object.entries(certificates).map(([alias, pem]) =>
    certificateBag(new X509Certificate(pem), [friendlyName(alias), trusted]),
  );
  return seal(bags, password);
}

/** A key store: one key and its chain, the key's own certificate first, both in PEM. */
export function writeKeyStore(pair: { alias: string; key: string; chain: string }, password: string): Buffer {
  const { SafeBag, OctetString, id_pkcs8ShroudedKeyBag } = structures();
  // Java joins a key to its certificate by this, and the rest of the chain by the issuers.
  const localKeyId = attribute(ID.localKeyId, new OctetString(randomBytes(16)));
  const own = [friendlyName(pair.alias), localKeyId];
  const passphrase = { cipher: 'aes-256-cbc', passphrase: password };
  const encrypted = createPrivateKey(pair.key).export({ type: 'pkcs8', format: 'der', ...passphrase });
  const keyBag = new SafeBag({
    bagId: id_pkcs8ShroudedKeyBag,
    bagValue: arrayBuffer(encrypted),
    bagAttributes: own,
  });
  const chain = pair.chain.match(/-----BEGIN[^-]+-----[^-]+-----END[^-]+-----/g) ?? [];
  const bags = chain.map((pem, index) => certificateBag(new X509Certificate(pem), index === 0 ? own : []));
  return seal([keyBag, ...bags], password);
}

function certificateBag({ raw }: X509Certificate, bagAttributes: Pfx.PKCS12Attribute[]): Pfx.SafeBag {
  const { AsnSerializer, CertBag, OctetString, SafeBag, id_certBag, id_x509Certificate } = structures();
  const certValue = AsnSerializer.serialize(new OctetString(raw));
  const bagValue = AsnSerializer.serialize(new CertBag({ certId: id_x509Certificate, certValue }));
  return new SafeBag({
    bagId: id_certBag,
    bagValue,
    ...(bagAttributes.length > 0 ? { bagAttributes } : {}),
  });
}

const friendlyName = (alias: string) =>
  attribute(ID.friendlyName, Object.assign(new (structures().AttributeValue)(), { text: alias }));

function attribute(attrId: string, value: object): Pfx.PKCS12Attribute {
  const { AsnSerializer, PKCS12Attribute } = structures();
  // Its constructor takes fields and forgets them.
  return Object.assign(new PKCS12Attribute(), { attrId, attrValues: [AsnSerializer.serialize(value)] });
}

/** Puts bags into a store, with the checksum that proves the password. */
function seal(bags: Pfx.SafeBag[], password: string): Buffer {
  const { AsnSerializer, AuthenticatedSafe, ContentInfo, MacData, OctetString, PFX, SafeContents } =
    structures();
  const data = (content: ArrayBuffer) =>
    new ContentInfo({
      contentType: ID.data,
      content: AsnSerializer.serialize(new OctetString(content)),
    });
  const contents = AsnSerializer.serialize(new SafeContents(bags));
  const authenticated = AsnSerializer.serialize(new AuthenticatedSafe([data(contents)]));
  const salt = randomBytes(20);
  const macData = new MacData({ macSalt: new OctetString(salt), iterations: MAC_ITERATIONS });
  const digest = createHmac('sha256', macKey(password, salt)).update(Buffer.from(authenticated)).digest();
  macData.mac.digestAlgorithm.algorithm = ID.sha256;
  macData.mac.digestAlgorithm.parameters = null;
  macData.mac.digest = new OctetString(digest);
  const store = new PFX({ version: 3, authSafe: data(authenticated), macData });
  return Buffer.from(AsnSerializer.serialize(store));
}

const SHA256_BLOCK = 64;

/** RFC 7292, appendix B.2, for a key of no more than one SHA-256. */
function macKey(password: string, salt: Buffer): Buffer {
  const secret = Buffer.from(`${password}\0`, 'utf16le').swap16();
  const diversifier = Buffer.alloc(SHA256_BLOCK, 3);
  let key = Buffer.concat([diversifier, repeated(salt), repeated(secret)]);
  for (let round = 0; round < MAC_ITERATIONS; round++) key = hash('sha256', key, 'buffer');
  return key;
}

/** Repeated up to the end of a block. */
const repeated = (bytes: Buffer) =>
  Buffer.alloc(Math.ceil(bytes.length / SHA256_BLOCK) * SHA256_BLOCK, bytes);

const arrayBuffer = (bytes: Buffer): ArrayBuffer => Uint8Array.from(bytes).buffer;
