/** Who connects to a listener that takes certificates of clients, only to look at it. */
import type { AnyObject } from '../../../kube/object.ts';
import { readAuthority } from '../../../pki/authority-secrets.ts';
import { issueLeaf } from '../../../pki/certificate.ts';
import { isFault } from '../../../pki/certificate-facts.ts';
import { signerFrom } from '../../../pki/leaf.ts';
import { NAMES, viewOf } from '../certificates/seen.ts';
import type { Identity } from './connect.ts';

export type ProbeIdentity = Pick<Identity, 'cert' | 'key'>;

/** How long such a certificate is valid. */
export const PROBE_IDENTITY_MS = 600_000;

/** A certificate of the newest clients' authority, without rights to anything; undefined where there is nothing to sign it with. */
export async function probeIdentity(
  cluster: string,
  secretOf: (name: string) => AnyObject | undefined,
  now: number,
): Promise<ProbeIdentity | undefined> {
  const { key, certificate } = NAMES['clients-ca'];
  const material = readAuthority(viewOf(secretOf(certificate(cluster))), viewOf(secretOf(key(cluster))));
  if (!material.certificate || isFault(material.certificate)) return undefined;
  const signer = signerFrom(material, material.certificate);
  if (!signer) return undefined;
  const request = { subject: { commonName: 'isthmus-probe' }, names: [], validityMs: PROBE_IDENTITY_MS };
  const leaf = await issueLeaf(signer, { ...request, now: new Date(now) });
  return { cert: leaf.chain, key: leaf.key };
}
