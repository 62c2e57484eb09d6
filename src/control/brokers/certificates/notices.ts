/** What people are told about certificates that were made. Pure. */
import type { MintRequest } from './authorities.ts';

/** Undefined for what every new cluster goes through. */
export function noticeOf({ authority, step }: MintRequest): { reason: string; note: string } | undefined {
  if (step.do === 'make key' && step.generation > 0)
    return { reason: 'CaKeyReplaced', note: `the key of the ${authority} is replaced: ${step.why}` };
  if (step.do === 'make certificate' && step.generation > 0)
    return { reason: 'CaRenewed', note: `the certificate of the ${authority} is renewed: ${step.why}` };
  if (step.do === 'remove')
    return { reason: 'CaRemoved', note: `a former ${authority} is no longer trusted` };
  const again = step.do === 'sign' ? step.leaves.filter(({ why }) => why !== 'missing') : [];
  if (again.length === 0) return undefined;
  const names = again.map(({ name, why }) => `${name} (${why})`).join(', ');
  return { reason: 'CertificatesIssued', note: `new certificates are signed: ${names}` };
}
