import { createHash, X509Certificate } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import type { SecureContext, SecureContextOptions } from 'node:tls';
import type { TlsRules } from '../../ops/tls-rules.ts';
import type { KeyMaterial, ServerTls } from './model.ts';

/** The options of a TLS context; what is not given stays Node's default. */
export function contextOptions(
  key: KeyMaterial | undefined,
  trust: string | undefined,
  rules: TlsRules,
): SecureContextOptions {
  return {
    ...(key && keyOptions(key)),
    // In a list, because Node takes an empty text for none given, and then trusts the whole world's authorities.
    ...(trust === undefined ? {} : { ca: [trust] }),
    ...(rules.minVersion && { minVersion: rules.minVersion }),
    ...(rules.maxVersion && { maxVersion: rules.maxVersion }),
    ...(rules.ciphers && { ciphers: rules.ciphers, honorCipherOrder: true }),
  };
}

function keyOptions(key: KeyMaterial): SecureContextOptions {
  const passphrase = key.passphrase === undefined ? {} : { passphrase: key.passphrase };
  if ('pkcs12' in key) return { pfx: Buffer.from(key.pkcs12, 'base64'), ...passphrase };
  return { cert: key.certificate, key: key.privateKey, ...passphrase };
}

/**
 * Sessions are resumed only where this is the same. A resumed session is not verified again, so it holds everything that
 * a client's certificate was verified by: else clients of one gateway could resume theirs at another, and go on after
 * their authority has lost our trust.
 */
export function sessionContext({ trust, clientAuth }: ServerTls): string {
  const longest = 32; // OpenSSL takes no more
  return createHash('sha256')
    .update(`${clientAuth}\n${trust ?? ''}`)
    .digest('hex')
    .slice(0, longest);
}

export interface Certificate {
  context: SecureContext;
  certificate: X509Certificate;
}

/** The contexts of a gateway's certificates. Throws if one cannot be used. */
export function serverCertificates(tls: ServerTls, ticketKeys: Buffer): Certificate[] {
  const { keys, trust, rules } = tls;
  return keys.map((key) => {
    const options = {
      ...contextOptions(key, trust, rules),
      ticketKeys,
      sessionIdContext: sessionContext(tls),
    };
    const context = createSecureContext(options);
    // Not in the documentation of Node, but the only way to see the certificate inside a PKCS12 file.
    const inner = context.context as { getCertificate(): Buffer };
    return { context, certificate: new X509Certificate(inner.getCertificate()) };
  });
}

/** As Node does it for a server; a context alone has no documented way. */
export function setTicketKeys({ context }: SecureContext, keys: Buffer): void {
  (context as { setTicketKeys(keys: Buffer): void }).setTicketKeys(keys);
}

/** The certificate for the name that a client asked for; the first where none has it, or none was asked for. */
export function chooseCertificate(
  certificates: readonly Certificate[],
  serverName: string,
): Certificate | undefined {
  const name = serverName.replace(/\.$/, '');
  return certificates.find(({ certificate }) => certificate.checkHost(name) !== undefined) ?? certificates[0];
}
