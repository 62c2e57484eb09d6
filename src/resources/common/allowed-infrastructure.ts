/** What developers may have put on objects: an admin's list of annotation and label keys, and what no list can allow. */
import { z } from 'zod';
import { text } from '../schema.ts';
import type { Infrastructure } from './infrastructure.ts';

/** OpenShift issues a certificate for a Service that has an annotation of these. */
const DEFAULT_ANNOTATIONS = ['service.beta.openshift.io/*'];

/** Keys that mean something to this program itself: names in DNS, and which objects are whose. */
const OWN = ['kroxylicious.io/', 'isthmus.dev/', 'connectivity.tanzu.vmware.com/'];

const keyPatterns = z
  .array(
    text(317, {
      matching: /^([A-Za-z0-9][A-Za-z0-9._/-]*\*?|\*)$/,
      otherwise: 'write a key, or the beginning of one and `*`, e.g. service.beta.openshift.io/*',
    }),
  )
  .max(64)
  .meta({ 'x-kubernetes-list-type': 'atomic' });

export const allowedInfrastructure = z.object({
  annotations: keyPatterns
    .describe(
      `Keys of annotations; ${DEFAULT_ANNOTATIONS.map((key) => `\`${key}\``).join(', ')} if left out.`,
    )
    .exactOptional(),
  labels: keyPatterns.describe('Keys of labels; none if left out.').exactOptional(),
});

export interface AllowedInfrastructure {
  annotations: readonly string[];
  labels: readonly string[];
}

export function normaliseAllowed(
  written: z.output<typeof allowedInfrastructure> | undefined,
): AllowedInfrastructure {
  return { annotations: written?.annotations ?? DEFAULT_ANNOTATIONS, labels: written?.labels ?? [] };
}

export interface RefusedKey {
  field: 'annotations' | 'labels';
  key: string;
  why: 'not allowed' | 'set by the operator';
}

/** The part of a developer's wishes that is granted, and the keys that are not. `operators`: labels that objects have in any case. */
export function grantWishes(
  wishes: Infrastructure,
  allowed: AllowedInfrastructure,
  operators: Readonly<Record<string, string>> = {},
): { granted: Infrastructure; refused: RefusedKey[] } {
  const refused: RefusedKey[] = [];
  const granted = (field: RefusedKey['field']) =>
    Object.fromEntries(
      Object.entries(wishes[field]).filter(([key, value]) => {
        const isOwn = OWN.some((prefix) => key.startsWith(prefix));
        const isSet = field === 'labels' && key in operators;
        if (isSet && operators[key] === value) return false;
        const why = isOwn || isSet ? 'set by the operator' : 'not allowed';
        const isGranted = why === 'not allowed' && allowed[field].some((pattern) => matches(pattern, key));
        if (!isGranted) refused.push({ field, key, why });
        return isGranted;
      }),
    );
  return { granted: { annotations: granted('annotations'), labels: granted('labels') }, refused };
}

const matches = (pattern: string, key: string) =>
  pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : key === pattern;
