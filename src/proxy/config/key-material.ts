import { messageOf } from '../../ops/errors.ts';
import { readKeyStore } from '../../pki/key-store.ts';
import { readTrustStore } from '../../pki/trust-store.ts';
import type { ClientTls, KeyMaterial, ServerTls } from './model.ts';
import type {
  ClientTlsDocument,
  KeyDocument,
  PemDocument,
  SecretDocument,
  ServerTlsDocument,
  TrustDocument,
} from './schema.ts';
import { tlsRules } from '../../ops/tls-rules.ts';
import type { AllowDeny, TlsRules } from '../../ops/tls-rules.ts';

/** Reads a file that the configuration names; the caller remembers the names, to watch them. */
export type ReadFile = (path: string) => Buffer;

/** Where in the configuration we are, and the way to say that something there is wrong. */
export interface Place {
  readFile: ReadFile;
  /** What the configuration has under a name in `pem`. */
  pem(name: string): string | undefined;
  problem(key: string, message: string): void;
}

export function serverTls(document: ServerTlsDocument, place: Place): ServerTls {
  const keys = document.key.map((key) => keyOf(key, place));
  const trust = document.trust && trustOf(document.trust, place);
  if (document.trust && 'insecure' in document.trust)
    place.problem('tls.trust.insecure', 'is for targets only');
  const clientAuth =
    document.trust && 'trustOptions' in document.trust ? document.trust.trustOptions?.clientAuth : undefined;
  return {
    keys,
    trust,
    clientAuth: lower(clientAuth ?? (trust === undefined ? 'NONE' : 'REQUIRED')),
    rules: rulesOf(document, place),
  };
}

export function clientTls(document: ClientTlsDocument, place: Place): ClientTls {
  const { trust } = document;
  return {
    key: document.key && keyOf(document.key, place),
    trust: trust && trustOf(trust, place),
    insecure: trust !== undefined && 'insecure' in trust && trust.insecure,
    rules: rulesOf(document, place),
  };
}

const lower = (clientAuth: 'REQUIRED' | 'REQUESTED' | 'NONE') =>
  clientAuth.toLowerCase() as ServerTls['clientAuth'];

function rulesOf(
  document: { protocols?: AllowDeny | undefined; cipherSuites?: AllowDeny | undefined },
  place: Place,
): TlsRules {
  const rules = tlsRules(document.protocols, document.cipherSuites);
  if (!('problem' in rules)) return rules;
  place.problem(`tls.${rules.key}`, rules.problem);
  return { minVersion: undefined, maxVersion: undefined, ciphers: undefined };
}

function keyOf(document: KeyDocument, place: Place): KeyMaterial {
  const passphrase = secretOf(document.keyPassword, 'tls.key.keyPassword', place);
  if ('privateKey' in document)
    return {
      certificate: pemOf(document.certificate, 'tls.key.certificate', place),
      privateKey: pemOf(document.privateKey, 'tls.key.privateKey', place),
      passphrase,
    };
  if ('privateKeyFile' in document) {
    return {
      certificate: text(document.certificateFile, 'tls.key.certificateFile', place),
      privateKey: text(document.privateKeyFile, 'tls.key.privateKeyFile', place),
      passphrase,
    };
  }
  const type = (document.storeType ?? 'PKCS12').toUpperCase();
  if (type === 'PEM') {
    const pem = text(document.storeFile, 'tls.key.storeFile', place);
    return { certificate: pem, privateKey: pem, passphrase };
  }
  if (type !== 'PKCS12' && type !== 'JKS') place.problem('tls.key.storeType', 'must be PKCS12, JKS or PEM');
  const store = bytes(document.storeFile, 'tls.key.storeFile', place);
  const password = secretOf(document.storePassword, 'tls.key.storePassword', place);
  if (type === 'JKS') return jksKey(store, passphrase ?? password ?? '', place);
  return { pkcs12: store.toString('base64'), passphrase: password ?? passphrase };
}

function jksKey(store: Buffer, password: string, place: Place): KeyMaterial {
  try {
    return { ...readKeyStore(store, password), passphrase: undefined };
  } catch (error) {
    place.problem('tls.key.storeFile', messageOf(error));
    return { certificate: '', privateKey: '', passphrase: undefined };
  }
}

function trustOf(document: TrustDocument, place: Place): string | undefined {
  if ('insecure' in document) return undefined;
  if ('certificates' in document) return pemOf(document.certificates, 'tls.trust.certificates', place);
  const store = bytes(document.storeFile, 'tls.trust.storeFile', place);
  const password = secretOf(document.storePassword, 'tls.trust.storePassword', place);
  try {
    return store.length === 0 ? '' : readTrustStore(store, document.storeType, password ?? '');
  } catch (error) {
    place.problem('tls.trust.storeFile', messageOf(error));
    return '';
  }
}

function pemOf(document: PemDocument, key: string, place: Place): string {
  if (typeof document === 'string') return document;
  const found = place.pem(document.pem);
  // Not quoted: whoever takes one for the other writes the key itself here.
  if (found === undefined) place.problem(key, 'is not the name of anything in pem');
  return found ?? '';
}

function secretOf(document: SecretDocument | undefined, key: string, place: Place): string | undefined {
  if (!document) return undefined;
  return 'password' in document
    ? document.password
    : text(document.passwordFile, `${key}.passwordFile`, place).trimEnd();
}

function bytes(path: string, key: string, place: Place): Buffer {
  try {
    return place.readFile(path);
  } catch (error) {
    // Not the name of the file, which may be the password itself where somebody took one key for the other.
    const { code = 'failed' } = error as NodeJS.ErrnoException;
    place.problem(key, `cannot be read (${code})`);
    return Buffer.alloc(0);
  }
}

const text = (path: string, key: string, place: Place) => bytes(path, key, place).toString('utf8');
