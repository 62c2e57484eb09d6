import { createDecipheriv, pbkdf2Sync } from 'node:crypto';
import type * as Pfx from '@peculiar/asn1-pfx';
import type * as X509 from '@peculiar/asn1-x509';
import { ID, structures } from './pkcs12-structures.ts';

/**
 * Certificates and keys out of PKCS12 stores (RFC 7292) that are encrypted with PBES2 (RFC 8018), as keytool has done since Java 17
 * and OpenSSL since 3.0. The structure is read by packages, the decryption is Node's.
 */

const DIGESTS: Record<string, string> = {
  [ID.hmacWithSha1]: 'sha1',
  [ID.hmacWithSha256]: 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
};
const CIPHERS: Record<string, { name: string; keyLength: number }> = {
  '2.16.840.1.101.3.4.1.2': { name: 'aes-128-cbc', keyLength: 16 },
  '2.16.840.1.101.3.4.1.22': { name: 'aes-192-cbc', keyLength: 24 },
  [ID.aes256Cbc]: { name: 'aes-256-cbc', keyLength: 32 },
};

/** Of a whole store, however many parts it has. keytool takes 10,000; a million stops the process for half a second. */
const MOST_ITERATIONS = 5_000_000;
/** Of a store with keys, which many may hand in to one process: so much takes half a second. */
const MOST_KEY_ITERATIONS = 1_000_000;
/** A certificate has about 150: the 150 authorities that come with Java are more than the default of 10,000 allows. */
const MOST_ELEMENTS = 200_000;
const WRONG_PASSWORD = 'cannot be decrypted: is the password right?';

interface Decryption {
  readonly password: string;
  iterationsLeft: number;
}

/** What is in a store: certificates in DER, keys as PKCS8 in DER. */
export interface Pkcs12Contents {
  certificates: Buffer[];
  keys: Buffer[];
}

/** The certificates of a store, in DER. Private keys and whatever else is in it are passed over. */
export function pkcs12Certificates(store: Buffer, password: string): Buffer[] {
  return [...safesOf(store, { password, iterationsLeft: MOST_ITERATIONS })].flatMap(certificatesIn);
}

/** The certificates and the private keys of a store. */
export function pkcs12Contents(store: Buffer, password: string): Pkcs12Contents {
  const decryption = { password, iterationsLeft: MOST_KEY_ITERATIONS };
  const safes = [...safesOf(store, decryption)];
  return {
    certificates: safes.flatMap(certificatesIn),
    keys: safes.flatMap((bags) => keysIn(bags, decryption)),
  };
}

type Bags = readonly Pfx.SafeBag[];

function* safesOf(store: Buffer, decryption: Decryption): Generator<Bags> {
  const { PFX, AuthenticatedSafe, EncryptedData, SafeContents } = structures();
  const { authSafe } = parse(store, PFX);
  for (const { contentType, content } of parse(octets(authSafe.content), AuthenticatedSafe)) {
    if (contentType === ID.data) yield [...parse(octets(content), SafeContents)];
    if (contentType !== ID.encryptedData) continue;
    const { encryptedContentInfo: info } = parse(content, EncryptedData);
    const ciphertext = info.encryptedContent?.value?.buffer;
    const safeContents = decrypt(info.contentEncryptionAlgorithm, ciphertext, decryption);
    try {
      yield [...parse(safeContents, SafeContents)];
    } catch (cause) {
      // One wrong key in 256 decrypts to something with valid padding.
      throw new Error(WRONG_PASSWORD, { cause });
    }
  }
}

function certificatesIn(bags: Bags): Buffer[] {
  const { CertBag, id_certBag, id_x509Certificate } = structures();
  return bags.flatMap(({ bagId, bagValue }) => {
    if (bagId !== id_certBag) return [];
    const { certId, certValue } = parse(bagValue, CertBag);
    return certId === id_x509Certificate ? [Buffer.from(octets(certValue))] : [];
  });
}

function keysIn(bags: Bags, decryption: Decryption): Buffer[] {
  const { EncryptedPrivateKeyInfo, id_keyBag, id_pkcs8ShroudedKeyBag } = structures();
  return bags.flatMap(({ bagId, bagValue }) => {
    if (bagId === id_keyBag) return [Buffer.from(bagValue)];
    if (bagId !== id_pkcs8ShroudedKeyBag) return [];
    const { encryptionAlgorithm, encryptedData } = parse(bagValue, EncryptedPrivateKeyInfo);
    return [decrypt(encryptionAlgorithm, encryptedData.buffer, decryption)];
  });
}

/** What is inside an EncryptedPrivateKeyInfo, still encrypted. */
export function protectedKeyOf(der: Buffer): Buffer {
  return Buffer.from(parse(der, structures().EncryptedPrivateKeyInfo).encryptedData.buffer);
}

function decrypt(
  { algorithm, parameters }: X509.AlgorithmIdentifier,
  ciphertext: ArrayBuffer | undefined,
  decryption: Decryption,
): Buffer {
  const { PBES2Params, PBKDF2Params } = structures();
  if (algorithm !== ID.pbes2)
    throw new Error('uses a cipher of the past; write it anew with keytool of Java 17 or later, or as PEM');
  const { keyDerivationFunc, encryptionScheme } = parse(parameters, PBES2Params);
  const cipher = CIPHERS[encryptionScheme.algorithm];
  if (!cipher || keyDerivationFunc.algorithm !== ID.pbkdf2) throw new Error('uses an unknown cipher');
  const { salt, iterationCount, prf } = parse(keyDerivationFunc.parameters, PBKDF2Params);
  const iterations = Number(iterationCount); // a text, if it has more than four bytes
  const digest = DIGESTS[prf?.algorithm ?? ID.hmacWithSha1];
  if (!digest || !(iterations >= 1)) throw new Error('uses an unknown cipher');
  decryption.iterationsLeft -= iterations;
  if (decryption.iterationsLeft < 0) throw new Error('takes too many iterations to decrypt');
  if (!ciphertext) throw new Error('has no ciphertext in one piece');
  const saltBytes = Buffer.from(salt.buffer);
  const key = pbkdf2Sync(decryption.password, saltBytes, iterations, cipher.keyLength, digest);
  try {
    const decipher = createDecipheriv(cipher.name, key, Buffer.from(octets(encryptionScheme.parameters)));
    return Buffer.concat([decipher.update(Buffer.from(ciphertext)), decipher.final()]);
  } catch (cause) {
    throw new Error(WRONG_PASSWORD, { cause });
  }
}

/** Reads DER as one of the structures below. */
function parse<T>(der: ArrayBuffer | Buffer | null | undefined, structure: new () => T): T {
  try {
    const berOptions = { maxNodes: MOST_ELEMENTS };
    return structures().AsnParser.parse(der ?? Buffer.alloc(0), structure, { berOptions });
  } catch (cause) {
    throw new Error('is not a PKCS12 store, or is cut short', { cause });
  }
}

const octets = (der: ArrayBuffer | null | undefined): ArrayBuffer =>
  parse(der, structures().OctetString).buffer;
