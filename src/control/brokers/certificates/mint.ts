/** Makes the keys and certificates that a plan asks for. */
import type { AnyObject } from '../../../kube/object.ts';
import { authorityWrites, newPassword, readAuthority } from '../../../pki/authority-secrets.ts';
import { issueLeaf } from '../../../pki/certificate.ts';
import type { Leaf, Signer } from '../../../pki/certificate.ts';
import { clientData, signerFrom } from '../../../pki/leaf.ts';
import { encoded } from '../../../pki/secrets.ts';
import type { SecretContent } from '../../../pki/secrets.ts';
import { NODE_PEM, ORGANISATION, operatorCertsName } from '../model/names.ts';
import type { MintRequest, Minted } from './authorities.ts';
import { NAMES, OPERATOR, viewOf } from './seen.ts';

/** `secretOf` finds a Secret with what it holds. Nothing is made where the Secrets have changed since the plan was. */
export async function mint(
  request: MintRequest,
  cluster: string,
  secretOf: (name: string) => AnyObject | undefined,
  now: Date,
): Promise<Minted> {
  const { id, authority, step, validityMs } = request;
  const names = NAMES[authority];
  const material = readAuthority(
    viewOf(secretOf(names.certificate(cluster))),
    viewOf(secretOf(names.key(cluster))),
  );
  const secrets: Record<string, SecretContent> = {};
  for (const { secret, content } of await authorityWrites(step, material, {
    name: authority,
    now,
    validityMs,
  }))
    secrets[names[secret](cluster)] = content;
  const signer = step.do === 'sign' ? signerFrom(material, step.authority) : undefined;
  if (signer) Object.assign(secrets, await leafSecrets(request, cluster, signer, now));
  return { id, secrets };
}

async function leafSecrets(
  { leaves, validityMs }: MintRequest,
  cluster: string,
  signer: Signer,
  now: Date,
): Promise<Record<string, SecretContent>> {
  const secrets: Record<string, SecretContent> = {};
  for (const [name, { commonName, names }] of Object.entries(leaves)) {
    const subject = { commonName, organization: ORGANISATION };
    const leaf = await issueLeaf(signer, { subject, names, now, validityMs });
    if (name === OPERATOR)
      secrets[operatorCertsName(cluster)] = contentOf(clientData(name, leaf, newPassword()));
    else secrets[name] = contentOf(nodeData(name, leaf));
  }
  return secrets;
}

const contentOf = (data: Record<string, string>): SecretContent => ({ data, annotations: {} });

/** The Secret of a node: for people, and as the one file that Kafka's PEM key store reads, key first. */
const nodeData = (name: string, { chain, key }: Leaf): Record<string, string> =>
  encoded({ [`${name}.crt`]: chain, [`${name}.key`]: key, [NODE_PEM]: key + chain });
