/**
 * RBAC cannot say "only Secrets of one's own": an operator that may write its proxies' configurations in every namespace may
 * write everybody's Secrets. This policy says it. Where the operator watches some namespaces only, their Roles say enough.
 */
import { FIELD_MANAGER } from '../kernel/field-manager.ts';
import { PART_LABEL } from '../brokers/model/names.ts';
import { PROXY_LABEL } from '../proxy/names.ts';
import type { OperatorRoad } from '../roads.ts';
import { CLUSTER_LABEL as JOINED_LABEL } from '../targets/names.ts';
import { boundPolicy } from './objects.ts';
import type { Manifest } from './objects.ts';
import { worksElsewhere } from './rbac.ts';

/** What is on the Secrets of each road that makes any. */
const LABEL_OF: Partial<Record<OperatorRoad, string>> = { proxy: PROXY_LABEL, kafka: PART_LABEL };

const isLabelled = (object: string, labels: readonly string[]) =>
  `(has(${object}.metadata.labels) && (${labels.map((label) => `'${label}' in ${object}.metadata.labels`).join(' || ')}))`;
/** The kubeconfig of a joined cluster, whose token is renewed. */
const isJoined = (object: string, namespace: string) =>
  `(${isLabelled(object, [JOINED_LABEL])} && ${object}.metadata.namespace == '${namespace}')`;
/** So that one of ours that has lost its label gets it back. */
const wasApplied = (object: string) =>
  `(has(${object}.metadata.managedFields) && ` +
  `${object}.metadata.managedFields.exists(entry, entry.manager == '${FIELD_MANAGER}'))`;
/** Keeps the account from writing Secrets that it has not made; nothing where its roads make none. */
export function secretPolicy(
  metadata: Manifest['metadata'],
  account: { name: string; namespace: string },
  roads: readonly OperatorRoad[],
): Manifest[] {
  const labels = roads.flatMap((road) => LABEL_OF[road] ?? []);
  if (labels.length === 0) return [];
  // A Secret of another type may be filled by Kubernetes itself, with the token of any account.
  const joined = (object: string) =>
    worksElsewhere(roads) ? ` || ${isJoined(object, account.namespace)}` : '';
  const isOurs = (object: string) => `(${isLabelled(object, labels)}${joined(object)})`;
  const mayBe = `object == null || (${isOurs('object')} && object.type == 'Opaque')`;
  const mayHaveBeen = `oldObject == null || ${isOurs('oldObject')} || ${wasApplied('oldObject')}`;
  const user = `system:serviceaccount:${account.namespace}:${account.name}`;
  const written = { apiGroups: [''], apiVersions: ['*'], resources: ['secrets'] };
  return boundPolicy(metadata, {
    matchConstraints: {
      resourceRules: [{ ...written, operations: ['CREATE', 'UPDATE', 'DELETE'] }],
    },
    matchConditions: [{ name: 'operator', expression: `request.userInfo.username == '${user}'` }],
    validations: [
      {
        expression: `(${mayBe}) && (${mayHaveBeen})`,
        message: `the operator may write no Secrets but those it makes itself (label ${labels.join(' or ')})`,
      },
    ],
  });
}
