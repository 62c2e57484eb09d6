/**
 * What a Redpanda cluster was granted, as it is written down: in its anchor, and on its StatefulSet for operators that find no place for it in
 * an anchor. Pure.
 */
import { z } from 'zod';
import { isJsonObject } from '../../kube/json.ts';
import type { AnyObject } from '../../kube/object.ts';
import { grantOfRedpanda } from '../../resources/isthmus/redpanda-anchor.ts';
import type { NameGrant } from '../brokers/model/charter.ts';
import { hostNamesOf } from './granted-names.ts';
import { EXTERNAL_LISTENER, NAMES_ANNOTATION } from './names.ts';

/** Without a time, by which somebody could say to have been the first: whoever has a StatefulSet may write it. */
const annotation = z.object({
  broker: z.string().max(300),
  bootstrap: z.string().max(253),
  /** Whether policies no longer allow them. */
  isWithdrawn: z.boolean().default(false),
});

export const namesText = (grant: NameGrant): string =>
  JSON.stringify({ ...hostNamesOf(grant), ...(grant.since === undefined && { isWithdrawn: true }) });

/** In the form of the anchor. There is one external listener, whatever its owner calls it. */
export const namesInAnchor = (grant: NameGrant | undefined): object[] =>
  grant ? [{ name: EXTERNAL_LISTENER, ...grant }] : [];

export interface Recorded {
  by: 'anchor' | 'annotation';
  /** Undefined: it has no names. */
  grant: NameGrant | undefined;
}

/**
 * What was written down of the Cluster with this uid; undefined if nothing was: one that had its name before is another cluster. Names that an
 * annotation has count since `now`: they are taken over as far as nobody was granted them.
 */
export function recordedNames(
  anchor: AnyObject | undefined,
  statefulSet: AnyObject | undefined,
  uid: string | undefined,
  now: number,
): Recorded | undefined {
  const { cluster, names } = (anchor?.['spec'] ?? {}) as { cluster?: { uid?: string }; names?: unknown };
  // An anchor without it was written by an operator that had names on the StatefulSet alone.
  if (Array.isArray(names))
    return { by: 'anchor', grant: cluster?.uid === uid ? inAnchor(names) : undefined };
  const text = isOwnedBy(statefulSet, uid)
    ? statefulSet?.metadata.annotations?.[NAMES_ANNOTATION]
    : undefined;
  return text === undefined ? undefined : { by: 'annotation', grant: onStatefulSet(statefulSet!, text, now) };
}

function inAnchor(names: readonly unknown[]): NameGrant | undefined {
  const found = names.find((one) => isJsonObject(one) && one['name'] === EXTERNAL_LISTENER);
  const { data } = grantOfRedpanda.safeParse(found);
  return data && withoutName(data);
}

const withoutName = ({ name: _, ...grant }: z.output<typeof grantOfRedpanda>): NameGrant => grant;

const isOwnedBy = (object: AnyObject | undefined, uid: string | undefined) =>
  (object?.metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);

function onStatefulSet({ spec }: AnyObject, text: string, now: number): NameGrant | undefined {
  const read = readAnnotation(text);
  if (!read) return undefined;
  const { broker: pattern, bootstrap, isWithdrawn } = read;
  const { replicas = 0 } = (spec ?? {}) as { replicas?: number };
  const since = new Date(now).toISOString();
  return { pattern, bootstrap, count: replicas + 1, ...(!isWithdrawn && { since }) };
}

function readAnnotation(text: string): z.output<typeof annotation> | undefined {
  try {
    return annotation.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
