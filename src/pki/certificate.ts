// oxlint-disable-next-line import/no-unassigned-import -- @peculiar/x509 asks for it to be loaded first
import 'reflect-metadata';
import { createPrivateKey } from 'node:crypto';
import { isIP } from 'node:net';
import * as x509 from '@peculiar/x509';
import {
  algorithmOf,
  distinguishedName,
  newPrivateKey,
  newSerialNumber,
  signingKey,
  validityOf,
  verifyingKey,
} from './authority.ts';
import type { Subject, Validity } from './authority.ts';
import type { CertificateFacts, PrivateKey } from './certificate-facts.ts';

/** What signs: an authority's certificate, its key, and what leads from it to a root that is trusted. */
export interface Signer {
  certificate: CertificateFacts;
  key: PrivateKey;
  /** Certificates above it, where it is not a root itself. */
  above?: readonly CertificateFacts[];
}

/** What a certificate is asked for. */
export interface LeafRequest extends Validity {
  subject: Subject;
  /** As `sortNames` has them: DNS names and addresses. */
  names: readonly string[];
}

/** A key, and its certificate followed by the chain, without the root; in PEM. */
export interface Leaf {
  key: string;
  chain: string;
}

/**
 * Signs a certificate for a key made here, good for both ends of a connection. It does not outlive its authority, because
 * some clients would go on believing it and others not.
 */
export async function issueLeaf(signer: Signer, request: LeafRequest): Promise<Leaf> {
  const pem = newPrivateKey();
  const key = createPrivateKey(pem);
  const issuer = new x509.X509Certificate(signer.certificate.pem);
  const { notBefore, notAfter } = validityOf(request);
  const certificate = await x509.X509CertificateGenerator.create({
    serialNumber: newSerialNumber(),
    issuer: issuer.subjectName,
    subject: distinguishedName(request.subject),
    notBefore,
    notAfter: new Date(Math.min(notAfter.getTime(), signer.certificate.notAfter.getTime())),
    signingKey: signingKey(signer.key.key),
    publicKey: verifyingKey(key),
    signingAlgorithm: algorithmOf(signer.key.key),
    extensions: await extensionsOf(request, issuer),
  });
  const chain = [signer.certificate, ...(signer.above ?? [])].filter(({ isSelfSigned }) => !isSelfSigned);
  return { key: pem, chain: `${certificate.toString('pem')}\n${chain.map(({ pem }) => pem).join('')}` };
}

async function extensionsOf(request: LeafRequest, issuer: x509.X509Certificate): Promise<x509.Extension[]> {
  const names = request.names.map((value) => ({ type: isIP(value) ? 'ip' : 'dns', value }) as const);
  const ownKeyId = issuer.getExtension(x509.SubjectKeyIdentifierExtension)?.keyId;
  return [
    new x509.BasicConstraintsExtension(false, undefined, true),
    new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
    new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth, x509.ExtendedKeyUsage.clientAuth]),
    // The identifier that the authority gives itself, however it was computed: verifiers compare the two.
    ownKeyId === undefined
      ? await x509.AuthorityKeyIdentifierExtension.create(issuer.publicKey)
      : new x509.AuthorityKeyIdentifierExtension(ownKeyId),
    ...(names.length > 0 ? [new x509.SubjectAlternativeNameExtension(names)] : []),
  ];
}
