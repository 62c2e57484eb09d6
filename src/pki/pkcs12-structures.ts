import { createRequire } from 'node:module';
import type * as Cms from '@peculiar/asn1-cms';
import type * as Pfx from '@peculiar/asn1-pfx';
import type * as Schema from '@peculiar/asn1-schema';
import type * as X509 from '@peculiar/asn1-x509';

/** Object identifiers, by what RFC 7292, RFC 8018 and NIST call them. */
export const ID = {
  data: '1.2.840.113549.1.7.1',
  encryptedData: '1.2.840.113549.1.7.6',
  pbes2: '1.2.840.113549.1.5.13',
  pbkdf2: '1.2.840.113549.1.5.12',
  hmacWithSha1: '1.2.840.113549.2.7',
  hmacWithSha256: '1.2.840.113549.2.9',
  aes256Cbc: '2.16.840.1.101.3.4.1.42',
  sha256: '2.16.840.1.101.3.4.2.1',
  friendlyName: '1.2.840.113549.1.9.20',
  localKeyId: '1.2.840.113549.1.9.21',
  /** Oracle's: Java takes only those certificates for trusted that have it. */
  trustedKeyUsage: '2.16.840.1.113894.746875.1.1',
  anyExtendedKeyUsage: '2.5.29.37.0',
} as const;

let loaded: ReturnType<typeof loadStructures> | undefined;
/** The structures of a store, as classes that are read and written by their ASN.1. */
export const structures = () => (loaded ??= loadStructures());

/** Loads the packages when the first store is read or written: they take 15 MB, and most proxies have certificates as PEM. */
function loadStructures() {
  const require = createRequire(import.meta.url);
  const schema = require('@peculiar/asn1-schema') as typeof Schema;
  const { AsnParser, AsnSerializer, AsnProp, AsnPropTypes, AsnType, AsnTypeTypes, OctetString } = schema;
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

  /** RFC 5208, section 6. */
  class EncryptedPrivateKeyInfo {
    encryptionAlgorithm = new AlgorithmIdentifier();
    encryptedData = new OctetString();
  }
  AsnProp({ type: AlgorithmIdentifier })(EncryptedPrivateKeyInfo.prototype, 'encryptionAlgorithm');
  AsnProp({ type: OctetString })(EncryptedPrivateKeyInfo.prototype, 'encryptedData');

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

  /** A text or an object identifier by itself, as the value of an attribute. */
  class AttributeValue {
    text: string | undefined;
    identifier: string | undefined;
  }
  AsnProp({ type: AsnPropTypes.BmpString })(AttributeValue.prototype, 'text');
  AsnProp({ type: AsnPropTypes.ObjectIdentifier })(AttributeValue.prototype, 'identifier');
  AsnType({ type: AsnTypeTypes.Choice })(AttributeValue);

  return {
    ...pfx,
    ContentInfo: cms.ContentInfo,
    AlgorithmIdentifier,
    AttributeValue,
    AsnParser,
    AsnSerializer,
    OctetString,
    EncryptedData,
    EncryptedPrivateKeyInfo,
    PBES2Params,
    PBKDF2Params,
  };
}
