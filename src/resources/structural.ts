/** zod schemas as the structural OpenAPI schemas that CRDs are made of. */
import { z } from 'zod';
import type { CelRule } from './schema.ts';

/** The part of OpenAPI that a CRD may use and this project does. */
export interface Structural {
  description?: string;
  type?: string;
  format?: string;
  enum?: unknown[];
  default?: unknown;
  nullable?: true;
  pattern?: string;
  minLength?: number;
  maxLength?: number;
  minimum?: number;
  maximum?: number;
  minItems?: number;
  maxItems?: number;
  maxProperties?: number;
  anyOf?: Structural[];
  required?: string[];
  properties?: Record<string, Structural>;
  additionalProperties?: Structural;
  items?: Structural;
  'x-kubernetes-preserve-unknown-fields'?: true;
  'x-kubernetes-int-or-string'?: true;
  'x-kubernetes-list-type'?: string;
  'x-kubernetes-list-map-keys'?: string[];
  'x-kubernetes-validations'?: CelRule[];
}

/** What zod exports, before it is made structural. */
type Exported = Omit<Structural, 'properties' | 'items' | 'additionalProperties'> & {
  properties?: Record<string, Exported>;
  items?: Exported;
  additionalProperties?: Exported | boolean;
  structural?: Structural;
};

/** Members that are taken over as they are, in the order in which they are printed. */
const PLAIN = [
  'description',
  'type',
  'format',
  'enum',
  'default',
  'nullable',
  'pattern',
  'minLength',
  'maxLength',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'maxProperties',
  'required',
  'x-kubernetes-list-type',
  'x-kubernetes-list-map-keys',
  'x-kubernetes-validations',
] as const satisfies readonly (keyof Structural)[];

const HANDLED = new Set<string>([
  ...PLAIN,
  'properties',
  'items',
  'additionalProperties',
  'structural',
  'anyOf',
]);

/** The structural schema of what may be written (before defaults are filled in). */
export function structuralOf(schema: z.ZodType): Structural {
  const exported = z.toJSONSchema(schema, {
    target: 'openapi-3.0',
    io: 'input',
    reused: 'inline',
    unrepresentable: 'any',
  });
  return convert(exported as Exported, '');
}

function convert(from: Exported, path: string): Structural {
  if (from.structural) return withDescription(from, from.structural);
  for (const keyword of Object.keys(from)) {
    if (!HANDLED.has(keyword)) throw new Error(`${path}: a CRD cannot have "${keyword}"`);
  }
  if (from.anyOf) throw new Error(`${path}: a CRD cannot have a union; use asStructural`);
  const to: Record<string, unknown> = {};
  for (const keyword of PLAIN) {
    if (from[keyword] !== undefined) to[keyword] = from[keyword];
  }
  boundInteger(to);
  if (from.properties) {
    to['properties'] = Object.fromEntries(
      Object.entries(from.properties).map(([name, member]) => [name, convert(member, `${path}.${name}`)]),
    );
  }
  if (from.items) to['items'] = convert(from.items, `${path}[]`);
  convertOpenness(from, to, path);
  return to;
}

/** zod bounds every integer by what a double holds; CRDs have formats for that. */
function boundInteger(schema: Structural): void {
  if (schema.type !== 'integer') return;
  if (schema.minimum === Number.MIN_SAFE_INTEGER) delete schema.minimum;
  if (schema.maximum === Number.MAX_SAFE_INTEGER) delete schema.maximum;
  schema.format = (schema.maximum ?? Infinity) <= 0x7fff_ffff ? 'int32' : 'int64';
}

/** Members not listed: refused unless the schema says what they are, or that they are kept. */
function convertOpenness(from: Exported, to: Structural, path: string): void {
  const rest = from.additionalProperties;
  if (rest === false) throw new Error(`${path}: a CRD prunes unknown fields already; use z.object`);
  const anything = from.type === undefined && from.enum === undefined;
  if (anything || (typeof rest === 'object' && Object.keys(rest).length === 0)) {
    to['x-kubernetes-preserve-unknown-fields'] = true;
  } else if (typeof rest === 'object') {
    to.additionalProperties = convert(rest, `${path}.*`);
  }
}

function withDescription(from: Exported, structural: Structural): Structural {
  return from.description === undefined ? structural : { description: from.description, ...structural };
}
