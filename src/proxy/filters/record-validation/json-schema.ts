/**
 * JSON Schema (draft 2020-12), as far as it is about structure and bounds. What is not known here is refused when the configuration is loaded, rather
 * than left unchecked. Regular expressions (`pattern`, `patternProperties`) are not known: there are some that take for ever, and records come from anybody.
 */

/** A part of a schema, ready to be held against a value: at once, or in steps. */
type Check = (value: unknown, run: Run) => boolean | Generator<undefined, boolean>;

/** What one check may cost: alternatives within alternatives could take for ever. */
interface Run {
  left: number;
  depth: number;
}

export type SchemaCheck = (value: unknown) => Generator<undefined, 'fits' | 'differs' | 'too much'>;

const MOST_CHECKS = 100_000;
const MOST_DEPTH = 200;
const YIELD_EVERY = 256;

type Values = Record<string, unknown>;
const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Says nothing about values. */
const NOTES = new Set(
  '$schema $id $comment title description default examples deprecated readOnly writeOnly format $defs definitions'.split(
    ' ',
  ),
);

const TYPES: Record<string, (value: unknown) => boolean> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  object: isObject,
  array: Array.isArray,
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  string: (value) => typeof value === 'string',
};

/** Values that are the same have the same text, whatever the order of their keys. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_key, inner: unknown) =>
    isObject(inner)
      ? Object.fromEntries(Object.entries(inner).toSorted(([a], [b]) => (a < b ? -1 : 1)))
      : inner,
  );

const codePoints = (text: string): number => Array.from(text).length;

/** Bounds, each for values of one type only: others are not looked at. */
const BOUNDS: Record<string, (value: unknown, bound: number) => boolean> = {
  minimum: (value, bound) => typeof value !== 'number' || value >= bound,
  maximum: (value, bound) => typeof value !== 'number' || value <= bound,
  exclusiveMinimum: (value, bound) => typeof value !== 'number' || value > bound,
  exclusiveMaximum: (value, bound) => typeof value !== 'number' || value < bound,
  multipleOf: (value, bound) => typeof value !== 'number' || Number.isInteger(value / bound),
  minLength: (value, bound) => typeof value !== 'string' || codePoints(value) >= bound,
  maxLength: (value, bound) => typeof value !== 'string' || codePoints(value) <= bound,
  minItems: (value, bound) => !Array.isArray(value) || value.length >= bound,
  maxItems: (value, bound) => !Array.isArray(value) || value.length <= bound,
  minProperties: (value, bound) => !isObject(value) || Object.keys(value).length >= bound,
  maxProperties: (value, bound) => !isObject(value) || Object.keys(value).length <= bound,
};

/** Makes a check of a schema; throws with the place of what is wrong or not known. */
export function compileJsonSchema(schema: unknown): SchemaCheck {
  const check = createCompiler(schema).compile(schema, '#');
  return function* (value) {
    const run: Run = { left: MOST_CHECKS, depth: 0 };
    try {
      return (yield* ask(check, value, run)) ? 'fits' : 'differs';
    } catch (error) {
      if (error === TOO_MUCH) return 'too much';
      throw error;
    }
  };
}

const TOO_MUCH = new Error('a value that takes too long to check');

function* ask(check: Check, value: unknown, run: Run): Generator<undefined, boolean> {
  const answer = check(value, run);
  return typeof answer === 'boolean' ? answer : yield* answer;
}

const all = (checks: readonly Check[]): Check =>
  function* (value, run) {
    for (const check of checks) if (!(yield* ask(check, value, run))) return false;
    return true;
  };

/** How many of them fit. */
function* count(checks: readonly Check[], value: unknown, run: Run): Generator<undefined, number> {
  let fitting = 0;
  for (const check of checks) if (yield* ask(check, value, run)) fitting += 1;
  return fitting;
}

function createCompiler(root: unknown) {
  const known = new Map<unknown, Check>();

  function compile(schema: unknown, at: string): Check {
    if (typeof schema === 'boolean') return () => schema;
    if (!isObject(schema)) throw new Error(`${at} must be a schema`);
    const found = known.get(schema);
    if (found) return found;
    let inner: Check | undefined;
    // It may lead to itself, so it is there before its parts are.
    const bounded: Check = function* (value, run) {
      run.left -= 1;
      if (run.left < 0 || run.depth >= MOST_DEPTH) throw TOO_MUCH;
      if (run.left % YIELD_EVERY === 0) yield;
      run.depth += 1;
      const fits = yield* ask(inner!, value, run);
      run.depth -= 1;
      return fits;
    };
    known.set(schema, bounded);
    const checks = Object.keys(schema).flatMap((word) => keyword(schema, word, at) ?? []);
    inner = all(checks);
    return bounded;
  }

  const list = (value: unknown, at: string): Check[] => {
    if (!Array.isArray(value) || value.length === 0) throw new Error(`${at} must be a list of schemas`);
    return value.map((each, i) => compile(each, `${at}/${i}`));
  };
  const table = (value: unknown, at: string): Map<string, Check> => {
    if (!isObject(value)) throw new Error(`${at} must have schemas by name`);
    return new Map(Object.entries(value).map(([name, each]) => [name, compile(each, `${at}/${name}`)]));
  };

  /** What one word of a schema asks for; undefined if nothing. */
  function keyword(schema: Values, word: string, around: string): Check | undefined {
    const value = schema[word];
    const at = `${around}/${word}`;
    if (NOTES.has(word)) return undefined;
    const bound = BOUNDS[word];
    if (bound) {
      const isGood = typeof value === 'number' && (word !== 'multipleOf' || value > 0);
      if (!isGood) throw new Error(`${at} must be a number`);
      return (given) => bound(given, value);
    }
    switch (word) {
      case 'type':
        return typeCheck(value, at);
      case 'enum':
        if (!Array.isArray(value)) throw new Error(`${at} must be a list`);
        return oneOfTexts(value);
      case 'const':
        return oneOfTexts([value]);
      case 'required':
        return requiredCheck(value, at);
      case 'uniqueItems':
        return value === true ? hasUniqueItems : undefined;
      case 'properties':
      case 'additionalProperties':
        // One check for both, whichever comes first.
        if (word === 'additionalProperties' && 'properties' in schema) return undefined;
        return propertiesCheck(schema, around);
      case 'items':
      case 'prefixItems':
        if (word === 'items' && 'prefixItems' in schema) return undefined;
        return itemsCheck(schema, around);
      case 'allOf':
        return all(list(value, at));
      case 'anyOf': {
        const options = list(value, at);
        return function* (given, run) {
          for (const option of options) if (yield* ask(option, given, run)) return true;
          return false;
        };
      }
      case 'oneOf': {
        const options = list(value, at);
        return function* (given, run) {
          return (yield* count(options, given, run)) === 1;
        };
      }
      case 'not': {
        const refused = compile(value, at);
        return function* (given, run) {
          return !(yield* ask(refused, given, run));
        };
      }
      case '$ref':
        return compile(targetOf(value, at), at);
      default:
        throw new Error(`${at} is not known here`);
    }
  }

  function targetOf(ref: unknown, at: string): unknown {
    if (typeof ref !== 'string' || !(ref === '#' || ref.startsWith('#/')))
      throw new Error(`${at} must lead to a place in the same schema, such as #/$defs/name`);
    let target: unknown = root;
    for (const step of ref.split('/').slice(1)) {
      const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
      target = isObject(target) && Object.hasOwn(target, name) ? target[name] : undefined;
    }
    if (target === undefined) throw new Error(`${at} leads nowhere`);
    return target;
  }

  function propertiesCheck(schema: Values, at: string): Check {
    const properties = table(schema['properties'] ?? {}, `${at}/properties`);
    const others = compile(schema['additionalProperties'] ?? true, `${at}/additionalProperties`);
    return function* (value, run) {
      if (!isObject(value)) return true;
      for (const [name, inner] of Object.entries(value))
        if (!(yield* ask(properties.get(name) ?? others, inner, run))) return false;
      return true;
    };
  }

  function itemsCheck(schema: Values, at: string): Check {
    const prefix = 'prefixItems' in schema ? list(schema['prefixItems'], `${at}/prefixItems`) : [];
    const others = compile(schema['items'] ?? true, `${at}/items`);
    return function* (value, run) {
      if (!Array.isArray(value)) return true;
      for (const [i, item] of value.entries())
        if (!(yield* ask(prefix[i] ?? others, item, run))) return false;
      return true;
    };
  }

  return { compile };
}

function typeCheck(value: unknown, at: string): Check {
  const names = [value].flat();
  const types = names.map((name) => TYPES[String(name)]);
  if (names.length === 0 || !names.every((name) => typeof name === 'string' && Object.hasOwn(TYPES, name)))
    throw new Error(`${at} must be of ${Object.keys(TYPES).join(', ')}`);
  return (given) => types.some((is) => is!(given));
}

function oneOfTexts(values: readonly unknown[]): Check {
  const texts = new Set(values.map(textOf));
  return (given) => texts.has(textOf(given));
}

function requiredCheck(value: unknown, at: string): Check {
  if (!Array.isArray(value) || !value.every((name) => typeof name === 'string'))
    throw new Error(`${at} must be a list of names`);
  return (given) => !isObject(given) || value.every((name) => Object.hasOwn(given, name));
}

const hasUniqueItems = (value: unknown): boolean =>
  !Array.isArray(value) || new Set(value.map(textOf)).size === value.length;
