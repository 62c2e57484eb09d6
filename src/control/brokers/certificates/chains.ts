/** Whether clients believe what nodes present, before anybody is told that the cluster is ready. Pure. */
import type { CertificateFacts } from '../../../pki/certificate-facts.ts';
import { chainProblem } from '../../../pki/chain.ts';
import type { StoredLeaf } from '../../../pki/leaf.ts';
import { OPERATOR } from './seen.ts';

const MOST_NAMED = 3;

/**
 * What is wrong with the way from certificates up to a root that clients are told to trust: each a sentence for a condition. Those that were
 * signed by one key, and have the same beside them, have one way, so one of them is looked at; their own ends are another matter.
 */
export function chainProblems(
  leaves: ReadonlyMap<string, StoredLeaf>,
  trusted: readonly CertificateFacts[],
  now: Date,
): string[] {
  const ofNodes = [...leaves].filter(([name]) => name !== OPERATOR);
  const alike = Map.groupBy(ofNodes, ([, { chain, signedBy }]) =>
    [signedBy, ...chain.slice(1).map(({ thumbprint }) => thumbprint)].join(),
  );
  return [...alike.values()].flatMap((group) => {
    const current = group.find(([, { notAfter }]) => notAfter > now);
    const problem = current && chainProblem(current[1].chain, trusted, now);
    return problem === undefined ? [] : [`clients cannot verify ${listed(group)}: ${problem}`];
  });
}

function listed(group: readonly (readonly [name: string, leaf: StoredLeaf])[]): string {
  const more = group.length - MOST_NAMED;
  const names = group.slice(0, MOST_NAMED).map(([name]) => name);
  return `${names.join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}
