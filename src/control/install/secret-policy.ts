/**
 * RBAC cannot say "only Secrets of one's own": an operator that may write its proxies' configurations in every namespace may
 * write everybody's Secrets. This policy says it. Where the operator watches some namespaces only, their Roles say enough.
 */
import { FIELD_MANAGER } from '../kernel/field-manager.ts';
import { PROXY_LABEL } from '../proxy/names.ts';
import { boundPolicy } from './objects.ts';
import type { Manifest } from './objects.ts';

const isLabelled = (object: string) =>
  `(has(${object}.metadata.labels) && '${PROXY_LABEL}' in ${object}.metadata.labels)`;
/** So that one of ours that has lost its label gets it back. */
const wasApplied = (object: string) =>
  `(has(${object}.metadata.managedFields) && ` +
  `${object}.metadata.managedFields.exists(entry, entry.manager == '${FIELD_MANAGER}'))`;
// A Secret of another type may be filled by Kubernetes itself, with the token of any account.
const MAY_BE = `object == null || (${isLabelled('object')} && object.type == 'Opaque')`;
const MAY_HAVE_BEEN = `oldObject == null || ${isLabelled('oldObject')} || ${wasApplied('oldObject')}`;

/** Keeps the account from writing Secrets that it has not made. */
export function secretPolicy(
  metadata: Manifest['metadata'],
  account: { name: string; namespace: string },
): Manifest[] {
  const user = `system:serviceaccount:${account.namespace}:${account.name}`;
  const written = { apiGroups: [''], apiVersions: ['*'], resources: ['secrets'] };
  return boundPolicy(metadata, {
    matchConstraints: {
      resourceRules: [{ ...written, operations: ['CREATE', 'UPDATE', 'DELETE'] }],
    },
    matchConditions: [{ name: 'operator', expression: `request.userInfo.username == '${user}'` }],
    validations: [
      {
        expression: `(${MAY_BE}) && (${MAY_HAVE_BEEN})`,
        message: `the operator may write no Secrets but those it makes for its proxies (label ${PROXY_LABEL})`,
      },
    ],
  });
}
