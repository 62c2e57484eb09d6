/** What is known of users' certificates without reading their Secrets: enough to tell how long a former clients CA is needed. Pure. */
import type { SignedLeaf } from '../../../pki/authority-state.ts';
import type { KubeObject } from '../../../kube/object.ts';

/** On the Secrets of users: the key that signed the certificate, and since when that is another one than before. */
export const SIGNED_BY = 'isthmus.dev/signed-by';
export const SIGNED_SINCE = 'isthmus.dev/signed-by-since';

/**
 * Users that may still present a certificate of a former key: it is in their Secret, or was less than the grace ago, in which clients have to
 * take up what is new. They are signed elsewhere, so nothing more is said of them here than that they are not done with.
 */
export function formerUsers(
  secrets: readonly KubeObject[],
  key: string,
  graceMs: number,
  now: Date,
): SignedLeaf[] {
  return secrets.flatMap(({ metadata: { name, annotations = {} } }): SignedLeaf[] => {
    const { [SIGNED_BY]: signedBy, [SIGNED_SINCE]: since } = annotations;
    if (signedBy === undefined) return []; // a user with a password
    const isOver = signedBy === key && !(now.getTime() - Date.parse(since ?? '') < graceMs);
    return isOver ? [] : [{ name, held: 'unknown', running: undefined, wantedNames: [] }];
  });
}
