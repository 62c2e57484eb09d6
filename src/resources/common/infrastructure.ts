/** Annotations and labels that users want on the objects which the operator makes for them. */
import { z } from 'zod';
import { asStructural, withRules } from '../schema.ts';

const OURS = 'kroxylicious.io/';
const MAX_ENTRIES = 64;

const MAPPING = 'write `key: value`, or the string `key=value`; keys have 1 to 317 characters';

/**
 * A value. To an API server `y`, `on` and `1` are not strings (YAML 1.1), and the design document prints `x: y`; they
 * are taken for what they are written as, where Kubernetes itself would refuse the whole resource.
 */
const scalar = z.union([z.string().max(32_768), z.number(), z.boolean()], { error: 'must be a string' });

type Scalar = z.output<typeof scalar>;

/** Rules without CEL: it cannot see into a mapping whose values have no single type. */
const keyRules = <T>(mappingOf: (written: T) => Record<string, Scalar>) => [
  {
    holds: (written: T) =>
      Object.keys(mappingOf(written)).every((key) => key.length >= 1 && key.length <= 317),
    message: MAPPING,
  },
  {
    holds: (written: T) => !Object.keys(mappingOf(written)).some((key) => key.startsWith(OURS)),
    message: `leave out keys that begin with ${OURS}: the operator sets those itself`,
  },
  {
    holds: (written: T) => Object.keys(mappingOf(written)).length <= MAX_ENTRIES,
    message: `give at most ${MAX_ENTRIES} entries`,
  },
];

const assignment = z
  .string()
  .max(33_000)
  .regex(/^[^=]+=/, { error: MAPPING });

/**
 * Annotations in any of the forms that YAML makes of what users write: a mapping, the string `key=value` (as the
 * design document prints it, and as `kubectl annotate` takes it), or a list of such strings. A CRD has no type for
 * that, so an API server lets anything pass here and the operator says what is wrong in a condition.
 */
const annotations = withRules(
  asStructural(z.union([z.record(z.string(), scalar), assignment, z.array(assignment)], { error: MAPPING }), {
    'x-kubernetes-preserve-unknown-fields': true,
  }),
  ...keyRules(mappingOf),
).describe('Annotations to put on them: a mapping, or `key=value`, or a list of those.');

const LABEL_VALUE = /^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$/;
const LABEL = "must be a label value: at most 63 letters, digits, '-', '_' and '.'";

const labels = withRules(
  asStructural(
    z.record(
      z.string(),
      scalar.refine((value) => String(value).length <= 63 && LABEL_VALUE.test(String(value)), {
        error: LABEL,
      }),
    ),
    {
      type: 'object',
      maxProperties: MAX_ENTRIES,
      additionalProperties: {
        'x-kubernetes-preserve-unknown-fields': true,
        maxLength: 63,
        pattern: LABEL_VALUE.source,
      },
    },
  ),
  ...keyRules((written: Record<string, Scalar>) => written),
).describe('Labels to put on them.');

export const infrastructure = z.object({
  annotations: annotations.exactOptional(),
  labels: labels.exactOptional(),
});

/** What to put on objects, as plain mappings of strings. */
export interface Infrastructure {
  annotations: Record<string, string>;
  labels: Record<string, string>;
}

/** Both members present and of strings, whatever was written. */
export function normaliseInfrastructure(
  written: z.output<typeof infrastructure> | undefined,
): Infrastructure {
  return {
    annotations: strings(mappingOf(written?.annotations ?? {})),
    labels: strings(written?.labels ?? {}),
  };
}

function strings(mapping: Record<string, Scalar>): Record<string, string> {
  return Object.fromEntries(Object.entries(mapping).map(([key, value]) => [key, String(value)]));
}

/** Any of the forms as a mapping; of two equal keys the last one counts. */
function mappingOf(written: Record<string, Scalar> | string | string[]): Record<string, Scalar> {
  if (typeof written === 'object' && !Array.isArray(written)) return written;
  return Object.fromEntries([written].flat().map(splitAssignment));
}

function splitAssignment(assignment: string): [string, string] {
  const equals = assignment.indexOf('=');
  return [assignment.slice(0, equals).trim(), assignment.slice(equals + 1).trim()];
}
