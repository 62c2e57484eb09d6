/** Annotations and labels that users want on the objects which the operator makes for them. */
import { z } from 'zod';
import { asStructural, withRules } from '../schema.ts';

const OURS = 'kroxylicious.io/';
const MAX_ENTRIES = 64;
const MAX_VALUE = 32_768;
const MAX_ASSIGNMENT = 33_000;

const MAPPING = 'write `key: value`, or the string `key=value`';
const RESERVED = `leave out keys that begin with ${OURS}: the operator sets those itself`;
const TOO_MANY = `give at most ${MAX_ENTRIES} entries`;
/** What Kubernetes takes as the key of an annotation. */
const KEY =
  /^(([A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?\.)*[A-Za-z0-9]([-A-Za-z0-9]*[A-Za-z0-9])?\/)?[A-Za-z0-9]([-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;
const MAX_KEY = 317;
const KEYS =
  "write keys as Kubernetes has them: at most 63 letters, digits, '-', '_' and '.', if need be after a domain and '/'";

/**
 * A value. To an API server `y`, `on` and `1` are not strings (YAML 1.1), and the design document prints `x: y`; they
 * are taken for what they are written as, where Kubernetes itself would refuse the whole resource.
 */
const scalar = z.union([z.string().max(MAX_VALUE), z.number(), z.boolean()], { error: 'must be a string' });

type Scalar = z.output<typeof scalar>;

/** Rules that no CRD can have: its CEL cannot see into a mapping whose values have no single type. See `admissionRules`. */
const keyRules = <T>(mappingOf: (written: T) => Record<string, Scalar>) => {
  const keysOf = (written: T) => Object.keys(mappingOf(written));
  return [
    {
      holds: (written: T) => keysOf(written).every((key) => key.length <= MAX_KEY && KEY.test(key)),
      message: KEYS,
    },
    { holds: (written: T) => !keysOf(written).some((key) => key.startsWith(OURS)), message: RESERVED },
    { holds: (written: T) => keysOf(written).length <= MAX_ENTRIES, message: TOO_MANY },
  ];
};

const ASSIGNMENT = /^[^=]+=/;

const assignment = z.string().max(MAX_ASSIGNMENT).regex(ASSIGNMENT, { error: MAPPING });

/**
 * Annotations in any of the forms that YAML makes of what users write: a mapping, the string `key=value` (as the
 * design document prints it, and as `kubectl annotate` takes it), or a list of such strings. A CRD has no type for
 * that and lets anything pass here. An admission policy refuses what is wrong (`admissionRules`); where a cluster does not have
 * it, the operator says so in a condition.
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

const isScalar = (value: string) =>
  `(${['int', 'double', 'bool'].map((type) => `type(${value}) == ${type}`).join(' || ')} || ` +
  `(type(${value}) == string && ${value}.size() <= ${MAX_VALUE}))`;
const isAssignment = (value: string) =>
  `(type(${value}) == string && ${value}.size() <= ${MAX_ASSIGNMENT} && ${value}.matches(r'${ASSIGNMENT.source}'))`;
const keyIn = (value: string) => `(${isAssignment(value)} ? ${value}.split('=', 2)[0].trim() : '')`;

/** The rules above for an admission policy, whose CEL sees everything: of `infrastructures`, a list of CEL. */
export const admissionRules = (infrastructures: string) => {
  const member = (name: string) =>
    `${infrastructures}.filter(one, has(one.${name}) && one.${name} != null).map(one, one.${name})`;
  return {
    variables: [
      { name: 'annotations', expression: member('annotations') },
      { name: 'labels', expression: member('labels') },
      {
        name: 'keys',
        expression:
          `variables.annotations.map(one, type(one) == map ? one.map(key, key) : type(one) == list ? ` +
          `one.map(each, ${keyIn('each')}) : [${keyIn('one')}]) + variables.labels.map(one, one.map(key, key))`,
      },
    ],
    validations: [
      {
        expression: `variables.annotations.all(one, type(one) == map ? one.all(key, ${isScalar('one[key]')}) : type(one) == list ? one.all(each, ${isAssignment('each')}) : ${isAssignment('one')})`,
        message: MAPPING,
      },
      { expression: `variables.keys.all(keys, keys.size() <= ${MAX_ENTRIES})`, message: TOO_MANY },
      {
        expression: `variables.keys.all(keys, keys.all(key, key.size() <= ${MAX_KEY} && key.matches(r'${KEY.source}')))`,
        message: KEYS,
      },
      {
        expression: `variables.keys.all(keys, !keys.exists(key, key.startsWith('${OURS}')))`,
        message: RESERVED,
      },
      {
        expression: `variables.labels.all(one, one.all(key, ${isScalar('one[key]')} && string(one[key]).matches(r'${LABEL_VALUE.source}')))`,
        message: LABEL,
      },
    ],
  };
};

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
