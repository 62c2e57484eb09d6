/** Documents of a folder as they may be shown: nothing in them that could be a secret. */
import { isFieldOf, moduleOf } from '../ops/filter-module.ts';
import type { FilterModule } from '../ops/filter-module.ts';
import { loadFilterType } from '../proxy/filters/registry.ts';
import type { KubeObject } from '../kube/object.ts';

const REDACTED = '(not shown)';

/**
 * A resource without what is secret in it: the fields of a filter that it says are, all of a configuration that nobody can say
 * that of, and the values of Secrets. A placeholder is not the secret, and shown.
 */
export function shownDocument<T extends KubeObject>(object: T, modules: readonly FilterModule[]): Promise<T> {
  return shownConfig(withoutLastApplied(object), modules);
}

/** kubectl keeps all that it applied in an annotation, secrets of a filter included. */
const LAST_APPLIED = 'kubectl.kubernetes.io/last-applied-configuration';

function withoutLastApplied<T extends KubeObject>(object: T): T {
  if (object.metadata.annotations?.[LAST_APPLIED] === undefined) return object;
  const annotations = { ...object.metadata.annotations };
  delete annotations[LAST_APPLIED];
  return { ...object, metadata: { ...object.metadata, annotations } };
}

async function shownConfig<T extends KubeObject>(object: T, modules: readonly FilterModule[]): Promise<T> {
  if (object.kind === 'Secret') return withoutValues(object);
  if (object.kind !== 'KafkaProtocolFilter') return object;
  const { spec } = object as T & { spec?: { type?: unknown; config?: unknown } };
  if (spec?.config === undefined || spec.config === null) return object;
  const fields = await secretFields(String(spec.type), modules);
  const config = fields ? withoutFields(spec.config, fields) : REDACTED;
  return { ...object, spec: { ...spec, config } };
}

/** What of a Secret is no secret, beside the keys of its values. */
const OPEN_FIELDS = new Set(['apiVersion', 'kind', 'metadata', 'type', 'immutable']);

function withoutValues<T extends KubeObject>(object: T): T {
  const shown = Object.entries(object).map(([field, value]: [string, unknown]) => {
    if (OPEN_FIELDS.has(field)) return [field, value];
    const isTable =
      (field === 'data' || field === 'stringData') && typeof value === 'object' && value !== null;
    // Anything else is perhaps one of these, misspelt.
    if (!isTable || Array.isArray(value)) return [field, REDACTED];
    return [field, Object.fromEntries(Object.keys(value).map((key) => [key, REDACTED]))];
  });
  return Object.fromEntries(shown) as T;
}

/** Whether somebody may have meant a secret field: one that is called so stands elsewhere, or a value stands where it should be found below. */
function isNearly(fields: readonly string[], path: readonly string[]): boolean {
  return fields.some((field) => {
    const steps = field.split('.');
    const above = steps.slice(0, path.length).join('.');
    return steps.at(-1) === path.at(-1) || (path.length < steps.length && isFieldOf([above], path));
  });
}

/** Undefined where nobody can say which they are. */
async function secretFields(
  type: string,
  modules: readonly FilterModule[],
): Promise<readonly string[] | undefined> {
  const module = moduleOf(type);
  if (module !== undefined) return modules.find(({ name }) => name === module)?.secretFields;
  try {
    return (await loadFilterType(type)).secretFields ?? [];
  } catch {
    return undefined;
  }
}

const PLACEHOLDER = /^\$\{(secret|configmap):[^}]*\}$/;

function withoutFields(value: unknown, fields: readonly string[], path: string[] = []): unknown {
  const isWhole = typeof value !== 'object' || value === null;
  if (isFieldOf(fields, path) || (isWhole && isNearly(fields, path)))
    return typeof value === 'string' && PLACEHOLDER.test(value) ? value : REDACTED;
  if (isWhole) return value;
  if (Array.isArray(value))
    return value.map((inner, index) => withoutFields(inner, fields, [...path, String(index)]));
  return Object.fromEntries(
    Object.entries(value).map(([step, inner]) => [step, withoutFields(inner, fields, [...path, step])]),
  );
}
