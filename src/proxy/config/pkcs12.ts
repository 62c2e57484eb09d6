import { createDecipheriv, pbkdf2Sync } from 'node:crypto';
import { createRequire } from 'node:module';
import type * as Cms from '@peculiar/asn1-cms';
import type * as Pfx from '@peculiar/asn1-pfx';
import type * as Schema from '@peculiar/asn1-schema';
import type * as X509 from '@peculiar/asn1-x509';

/**
 * Certificates out of PKCS12 stores (RFC 7292) that are encrypted with PBES2 (RFC 8018), as keytool has done since Java 17
 * and OpenSSL since 3.0. The structure is read by packages, the decryption is Node's.
 */

const ID = {
  data: '1.2.840.113549.1.7.1',
  encryptedData: '1.2.840.113549.1.7.6',
  pbes2: '1.2.840.113549.1.5.13',
  pbkdf2: '1.2.840.113549.1.5.12',
  hmacWithSha1: '1.2.840.113549.2.7',
} as const;
const DIGESTS: Record<string, string> = {
  [ID.hmacWithSha1]: 'sha1',
  '1.2.840.113549.2.9': 'sha256',
  '1.2.840.113549.2.10': 'sha384',
  '1.2.840.113549.2.11': 'sha512',
};
const CIPHERS: Record<string, { name: string; keyLength: number }> = {
  '2.16.840.1.101.3.4.1.2': { name: 'aes-128-cbc', keyLength: 16 },
  '2.16.840.1.101.3.4.1.22': { name: 'aes-192-cbc', keyLength: 24 },
  '2.16.840.1.101.3.4.1.42': { name: 'aes-256-cbc', keyLength: 32 },
};

/** Of a whole store, however many parts it has. keytool takes 10,000; a million stops the process for half a second. */
const MOST_ITERATIONS = 5_000_000;
/** A certificate has about 150: the 150 authorities that come with Java are more than the default of 10,000 allows. */
const MOST_ELEMENTS = 200_000;
const WRONG_PASSWORD = 'cannot be decrypted: is the password right?';

interface Decryption {
  readonly password: string;
  iterationsLeft: number;
}

/** The certificates of a store, in DER. Private keys and whatever else is in it are passed over. */
export function pkcs12Certificates(store: Buffer, password: string): Buffer[] {
  const { PFX, AuthenticatedSafe, EncryptedData } = structures();
  const decryption = { password, iterationsLeft: MOST_ITERATIONS };
  const { authSafe } = parse(store, PFX);
  return [...parse(octets(authSafe.content), AuthenticatedSafe)].flatMap(({ contentType, content }) => {
    if (contentType === ID.data) return certificatesIn(octets(content));
    if (contentType !== ID.encryptedData) return [];
    const safeContents = decrypt(parse(content, EncryptedData).encryptedContentInfo, decryption);
    try {
      return certificatesIn(safeContents);
    } catch (cause) {
      // One wrong key in 256 decrypts to something with valid padding.
      throw new Error(WRONG_PASSWORD, { cause });
    }
  });
}

function certificatesIn(safeContents: ArrayBuffer | Buffer): Buffer[] {
  const { SafeContents, CertBag, id_certBag, id_x509Certificate } = structures();
  return [...parse(safeContents, SafeContents)].flatMap(({ bagId, bagValue }) => {
    if (bagId !== id_certBag) return [];
    const { certId, certValue } = parse(bagValue, CertBag);
    return certId === id_x509Certificate ? [Buffer.from(octets(certValue))] : [];
  });
}

function decrypt(info: Cms.EncryptedContentInfo, decryption: Decryption): Buffer {
  const { PBES2Params, PBKDF2Params } = structures();
  const { algorithm, parameters } = info.contentEncryptionAlgorithm;
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
  if (decryption.iterationsLeft < 0)
    throw new Error(`takes more than ${MOST_ITERATIONS} iterations to decrypt`);
  const ciphertext = info.encryptedContent?.value?.buffer;
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

let loaded: ReturnType<typeof loadStructures> | undefined;
const structures = () => (loaded ??= loadStructures());

/** Loads the packages when the first store is read: they take 15 MB, and most proxies have certificates as PEM. */
function loadStructures() {
  const require = createRequire(import.meta.url);
  const { AsnParser, AsnProp, AsnPropTypes, OctetString } = require('@peculiar/asn1-schema') as typeof Schema;
  const { AlgorithmIdentifier } = require('@peculiar/asn1-x509') as typeof X509;
  const cms = require('@peculiar/asn1-cms') as typeof Cms;
  const pfx = require('@peculiar/asn1-pfx') as typeof Pfx;

  /** RFC 5652, section 8. */
  class EncryptedData {
    version = 0;
    encryptedContentInfo = new cms.EncryptedContentInfo();
  }
  AsnProp({ type: AsnPropTypes.Integer })(EncryptedData.prototype, 'version');
  AsnProp({ type: cms.EncryptedContentInfo })(EncryptedData.prototype, 'encryptedContentInfo');

  /** RFC 8018, appendix A.4. */
  class PBES2Params {
    keyDerivationFunc = new AlgorithmIdentifier();
    encryptionScheme = new AlgorithmIdentifier();
  }
  AsnProp({ type: AlgorithmIdentifier })(PBES2Params.prototype, 'keyDerivationFunc');
  AsnProp({ type: AlgorithmIdentifier })(PBES2Params.prototype, 'encryptionScheme');

  /** RFC 8018, appendix A.2. */
  class PBKDF2Params {
    salt = new OctetString();
    iterationCount: number | string = 0;
    keyLength: number | undefined;
    prf: X509.AlgorithmIdentifier | undefined;
  }
  AsnProp({ type: OctetString })(PBKDF2Params.prototype, 'salt');
  AsnProp({ type: AsnPropTypes.Integer })(PBKDF2Params.prototype, 'iterationCount');
  AsnProp({ type: AsnPropTypes.Integer, optional: true })(PBKDF2Params.prototype, 'keyLength');
  AsnProp({ type: AlgorithmIdentifier, optional: true })(PBKDF2Params.prototype, 'prf');

  return { AsnParser, OctetString, EncryptedData, PBES2Params, PBKDF2Params, ...pfx };
}
