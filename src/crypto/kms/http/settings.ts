/** What the configurations of all key services have in common: addresses, secrets, and whom to trust. */
import { open } from 'node:fs/promises';
import { z } from 'zod';
import type { Outbound } from '../../../ops/outbound.ts';

/** A value in the configuration, or the name of a file that has it. */
export const secret = z.union(
  [z.strictObject({ password: z.string().min(1) }), z.strictObject({ passwordFile: z.string().min(1) })],
  'must be a password or a passwordFile',
);
export type Secret = z.output<typeof secret>;

/** An address that has neither credentials, which would be logged, nor a query. */
export const serviceUrl = z
  .string()
  .max(2048)
  .refine((text) => {
    const url = URL.parse(text);
    if (!url || !['https:', 'http:'].includes(url.protocol)) return false;
    return url.username === '' && url.password === '' && url.search === '' && url.hash === '';
  }, 'must be an address such as https://kms.example.com, without credentials and query')
  .transform((text) => new URL(text));

const isPem = (text: string) => /^-----BEGIN CERTIFICATE-----$/m.test(text);

/** Whom to trust besides nobody: the platform's authorities if left out. */
export const tls = z.strictObject({
  trust: z.union(
    [
      z.strictObject({ certificates: z.string().refine(isPem, 'must be certificates in PEM form') }),
      z.strictObject({ storeFile: z.string().min(1), storeType: z.literal('PEM') }),
    ],
    'must be certificates, or a storeFile with the storeType PEM',
  ),
});
export type Tls = z.output<typeof tls>;

/** Longer than any token or bundle of authorities. */
const MAX_FILE_BYTES = 1024 * 1024;

/** The text of a file, at most so much of it; anything but a file might never end. */
export async function readBounded(path: string): Promise<string> {
  await using file = await open(path, 'r');
  const found = await file.stat();
  if (!found.isFile() || found.size > MAX_FILE_BYTES)
    throw new Error(`${path} is not a file of at most 1 MiB`);
  const { buffer, bytesRead } = await file.read(Buffer.alloc(MAX_FILE_BYTES), 0, MAX_FILE_BYTES, 0);
  return buffer.toString('utf8', 0, bytesRead).trim();
}

/** The value of a secret, read anew if it is in a file: such files are replaced while we run. */
export async function readSecret(value: Secret): Promise<string> {
  return 'password' in value ? value.password : readBounded(value.passwordFile);
}

/** The authorities that a configuration names. */
export async function readTrust(value: Tls | undefined): Promise<string | undefined> {
  if (!value) return undefined;
  const { trust } = value;
  return 'certificates' in trust ? trust.certificates : readBounded(trust.storeFile);
}

/** The files that are named by these settings. */
export function filesIn(...values: (Secret | Tls | undefined)[]): string[] {
  return values.flatMap((value) => {
    if (value === undefined || 'password' in value) return [];
    if ('passwordFile' in value) return [value.passwordFile];
    return 'storeFile' in value.trust ? [value.trust.storeFile] : [];
  });
}

/** Throws unless what identifies this process may be sent to all of these. */
export function requireIdentity(outbound: Outbound, what: string, urls: readonly URL[]): void {
  const refused = urls.find((url) => !outbound.mayIdentifyTo(url));
  if (refused)
    throw new Error(
      `${what} would be used towards ${refused.origin}, which targetPolicy.identityHosts does not name (and only https: counts)`,
    );
}
