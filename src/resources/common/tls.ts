/** TLS without key material: which protocols and cipher suites may be used. */
import { z } from 'zod';
import { text, withRules } from '../schema.ts';

const SPOKEN = ['TLSv1.3', 'TLSv1.2'] as const;
/** May be forbidden by name although it is never spoken. */
const KNOWN = [...SPOKEN, 'TLSv1.1', 'TLSv1'] as const;

const set = <E extends z.ZodType>(element: E, max: number) =>
  z.array(element).min(1).max(max).meta({ 'x-kubernetes-list-type': 'atomic' });

const protocols = withRules(
  z.object({
    allowed: set(z.enum(SPOKEN), 2).describe('Only these; both if left out.').exactOptional(),
    denied: set(z.enum(KNOWN), 4).describe('Not these, even if allowed.').exactOptional(),
  }),
  {
    cel: `['TLSv1.3', 'TLSv1.2'].exists(p, (!has(self.allowed) || p in self.allowed) && (!has(self.denied) || !(p in self.denied)))`,
    holds: ({ allowed = SPOKEN, denied = [] }) => allowed.some((protocol) => !denied.includes(protocol)),
    message: 'leave at least one of TLSv1.3 and TLSv1.2 allowed and not denied',
  },
);

const cipherSuite = text(64, {
  matching: /^TLS_[A-Z0-9_]+$/,
  otherwise: 'write the IANA name of a cipher suite, e.g. TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384',
});

const cipherSuites = z.object({
  allowed: set(cipherSuite, 64).describe('Only these; all that are safe if left out.').exactOptional(),
  denied: set(cipherSuite, 64).describe('Not these, even if allowed.').exactOptional(),
});

/** Members of `tls` that say how to speak it. */
export const tlsParameters = z.object({
  protocols: protocols.describe('Which versions of TLS may be spoken.').exactOptional(),
  cipherSuites: cipherSuites.describe('Which cipher suites may be used.').exactOptional(),
});

export type TlsParameters = z.output<typeof tlsParameters>;

/** How traffic arrives or leaves: in the clear, or encrypted. */
export const protocol = z.enum(['TCP', 'TLS']);
