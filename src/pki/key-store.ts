import { createPrivateKey, X509Certificate } from 'node:crypto';
import type { KeyObject } from 'node:crypto';
import { JKS_MAGIC, openJksKey, readJks } from './jks.ts';
import { pkcs12Contents, protectedKeyOf } from './pkcs12.ts';
import { toPem } from './trust-store.ts';

/** A certificate with its chain, and the key that belongs to it, in PEM. */
export interface StoredKeyPair {
  certificate: string;
  privateKey: string;
}

interface Contents {
  /** PKCS8, in DER. */
  keys: Buffer[];
  certificates: Buffer[];
}

/** The one private key of a PKCS12 or JKS store with its certificate and chain. Throws if there is not exactly one. */
export function readKeyStore(store: Buffer, password: string): StoredKeyPair {
  const isJks = store.length > 4 && store.readUInt32BE(0) === JKS_MAGIC;
  const { keys, certificates } = isJks ? jksContents(store, password) : pkcs12Contents(store, password);
  const [der, second] = keys;
  if (!der) throw new Error('has no private key in it');
  if (second) throw new Error('has more than one private key in it; keep one');
  const key = privateKey(der);
  const chain = chainOf(key, certificates);
  if (chain.length === 0) throw new Error('has no certificate for its private key');
  return {
    certificate: chain.map(toPem).join(''),
    privateKey: key.export({ format: 'pem', type: 'pkcs8' }),
  };
}

function jksContents(store: Buffer, password: string): Contents {
  const { keys, certificates } = readJks(store);
  return {
    keys: keys.map(({ encrypted }) => openJksKey(protectedKeyOf(encrypted), password)),
    certificates: [...keys.flatMap(({ chain }) => chain), ...certificates],
  };
}

function privateKey(der: Buffer): KeyObject {
  try {
    return createPrivateKey({ key: der, format: 'der', type: 'pkcs8' });
  } catch (cause) {
    throw new Error('has a private key of an unknown kind', { cause });
  }
}

/** The key's certificate, then the one that issued it, and so on, as TLS sends them. */
function chainOf(key: KeyObject, certificates: readonly Buffer[]): Buffer[] {
  const left = certificates.map((der) => ({ der, certificate: readCertificate(der) }));
  const chain: Buffer[] = [];
  let next = left.find(({ certificate }) => certificate.checkPrivateKey(key));
  while (next) {
    const { der, certificate } = next;
    chain.push(der);
    left.splice(left.indexOf(next), 1);
    next = left.find((one) => certificate.checkIssued(one.certificate));
  }
  return chain;
}

function readCertificate(der: Buffer): X509Certificate {
  try {
    return new X509Certificate(der);
  } catch (cause) {
    throw new Error('has a certificate that cannot be read', { cause });
  }
}
