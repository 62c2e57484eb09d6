import type { CertificateFacts, Fault } from './certificate-facts.ts';
import type { MaintenanceWindow } from './maintenance-window.ts';

/** What is known of an authority, of those who trust it and of what it signed: all that decisions about it depend on. */

/** A certificate of an authority. */
export type Authority = Pick<CertificateFacts, 'thumbprint' | 'keyId' | 'subject' | 'notBefore' | 'notAfter'>;

export interface Policy {
  validityMs: number;
  /** How long before their end certificates are renewed. */
  renewalMs: number;
  onExpiry: 'renew-certificate' | 'replace-key';
  /** Restarts that a renewal takes are begun only in these, unless certificates would end. None: at any time. */
  windows: readonly MaintenanceWindow[];
}

/** A certificate that the authority signs, as its Secret and the running pod have it. */
export interface SignedLeaf {
  name: string;
  /** In its Secret; unknown where that cannot be read now. */
  held: HeldLeaf | Fault | 'unknown' | undefined;
  /** What is in use, by the key that signed it; unknown where nobody can tell, undefined where nothing runs. */
  running: { signedBy: string } | 'unknown' | undefined;
  /** As `sortNames` has them. */
  wantedNames: readonly string[];
}

/** A certificate in a Secret; `signedBy` is the id of the authority's key. */
export type HeldLeaf = Pick<CertificateFacts, 'notBefore' | 'notAfter' | 'names'> & {
  signedBy: string | undefined;
};

/** Everything that the decision depends on. */
export interface ObservedAuthority {
  now: Date;
  policy: Policy;
  /** Brought by the user: never written. */
  isSupplied: boolean;
  /** The id of the key that signs. */
  key: string | Fault | undefined;
  /** Ids of keys before it that are still at hand. */
  formerKeys: readonly string[];
  certificate: Authority | Fault | undefined;
  /** What is above the certificate, where the user brought an authority that is not a root. */
  above: readonly Authority[];
  /** Certificates before it that are still kept. */
  former: readonly Authority[];
  certificateGeneration: number;
  keyGeneration: number;
  force: { renew: boolean; replace: boolean };
  /** What each trust bundle has that can be read now; empty for one that is to be made. */
  bundles: readonly (readonly Authority[])[];
  trusters: readonly Truster[];
  leaves: readonly SignedLeaf[];
}

/** A key that somebody trusts, by a certificate that ends. */
export interface Trust {
  keyId: string;
  until: Date;
}

/** Whoever verifies: a node, by what its pod has loaded; unknown where that cannot be read. */
export interface Truster {
  name: string;
  trusts: readonly Trust[] | 'unknown';
  /** Whether its listeners take what the bundle has now, though the rest of it does not. */
  listens?: boolean;
}

/** An authority that has what it takes to sign. */
export type ReadyAuthority = ObservedAuthority & { key: string; certificate: Authority };
