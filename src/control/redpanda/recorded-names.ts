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

/** `since` is null for names that policies no longer allow, and was not written in former times. */
const annotation = z.object({
  broker: z.string().max(300),
  bootstrap: z.string().max(253),
  since: z.string().max(64).nullish(),
});

export const namesText = (grant: NameGrant): string =>
  JSON.stringify({ ...hostNamesOf(grant), since: grant.since ?? null });

/** In the form of the anchor. There is one external listener, whatever its owner calls it. */
export const namesInAnchor = (grant: NameGrant | undefined): object[] =>
  grant ? [{ name: EXTERNAL_LISTENER, ...grant }] : [];

export interface Recorded {
  /** Undefined: it has no names. */
  grant: NameGrant | undefined;
}

/** What was written down of the Cluster with this uid; undefined if nothing was: one that had its name before is another cluster. */
export function recordedNames(
  anchor: AnyObject | undefined,
  statefulSet: AnyObject | undefined,
  uid: string | undefined,
): Recorded | undefined {
  const { cluster, names } = (anchor?.['spec'] ?? {}) as { cluster?: { uid?: string }; names?: unknown };
  // An anchor without it was written by an operator that had names on the StatefulSet alone.
  if (Array.isArray(names)) return { grant: cluster?.uid === uid ? inAnchor(names) : undefined };
  const text = isOwnedBy(statefulSet, uid)
    ? statefulSet?.metadata.annotations?.[NAMES_ANNOTATION]
    : undefined;
  return text === undefined ? undefined : { grant: onStatefulSet(statefulSet!, text) };
}

function inAnchor(names: readonly unknown[]): NameGrant | undefined {
  const found = names.find((one) => isJsonObject(one) && one['name'] === EXTERNAL_LISTENER);
  const { data } = grantOfRedpanda.safeParse(found);
  return data && withoutName(data);
}

const withoutName = ({ name: _, ...grant }: z.output<typeof grantOfRedpanda>): NameGrant => grant;

const isOwnedBy = (object: AnyObject | undefined, uid: string | undefined) =>
  (object?.metadata.ownerReferences ?? []).some((owner) => owner.uid === uid);

/** Before all that were written down with their time. */
const LONG_AGO = '1970-01-01T00:00:00Z';

function onStatefulSet({ metadata, spec }: AnyObject, text: string): NameGrant | undefined {
  const read = readAnnotation(text);
  if (!read) return undefined;
  const { broker: pattern, bootstrap, since = metadata.creationTimestamp ?? LONG_AGO } = read;
  const { replicas = 0 } = (spec ?? {}) as { replicas?: number };
  return { pattern, bootstrap, count: replicas + 1, ...(since !== null && { since }) };
}

function readAnnotation(text: string): z.output<typeof annotation> | undefined {
  try {
    return annotation.parse(JSON.parse(text));
  } catch {
    return undefined;
  }
}
