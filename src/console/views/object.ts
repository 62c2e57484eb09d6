/** One object: what is asked for against what is observed, what is wrong and since when, and what hangs on it. Pure. */
import { stringify } from 'yaml';
import { findCode } from '../../ops/codes/codes.ts';
import type { AnyObject } from '../../kube/object.ts';
import { conditionsIn } from '../../view/health.ts';
import type { Condition } from '../../view/health.ts';
import { statusOf } from '../../view/status.ts';
import { treeOf } from '../../view/tree.ts';
import type { TreeNode } from '../../view/tree.ts';
import type { ConditionRow, ObjectRef, ObjectView, TreeRow } from '../api.ts';
import { objectKey } from '../source.ts';
import type { World } from '../source.ts';

/** A text that is longer is nothing to read in a page. */
const MOST_YAML = 200_000;
const MOST_CHILDREN = 25;
const MOST_FACTS = 40;
const MOST_DEPTH = 6;

/** Undefined if there is none of this name. */
export function objectView(world: World, { kind, namespace, name }: ObjectRef): ObjectView | undefined {
  const key = objectKey(kind, namespace, name);
  const object = world.objects.find(
    (one) => objectKey(one.kind, one.metadata.namespace, one.metadata.name) === key,
  );
  if (!object) return undefined;
  const { state, reason, message } = statusOf(object);
  const near = world.objects.filter(({ metadata }) => metadata.namespace === object.metadata.namespace);
  const { creationTimestamp } = object.metadata;
  const text = stringify(withoutBookKeeping(object));
  return {
    kind,
    namespace,
    name,
    apiVersion: object.apiVersion,
    state,
    reason,
    message,
    ...(creationTimestamp && { created: creationTimestamp }),
    facts: factsOf(world, object),
    conditions: conditionsIn(object).map(conditionRow),
    events: [...(world.events.get(key) ?? [])],
    tree: treeRow(treeOf(object, { objects: near }), namespace, 0),
    yaml: text.length > MOST_YAML ? `${text.slice(0, MOST_YAML)}\n# … the rest is not shown\n` : text,
    command: world.command(kind, namespace, name),
    ...world.where.get(key),
  };
}

function withoutBookKeeping(object: AnyObject): AnyObject {
  const metadata = { ...object.metadata };
  delete metadata.managedFields;
  return { ...object, metadata };
}

function conditionRow({
  type,
  status,
  reason = '',
  message = '',
  lastTransitionTime,
}: Condition): ConditionRow {
  const isWrong = message !== '' && !(status === 'True' && reason === type);
  const cure = isWrong ? findCode(reason)?.cure : undefined;
  return {
    type,
    status,
    reason,
    message,
    ...(lastTransitionTime && { since: lastTransitionTime }),
    ...(cure !== undefined && { cure }),
  };
}

function treeRow({ kind, name, health, children }: TreeNode, namespace: string, depth: number): TreeRow {
  const shown = depth < MOST_DEPTH ? children.slice(0, MOST_CHILDREN) : [];
  return {
    kind,
    name,
    namespace,
    ...health,
    children: shown.map((child) => treeRow(child, namespace, depth + 1)),
    more: children.length - shown.length,
  };
}

/** Of a virtual cluster, what its proxy serves; of anything else, the fields of its spec beside those of the same name in its status. */
function factsOf(world: World, object: AnyObject): ObjectView['facts'] {
  const { name, namespace } = object.metadata;
  const status = (object['status'] ?? {}) as Record<string, unknown>;
  const served =
    object.kind === 'VirtualKafkaCluster' &&
    world.clusters.find((one) => one.name === name && one.namespace === namespace);
  const spec = Object.entries((object['spec'] ?? {}) as Record<string, unknown>).slice(0, MOST_FACTS);
  const observed: Readonly<Record<string, string>> = served
    ? {
        ingresses: served.bootstrap.map(({ ingress, address }) => `${ingress}: ${address}`).join(', '),
        filterRefs: served.filters.join(', '),
        targetCluster: `${served.target.address}, brokers ${served.brokers.map(({ id }) => id).join(', ') || 'not known yet'}`,
        proxyRef: served.proxy ?? '',
      }
    : {};
  // Fields are whatever somebody wrote: `constructor` is none of a status that does not have it.
  const observedOf = (field: string) => {
    if (Object.hasOwn(observed, field)) return observed[field]!;
    return Object.hasOwn(status, field) ? brief(status[field]) : '';
  };
  return spec.map(([field, wanted]) => ({ name: field, wanted: brief(wanted), observed: observedOf(field) }));
}

const LONGEST_FACT = 300;

function brief(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value);
  return text.length > LONGEST_FACT ? `${text.slice(0, LONGEST_FACT)}…` : text;
}
