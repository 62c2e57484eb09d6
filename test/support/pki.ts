/** Throw-away certificate authorities for the servers and clients of the tests. P-256 keys: they cost nothing to make. */
// oxlint-disable-next-line import/no-unassigned-import -- @peculiar/x509 asks for it to be loaded first
import 'reflect-metadata';
import { generateKeyPairSync, randomBytes, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

x509.cryptoProvider.set(webcrypto);

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
const DAY_MS = 24 * 60 * 60 * 1000;

export interface KeyPairPem {
  certPem: string;
  keyPem: string;
}

export interface CertificateRequest {
  commonName: string;
  /** Kubernetes reads groups from these. */
  organizations?: readonly string[];
  dns?: readonly string[];
  ips?: readonly string[];
  /** Days from now; negative for a certificate that has expired. */
  days?: number;
}

export interface Authority extends KeyPairPem {
  /** Issues a certificate good for both ends of a connection. */
  issue(request: CertificateRequest): Promise<KeyPairPem>;
  /** Issues the certificate of an authority below it. */
  issueAuthority(commonName: string, constraints?: Constraints): Promise<Authority>;
}

/** What an authority may not: last longer, have more than so many others below it, or be one. */
export interface Constraints {
  isAuthority?: boolean;
  days?: number;
  pathLength?: number;
}

async function newKeys(): Promise<{ keys: webcrypto.CryptoKeyPair; keyPem: string }> {
  const keys = await crypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const pkcs8 = await crypto.subtle.exportKey('pkcs8', keys.privateKey);
  return { keys, keyPem: x509.PemConverter.encode(pkcs8, 'PRIVATE KEY') + '\n' };
}

function subject({ commonName, organizations = [] }: CertificateRequest): x509.JsonName {
  return [...organizations.map((name) => ({ O: [name] })), { CN: [commonName] }];
}

function validity(days: number): { notBefore: Date; notAfter: Date } {
  const notAfter = new Date(Date.now() + days * DAY_MS);
  return { notBefore: new Date(Math.min(Date.now(), notAfter.getTime()) - DAY_MS), notAfter };
}

/** A positive serial number: DER reads a leading 1 bit as a minus sign. */
function serialNumber(): string {
  return `4${randomBytes(8).toString('hex').slice(1)}`;
}

async function issue(
  issuer: { name: string; key: CryptoKey; publicKey: CryptoKey },
  request: CertificateRequest,
): Promise<KeyPairPem> {
  const { keys, keyPem } = await newKeys();
  const names: x509.JsonGeneralNames = [
    ...(request.dns ?? []).map((value) => ({ type: 'dns' as const, value })),
    ...(request.ips ?? []).map((value) => ({ type: 'ip' as const, value })),
  ];
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: serialNumber(),
    issuer: issuer.name,
    subject: subject(request),
    ...validity(request.days ?? 365),
    signingKey: issuer.key,
    publicKey: keys.publicKey,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([
        x509.ExtendedKeyUsage.serverAuth,
        x509.ExtendedKeyUsage.clientAuth,
      ]),
      await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey),
      ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
    ],
  });
  return { certPem: certificate.toString('pem') + '\n', keyPem };
}

/** Makes a self-signed authority. */
export async function createAuthority(commonName: string, constraints: Constraints = {}): Promise<Authority> {
  const { keys, keyPem } = await newKeys();
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    name: [{ CN: [commonName] }],
    keys,
    ...(await authorityFields(keys.publicKey, constraints)),
  });
  return authorityWith(certificate, keys, keyPem);
}

const authorityFields = async (
  publicKey: CryptoKey,
  { isAuthority = true, days = 3650, pathLength }: Constraints,
) => ({
  serialNumber: serialNumber(),
  ...validity(days),
  signingAlgorithm: ALGORITHM,
  extensions: [
    new x509.BasicConstraintsExtension(isAuthority, pathLength, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.keyCertSign | x509.KeyUsageFlags.cRLSign, true),
    await x509.SubjectKeyIdentifierExtension.create(publicKey),
  ],
});

function authorityWith(
  certificate: x509.X509Certificate,
  own: webcrypto.CryptoKeyPair,
  keyPem: string,
): Authority {
  const issuer = { name: certificate.subject, key: own.privateKey, publicKey: own.publicKey };
  return {
    certPem: certificate.toString('pem') + '\n',
    keyPem,
    issue: (request) => issue(issuer, request),
    async issueAuthority(commonName, constraints = {}) {
      const below = await newKeys();
      const { extensions, ...fields } = await authorityFields(below.keys.publicKey, constraints);
      const signed = await x509.X509CertificateGenerator.create({
        ...fields,
        issuer: certificate.subject,
        subject: [{ CN: [commonName] }],
        signingKey: own.privateKey,
        publicKey: below.keys.publicKey,
        extensions: [...extensions, await x509.AuthorityKeyIdentifierExtension.create(own.publicKey)],
      });
      return authorityWith(signed, below.keys, below.keyPem);
    },
  };
}

/** A bare key pair, as kube-apiserver signs service account tokens with. */
export function signingKeys(): { publicPem: string; privatePem: string } {
  const { publicKey, privateKey } = generateKeyPairSync('ec', {
    namedCurve: 'P-256',
    publicKeyEncoding: { type: 'spki', format: 'pem' },
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
  });
  return { publicPem: publicKey, privatePem: privateKey };
}
