/**
 * What the zod schemas of this folder can say beyond types. A rule is written once and enforced twice: by zod, for
 * resources read from files, and as CEL in the CRD, for resources sent to an API server. The cases in test/crds go
 * through both.
 */
import { z } from 'zod';

export interface Rule<T> {
  /** The rule for the API server; `self` is the value. Absent where CEL cannot see what the rule is about. */
  cel?: string;
  /** The same rule here. */
  holds: (value: T) => boolean;
  /** Shown to whoever breaks the rule: what to do, rather than what is wrong. */
  message: string;
  /** The member the message is about, where that is not the whole value. */
  at?: string;
}

/** A validation rule as a CRD spells it. */
export interface CelRule {
  rule: string;
  message: string;
  fieldPath?: string;
}

/** The same schema, which also refuses what breaks a rule. */
export function withRules<S extends z.ZodType>(schema: S, ...rules: readonly Rule<z.output<S>>[]): S {
  const checked = schema.superRefine((value, context) => {
    for (const { holds, message, at } of rules) {
      if (!holds(value)) context.addIssue({ code: 'custom', message, path: at === undefined ? [] : [at] });
    }
  });
  // A refined schema starts without metadata, so what the schema already said has to be said again.
  const said = schema.meta() ?? {};
  const earlier = (said['x-kubernetes-validations'] ?? []) as CelRule[];
  const validations = [...earlier, ...celRules(rules)];
  return checked.meta({
    ...said,
    ...(validations.length > 0 && { 'x-kubernetes-validations': validations }),
  });
}

function celRules(rules: readonly Rule<never>[]): CelRule[] {
  return rules.flatMap(({ cel, message, at }) =>
    cel === undefined ? [] : [{ rule: cel, message, ...(at === undefined ? {} : { fieldPath: `.${at}` }) }],
  );
}

/** The same schema, described to CRDs by hand: for what structural schemas cannot derive, such as a union. */
export function asStructural<S extends z.ZodType>(schema: S, structural: Record<string, unknown>): S {
  return schema.meta({ ...schema.meta(), structural });
}

/** A string of bounded length, of a form that `otherwise` explains. */
export function text(max: number, form?: { matching: RegExp; otherwise: string }): z.ZodString {
  const bounded = z.string().min(1).max(max);
  if (form === undefined) return bounded;
  const { matching, otherwise } = form;
  return withRules(bounded, {
    cel: `self.matches(r'${matching.source}')`,
    holds: (value) => matching.test(value),
    message: otherwise,
  });
}

/** A list whose elements are told apart by one member: merged by it, and no two with the same. */
export function listBy<E extends z.ZodObject>(key: string, element: E, max: number): z.ZodArray<E> {
  const list = z.array(element).max(max);
  return list
    .superRefine((elements, context) => {
      const seen = new Set<unknown>();
      for (const [index, entry] of elements.entries()) {
        const value: unknown = (entry as Record<string, unknown>)[key];
        if (seen.has(value)) {
          const message = `another one has the ${key} "${String(value)}"; give each its own, or remove one`;
          context.addIssue({ code: 'custom', path: [index, key], message });
        }
        seen.add(value);
      }
    })
    .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': [key] });
}

/** The same schema where nothing has to be there yet: as if it were written as `{}`. */
export function orEmpty<S extends z.ZodObject>(schema: S): z.ZodPrefault<S> {
  return schema.prefault({} as z.input<S>);
}
