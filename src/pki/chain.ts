// oxlint-disable-next-line import/no-unassigned-import -- @peculiar/x509 asks for it to be loaded first
import 'reflect-metadata';
import { X509Certificate } from 'node:crypto';
import * as x509 from '@peculiar/x509';
import type { CertificateFacts } from './certificate-facts.ts';

/**
 * Whether those who trust some certificates believe one that is presented, with what is presented beside it. By the strictest of the rules
 * that clients have, which are OpenSSL's: the way up ends at a certificate that signed itself. Java and Go would stop at any that they trust.
 */

/** More than any way up takes; what users bring may have as many ways as there are pairs. */
const MOST_STEPS = 10;

/** A certificate, and how many authorities are between it and the one at the end. */
interface Step {
  certificate: CertificateFacts;
  between: number;
}

/** Why it is not believed; undefined if it is. Of several ways up it is the first that is told of. */
export function chainProblem(
  [own, ...beside]: readonly CertificateFacts[],
  trusted: readonly CertificateFacts[],
  now: Date,
): string | undefined {
  if (!own) return undefined;
  const problems: string[] = [];
  const steps: Step[] = [{ certificate: own, between: 0 }];
  const known = new Map([...trusted, ...beside].map((one) => [one.thumbprint, one]));
  known.delete(own.thumbprint);
  for (const [at, { certificate, between }] of steps.entries()) {
    if (at === MOST_STEPS) break;
    const isRoot = certificate.isSelfSigned && trusted.some(({ thumbprint }) => thumbprint === certificate.thumbprint); // prettier-ignore
    const problem =
      timeProblem(certificate, now) ?? (at > 0 ? signingProblem(certificate, between) : undefined);
    if (isRoot && problem === undefined) return undefined;
    const issuers =
      problem === undefined ? [...known.values()].filter((one) => signed(one, certificate)) : [];
    if (issuers.length === 0) problems.push(problem ?? missingAbove(certificate));
    const passed = at > 0 && !certificate.isSelfSigned ? between + 1 : between;
    for (const issuer of issuers) {
      known.delete(issuer.thumbprint);
      steps.push({ certificate: issuer, between: passed });
    }
  }
  return problems[0] ?? `${own.subject} has more certificates above it than are looked at`;
}

const missingAbove = ({ subject, isSelfSigned, pem }: CertificateFacts): string =>
  isSelfSigned
    ? `${subject} is not trusted`
    : `${subject} is signed by ${new X509Certificate(pem).issuer.split('\n').toReversed().join(',')}, whose certificate is missing`;

/** That names and key identifiers fit, that the one may sign by its key usage, and that it did. */
function signed(issuer: CertificateFacts, certificate: CertificateFacts): boolean {
  const [above, below] = [new X509Certificate(issuer.pem), new X509Certificate(certificate.pem)];
  return below.checkIssued(above) && below.verify(above.publicKey);
}

function timeProblem({ subject, notBefore, notAfter }: CertificateFacts, now: Date): string | undefined {
  if (notAfter <= now) return `${subject} has ended at ${notAfter.toISOString()}`;
  return notBefore > now ? `${subject} begins at ${notBefore.toISOString()}` : undefined;
}

/** Whether a certificate may be above the one at the end, and so many authorities. */
function signingProblem(issuer: CertificateFacts, between: number): string | undefined {
  if (!issuer.isAuthority) return `${issuer.subject} is not the certificate of a CA`;
  const most = between > 0 ? pathLengthOf(issuer) : undefined;
  if (most === undefined || between <= most) return undefined;
  return `${issuer.subject} allows ${most} CAs below it (pathLenConstraint), and ${between} are there`;
}

const pathLengthOf = ({ pem }: CertificateFacts) =>
  new x509.X509Certificate(pem).getExtension(x509.BasicConstraintsExtension)?.pathLength;
