/** Schemas of Avro (1.11) as what they are made of. Logical types are the types below them. */

export type AvroType =
  | { kind: 'null' | 'boolean' | 'int' | 'long' | 'float' | 'double' | 'bytes' | 'string' }
  | { kind: 'record'; fields: readonly AvroField[] }
  | { kind: 'enum'; symbols: readonly string[] }
  | { kind: 'fixed'; size: number }
  | { kind: 'array' | 'map'; items: AvroType }
  | { kind: 'union'; branches: readonly AvroType[] };

export interface AvroField {
  name: string;
  type: AvroType;
}

type Values = Record<string, unknown>;
const isObject = (value: unknown): value is Values =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

const PRIMITIVES: Record<string, AvroType> = {
  null: { kind: 'null' },
  boolean: { kind: 'boolean' },
  int: { kind: 'int' },
  long: { kind: 'long' },
  float: { kind: 'float' },
  double: { kind: 'double' },
  bytes: { kind: 'bytes' },
  string: { kind: 'string' },
};

/** Of a name with its namespace: that stands once in a schema, and in the names of all types below it. */
const MOST_NAME = 1000;

const fullName = (name: string, namespace: string): string =>
  name.includes('.') || namespace === '' ? name : `${namespace}.${name}`;

/** Reads a schema; throws with the place of what is wrong. A record that leads to itself is one type, which has itself among its parts. */
export function parseAvroSchema(schema: unknown): AvroType {
  /** Named types, by their full names. */
  const named = new Map<string, AvroType>();

  function parse(given: unknown, namespace: string, at: string): AvroType {
    if (typeof given === 'string') return byName(given, namespace, at);
    if (Array.isArray(given))
      return { kind: 'union', branches: given.map((each, i) => parse(each, namespace, `${at}.${i}`)) };
    if (!isObject(given)) throw new Error(`${at} must be a schema of Avro`);
    switch (given['type']) {
      case 'record':
      case 'error':
      case 'enum':
      case 'fixed':
        return define(given, namespace, at);
      case 'array':
        return { kind: 'array', items: parse(given['items'], namespace, `${at}.items`) };
      case 'map':
        return { kind: 'map', items: parse(given['values'], namespace, `${at}.values`) };
      default:
        return parse(given['type'], namespace, `${at}.type`);
    }
  }

  function byName(name: string, namespace: string, at: string): AvroType {
    const primitive = Object.hasOwn(PRIMITIVES, name) ? PRIMITIVES[name] : undefined;
    const type = primitive ?? named.get(fullName(name, namespace)) ?? named.get(name);
    if (!type) throw new Error(`${at} names a type that is not defined before it`);
    return type;
  }

  /** A type with a name: it is known by that from here on, also within itself. */
  function define(given: Values, namespace: string, at: string): AvroType {
    const { name, namespace: own = namespace } = given;
    if (typeof name !== 'string' || name === '' || typeof own !== 'string')
      throw new Error(`${at} must have a name`);
    const full = fullName(name, own);
    if (full.length > MOST_NAME) throw new Error(`${at} must have a name of at most ${MOST_NAME} characters`);
    if (named.has(full)) throw new Error(`${at} defines a name again`);
    const fields: AvroField[] = [];
    const type = unnamed(given, fields, at);
    named.set(full, type);
    const inner = full.includes('.') ? full.slice(0, full.lastIndexOf('.')) : '';
    if (type.kind === 'record') readFields(given['fields'], fields, inner, at);
    return type;
  }

  function readFields(given: unknown, fields: AvroField[], namespace: string, at: string): void {
    if (!Array.isArray(given) || !given.every(isObject))
      throw new Error(`${at}.fields must be a list of fields`);
    const names = new Set<string>();
    for (const [i, { name, type }] of given.entries()) {
      if (typeof name !== 'string' || names.has(name))
        throw new Error(`${at}.fields.${i} must have a name of its own`);
      names.add(name);
      fields.push({ name, type: parse(type, namespace, `${at}.fields.${i}.type`) });
    }
  }
  return parse(schema, '', 'schema');
}

/** The type itself; the fields of a record are filled in once it is known by its name. */
function unnamed({ type, symbols, size }: Values, fields: AvroField[], at: string): AvroType {
  if (type === 'enum') {
    if (!Array.isArray(symbols) || symbols.length === 0 || !symbols.every((each) => typeof each === 'string'))
      throw new Error(`${at}.symbols must be a list of names`);
    return { kind: 'enum', symbols };
  }
  if (type === 'fixed') {
    if (typeof size !== 'number' || !Number.isSafeInteger(size) || size < 0)
      throw new Error(`${at}.size must be a number of bytes`);
    return { kind: 'fixed', size };
  }
  return { kind: 'record', fields };
}
