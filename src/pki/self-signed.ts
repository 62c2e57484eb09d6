// oxlint-disable-next-line import/no-unassigned-import -- @peculiar/x509 asks for it to be loaded first
import 'reflect-metadata';
import { createPrivateKey } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import {
  algorithmOf,
  newPrivateKey,
  newSerialNumber,
  signingKey,
  validityOf,
  verifyingKey,
} from './authority.ts';
import type { Validity } from './authority.ts';

/** A server's certificate that is trusted by having it, and its key, in PEM: for two ends that share a Secret. */
export async function selfSigned(
  host: string,
  validity: Validity,
): Promise<{ certificate: string; privateKey: string }> {
  const privateKey = newPrivateKey();
  const key = createPrivateKey(privateKey);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    serialNumber: newSerialNumber(),
    // Not the host, which may be longer than a common name.
    name: [{ O: ['isthmus'] }],
    ...validityOf(validity),
    keys: { privateKey: signingKey(key), publicKey: verifyingKey(key) },
    signingAlgorithm: algorithmOf(key),
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: host }]),
    ],
  });
  return { certificate: `${certificate.toString('pem')}\n`, privateKey };
}
