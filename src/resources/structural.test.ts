import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { z } from 'zod';
import { KINDS } from './registry.ts';
import { asStructural, listBy, orEmpty, text, withRules } from './schema.ts';
import { structuralOf } from './structural.ts';
import type { Structural } from './structural.ts';

suite('zod to structural schema', () => {
  test('keeps types, bounds, defaults and descriptions', () => {
    const schema = z.object({
      port: z.int().min(1).max(65_535).default(9082).describe('A port.'),
      generation: z.int(),
      kind: z.literal('Secret').default('Secret'),
      names: z.array(z.string().max(5)).max(3).exactOptional(),
    });
    assert.deepEqual(structuralOf(schema), {
      type: 'object',
      required: ['generation'],
      properties: {
        port: {
          description: 'A port.',
          type: 'integer',
          format: 'int32',
          default: 9082,
          minimum: 1,
          maximum: 65_535,
        },
        generation: { type: 'integer', format: 'int64' },
        kind: { type: 'string', enum: ['Secret'], default: 'Secret' },
        names: { type: 'array', maxItems: 3, items: { type: 'string', maxLength: 5 } },
      },
    });
  });

  test('an open object keeps unknown fields, a mapping types its values', () => {
    const schema = z.object({
      open: z.looseObject({ known: z.boolean() }),
      anything: z.record(z.string(), z.unknown()),
      labels: z.record(z.string(), z.string()),
      whatever: z.unknown(),
    });
    assert.deepEqual(structuralOf(schema).properties, {
      open: {
        type: 'object',
        required: ['known'],
        properties: { known: { type: 'boolean' } },
        'x-kubernetes-preserve-unknown-fields': true,
      },
      anything: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      labels: { type: 'object', additionalProperties: { type: 'string' } },
      whatever: { 'x-kubernetes-preserve-unknown-fields': true },
    });
  });

  test('rules, lists by key and defaults down to the last member come along', () => {
    const schema = z.object({
      name: text(10, { matching: /^a\d$/, otherwise: 'write a and a digit' }).describe('A name.'),
      list: listBy('name', z.object({ name: z.string() }), 4),
      deep: orEmpty(z.object({ replicas: z.int().default(1) })),
    });
    const { name, list, deep } = structuralOf(schema).properties!;
    assert.deepEqual(name!['x-kubernetes-validations'], [
      { rule: String.raw`self.matches(r'^a\d$')`, message: 'write a and a digit' },
    ]);
    assert.deepEqual(list!['x-kubernetes-list-map-keys'], ['name']);
    assert.deepEqual(deep!.default, {});
    assert.deepEqual(schema.parse({ name: 'a1', list: [] }), { name: 'a1', list: [], deep: { replicas: 1 } });
  });

  test('a second set of rules does not replace the first', () => {
    const rule = (message: string) => ({ cel: 'true', holds: () => false, message });
    const schema = withRules(withRules(z.string(), rule('one')), rule('two'));
    assert.deepEqual(
      structuralOf(schema)['x-kubernetes-validations']?.map(({ message }) => message),
      ['one', 'two'],
    );
    assert.deepEqual(
      schema.safeParse('').error?.issues.map(({ message }) => message),
      ['one', 'two'],
    );
  });

  test('what a CRD cannot express is refused, unless described by hand', () => {
    const union = z.union([z.string(), z.int()]);
    assert.throws(() => structuralOf(z.object({ amount: union })), /\.amount: .*union/);
    assert.throws(() => structuralOf(z.strictObject({})), /prunes unknown fields/);
    const described = asStructural(union, { 'x-kubernetes-int-or-string': true }).describe('An amount.');
    assert.deepEqual(structuralOf(described), {
      description: 'An amount.',
      'x-kubernetes-int-or-string': true,
    });
  });
});

/** Every schema below one, with its path. */
function parts(schema: Structural, path: string): [string, Structural][] {
  const members = Object.entries(schema.properties ?? {}).flatMap(([name, part]) =>
    parts(part, `${path}.${name}`),
  );
  return [
    [path, schema],
    ...members,
    ...(schema.items ? parts(schema.items, `${path}[]`) : []),
    ...(schema.additionalProperties ? parts(schema.additionalProperties, `${path}.*`) : []),
  ];
}

suite('our own CRDs', () => {
  const ours = KINDS.filter(({ install }) => install === 'default');
  const spec = ours.flatMap((kind) => parts(kind.structural().properties!['spec']!, `${kind.kind}.spec`));

  test('bound every string and list, so that rules about them have a known cost', () => {
    const unbounded = spec.filter(([, { type, enum: values, maxLength, maxItems }]) =>
      type === 'string'
        ? values === undefined && maxLength === undefined
        : type === 'array' && maxItems === undefined,
    );
    assert.deepEqual(
      unbounded.map(([path]) => path),
      [],
    );
  });

  test('say how each list is merged', () => {
    const lists = spec.filter(([, schema]) => schema.type === 'array' && !schema['x-kubernetes-list-type']);
    assert.deepEqual(
      lists.map(([path]) => path),
      [],
    );
  });

  test('explain every field', () => {
    const silent = spec.filter(
      ([path, { description }]) => description === undefined && !path.endsWith('[]') && !path.endsWith('.*'),
    );
    assert.deepEqual(
      silent.map(([path]) => path),
      [],
    );
  });
});
