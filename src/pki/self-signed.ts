// oxlint-disable-next-line import/no-unassigned-import -- @peculiar/x509 asks for it to be loaded first
import 'reflect-metadata';
import { randomBytes, webcrypto } from 'node:crypto';
import * as x509 from '@peculiar/x509';

x509.cryptoProvider.set(webcrypto);

const ALGORITHM = { name: 'ECDSA', namedCurve: 'P-256', hash: 'SHA-256' } as const;
/** Clocks differ: what was made just now is valid for a machine that is a little behind. */
const CLOCK_SKEW_MS = 5 * 60 * 1000;

/** A server's certificate that is trusted by having it, and its key, in PEM: for two ends that share a Secret. */
export async function selfSigned(
  host: string,
  { now, validityMs }: { now: number; validityMs: number },
): Promise<{ certificate: string; privateKey: string }> {
  const keys = await webcrypto.subtle.generateKey(ALGORITHM, true, ['sign', 'verify']);
  const certificate = await x509.X509CertificateGenerator.createSelfSigned({
    // A positive number: DER reads a leading 1 bit as a minus sign.
    serialNumber: `4${randomBytes(16).toString('hex').slice(1)}`,
    // Its names may be longer than a common name.
    name: [{ O: ['isthmus'] }],
    notBefore: new Date(now - CLOCK_SKEW_MS),
    notAfter: new Date(now + validityMs),
    keys,
    signingAlgorithm: ALGORITHM,
    extensions: [
      new x509.BasicConstraintsExtension(false, undefined, true),
      new x509.KeyUsagesExtension(x509.KeyUsageFlags.digitalSignature, true),
      new x509.ExtendedKeyUsageExtension([x509.ExtendedKeyUsage.serverAuth]),
      new x509.SubjectAlternativeNameExtension([{ type: 'dns', value: host }]),
    ],
  });
  const pkcs8 = await webcrypto.subtle.exportKey('pkcs8', keys.privateKey);
  return {
    certificate: `${certificate.toString('pem')}\n`,
    privateKey: `${x509.PemConverter.encode(pkcs8, 'PRIVATE KEY')}\n`,
  };
}
