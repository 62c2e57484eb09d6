import { JKS_MAGIC, readJks } from './jks.ts';
import { pkcs12Certificates } from './pkcs12.ts';

/**
 * Trusted certificates out of the stores that Java tools write. Node's TLS reads a PKCS12 file only if it has a private
 * key, and JKS never, so both are read by us; only certificates, nothing that is worth protecting.
 */

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
      throw new Error('the store type is not one of PEM, PKCS12, JKS');
  }
}

/** A certificate in PEM. */
export const toPem = (der: Buffer) =>
  `-----BEGIN CERTIFICATE-----\n${der.toString('base64').replace(/.{64}/g, '$&\n')}\n-----END CERTIFICATE-----\n`;

function jksCertificates(store: Buffer): Buffer[] {
  const { keys, certificates } = readJks(store);
  if (keys.length > 0) throw new Error('has a private key in it; a trust store has certificates only');
  return certificates;
}
