import { createDecipheriv, pbkdf2Sync } from 'node:crypto';

/**
 * Trusted certificates out of the stores that Java tools write. Node's TLS reads a PKCS12 file only if it has a private
 * key, and JKS never, so both are read here; only certificates, nothing that is worth protecting.
 */

const JKS_MAGIC = 0xfeed_feed;
const PEM_BEGIN = '-----BEGIN';

/** The certificates of a PEM, PKCS12 or JKS file as PEM. Throws if there is none. */
export function readTrustStore(store: Buffer, type: string | undefined, password: string): string {
  const certificates = certificatesOf(store, type?.toUpperCase() ?? typeOf(store), password);
  if (certificates.length === 0) throw new Error('has no certificate in it');
  return certificates.join('');
}

function typeOf(store: Buffer): string {
  if (store.includes(PEM_BEGIN)) return 'PEM';
  return store.length > 4 && store.readUInt32BE(0) === JKS_MAGIC ? 'JKS' : 'PKCS12';
}

function certificatesOf(store: Buffer, type: string, password: string): string[] {
  switch (type) {
    case 'PEM':
      return store.includes(`${PEM_BEGIN} CERTIFICATE`) ? [store.toString('utf8')] : [];
    case 'JKS':
      return jksCertificates(store).map(toPem);
    case 'PKCS12':
      return pkcs12Certificates(store, password).map(toPem);
    default:
      throw new Error(`the store type ${type} is not one of PEM, PKCS12, JKS`);
  }
}

const toPem = (der: Buffer) =>
  `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;

/** JKS: magic, version, count; each entry a tag (2 is a trusted certificate), alias, date, type, length, DER. */
function jksCertificates(store: Buffer): Buffer[] {
  if (store.readUInt32BE(0) !== JKS_MAGIC) throw new Error('is not a JKS store');
  const found: Buffer[] = [];
  let at = 12;
  const skipText = () => (at += 2 + store.readUInt16BE(at));
  for (let left = store.readUInt32BE(8); left > 0; left--) {
    const tag = store.readUInt32BE(at);
    if (tag !== 2) throw new Error('has a private key in it; a trust store has certificates only');
    at += 4;
    skipText();
    at += 8;
    skipText();
    const length = store.readUInt32BE(at);
    found.push(store.subarray(at + 4, at + 4 + length));
    at += 4 + length;
  }
  return found;
}

const SEQUENCE = 0x30;
const OCTET_STRING = 0x04;
const CONTEXT_0 = 0xa0;
const CONTEXT_0_PRIMITIVE = 0x80;

/** Object identifiers, in DER as hexadecimal. */
const OID = {
  data: '2a864886f70d010701',
  encryptedData: '2a864886f70d010706',
  certificateBag: '2a864886f70d010c0a0103',
  pbes2: '2a864886f70d01050d',
} as const;
const PRF: Record<string, string> = {
  '2a864886f70d0207': 'sha1',
  '2a864886f70d0209': 'sha256',
  '2a864886f70d020a': 'sha384',
  '2a864886f70d020b': 'sha512',
};
const CIPHERS: Record<string, { name: string; keyLength: number }> = {
  '60864801650304012a': { name: 'aes-256-cbc', keyLength: 32 },
  '608648016503040116': { name: 'aes-192-cbc', keyLength: 24 },
  '608648016503040102': { name: 'aes-128-cbc', keyLength: 16 },
};

interface Element {
  tag: number;
  value: Buffer;
}

function elements(bytes: Buffer): Element[] {
  const found: Element[] = [];
  for (let at = 0; at < bytes.length;) {
    const tag = bytes[at]!;
    let length = bytes[at + 1] ?? 0;
    at += 2;
    if (length >= 0x80) {
      const size = length & 0x7f;
      if (size === 0 || size > 4 || at + size > bytes.length) throw new Error('is not a PKCS12 store');
      length = bytes.readUIntBE(at, size);
      at += size;
    }
    if (at + length > bytes.length) throw new Error('is cut short');
    found.push({ tag, value: bytes.subarray(at, at + length) });
    at += length;
  }
  return found;
}

/** The elements of a constructed value, which must have this tag. */
function inside(element: Element | undefined, tag: number): Element[] {
  if (element?.tag !== tag) throw new Error('is not a PKCS12 store');
  return elements(element.value);
}

function octets(element: Element | undefined, tag = OCTET_STRING): Buffer {
  if (element?.tag !== tag) throw new Error('is not a PKCS12 store');
  return element.value;
}

const oid = (element: Element | undefined) => element?.value.toString('hex');

function pkcs12Certificates(store: Buffer, password: string): Buffer[] {
  const [, authSafe] = inside(elements(store)[0], SEQUENCE);
  const [, content] = inside(authSafe, SEQUENCE);
  const safes = elements(octets(inside(content, CONTEXT_0)[0]));
  return inside(safes[0], SEQUENCE).flatMap((info) => {
    const [type, value] = inside(info, SEQUENCE);
    const inner = inside(value, CONTEXT_0)[0];
    if (oid(type) === OID.data) return certificatesIn(octets(inner));
    if (oid(type) === OID.encryptedData) return certificatesIn(decrypt(inner, password));
    return [];
  });
}

function certificatesIn(safeContents: Buffer): Buffer[] {
  return inside(elements(safeContents)[0], SEQUENCE).flatMap((bag) => {
    const [type, value] = inside(bag, SEQUENCE);
    if (oid(type) !== OID.certificateBag) return [];
    const [, certificate] = inside(inside(value, CONTEXT_0)[0], SEQUENCE);
    return [octets(inside(certificate, CONTEXT_0)[0])];
  });
}

function decrypt(encryptedData: Element | undefined, password: string): Buffer {
  const [, contentInfo] = inside(encryptedData, SEQUENCE);
  const [, algorithm, ciphertext] = inside(contentInfo, SEQUENCE);
  const [scheme, parameters] = inside(algorithm, SEQUENCE);
  if (oid(scheme) !== OID.pbes2)
    throw new Error('uses a cipher of the past; write it anew with keytool of Java 17 or later, or as PEM');
  const [derivation, encryption] = inside(parameters, SEQUENCE);
  const [salt, iterations, ...rest] = inside(inside(derivation, SEQUENCE)[1], SEQUENCE);
  const prf = rest.find((element) => element.tag === SEQUENCE);
  const digest = prf ? PRF[oid(elements(prf.value)[0]) ?? ''] : 'sha1';
  const [cipherId, iv] = inside(encryption, SEQUENCE);
  const cipher = CIPHERS[oid(cipherId) ?? ''];
  const rounds =
    iterations && iterations.value.length <= 4 ? iterations.value.readUIntBE(0, iterations.value.length) : 0;
  if (!digest || !cipher || rounds < 1 || rounds > 5_000_000) throw new Error('uses an unknown cipher');
  const key = pbkdf2Sync(password, octets(salt), rounds, cipher.keyLength, digest);
  const decipher = createDecipheriv(cipher.name, key, octets(iv));
  const bytes = octets(ciphertext, CONTEXT_0_PRIMITIVE);
  try {
    return Buffer.concat([decipher.update(bytes), decipher.final()]);
  } catch (cause) {
    throw new Error('cannot be decrypted: is the password right?', { cause });
  }
}
