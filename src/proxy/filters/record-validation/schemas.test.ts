/** Schemas against what others make of them: ajv for JSON Schema, avsc for Avro. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Ajv } from 'ajv';
import avsc from 'avsc';
import fc from 'fast-check';
import { readAnyway, zigZag } from '../../../../test/support/avro.ts';
import { stepsDuring } from '../../../../test/support/steps.ts';
import { parseAvroSchema } from '../../../kafka/values/avro-schema.ts';
import { atOnce } from '../../../ops/time-slice.ts';
import { avroCheck } from './avro.ts';
import { problemSteps } from './check.ts';
import { compileJsonSchema } from './json-schema.ts';
import { recordValidation } from './record-validation.ts';

const number = fc.integer({ min: -3, max: 3 });
const size = fc.nat(3);
const name = fc.constantFrom('a', 'b', '__proto__');
const { value } = fc.letrec((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false, 1.5, '', 'a', 'ab', '😀', 'aé'),
    number,
    fc.array(tie('value'), { maxLength: 3 }),
    fc
      .array(fc.tuple(name, tie('value')), { maxLength: 3 })
      .map(
        (entries) =>
          JSON.parse(
            `{${entries.map(([key, inner]) => `${JSON.stringify(key)}:${JSON.stringify(inner)}`).join(',')}}`,
          ) as object,
      ),
  ),
}));
const type = fc.constantFrom('null', 'boolean', 'object', 'array', 'number', 'integer', 'string');
const { schema } = fc.letrec((tie) => ({
  schema: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.boolean(),
    fc.record(
      {
        type: fc.oneof(type, fc.uniqueArray(type, { minLength: 1, maxLength: 3 })),
        enum: fc.uniqueArray(value, { minLength: 1, maxLength: 3, selector: (each) => JSON.stringify(each) }),
        const: value,
        minimum: number,
        maximum: number,
        exclusiveMinimum: number,
        exclusiveMaximum: number,
        multipleOf: fc.integer({ min: 1, max: 3 }),
        minLength: size,
        maxLength: size,
        minItems: size,
        maxItems: size,
        uniqueItems: fc.boolean(),
        minProperties: size,
        maxProperties: size,
        required: fc.uniqueArray(name, { maxLength: 2 }),
        properties: fc.dictionary(fc.constantFrom('a', 'b'), tie('schema'), { maxKeys: 2 }),
        additionalProperties: tie('schema'),
        items: tie('schema'),
        allOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
        anyOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
        oneOf: fc.array(tie('schema'), { minLength: 1, maxLength: 2 }),
        not: tie('schema'),
        $ref: fc.constantFrom('#/$defs/one', '#/$defs/list'),
        title: fc.constant('a note'),
      },
      { requiredKeys: [], noNullPrototype: true },
    ),
  ),
}));
const DEFS = {
  one: { type: ['integer', 'string', 'array'] },
  list: { anyOf: [{ type: 'array', items: { $ref: '#/$defs/list' } }, { type: 'string' }] },
};

const judge = (rules: unknown, given: unknown) => atOnce(compileJsonSchema(rules)(given));

test('values fit JSON schemas as they do for ajv', () => {
  const seen = { fits: 0, differs: 0, 'too much': 0 };
  fc.assert(
    fc.property(schema, fc.array(value, { minLength: 5, maxLength: 5 }), (rules, values) => {
      const whole = typeof rules === 'boolean' ? rules : { ...(rules as object), $defs: DEFS };
      const ajv = new Ajv({ strict: false, logger: false, ownProperties: true });
      const validate = ajv.compile(whole);
      for (const each of values) {
        const outcome = judge(whole, each);
        seen[outcome] += 1;
        assert.equal(outcome, validate(each) ? 'fits' : 'differs', JSON.stringify([whole, each]));
      }
    }),
    { numRuns: 150 },
  );
  assert.ok(seen.fits > 100 && seen.differs > 100, JSON.stringify(seen));
});

test('the first items of a list have schemas of their own', () => {
  const rules = { prefixItems: [{ type: 'string' }, true], items: { type: 'integer' } };
  for (const [given, outcome] of [
    [['a', null, 1], 'fits'],
    [['a'], 'fits'],
    [[1], 'differs'],
    [['a', 'b', 'c'], 'differs'],
  ])
    assert.equal(judge(rules, given), outcome, JSON.stringify(given));
});

test('a JSON schema that is wrong, or has what is not known here, is refused with its place', () => {
  for (const [rules, message] of [
    [7, /^# must be a schema/],
    [{ pattern: 'a+' }, /^#\/pattern is not known here/],
    [{ properties: { a: { patternProperties: {} } } }, /^#\/properties\/a\/patternProperties is not known/],
    [{ properties: { a: 7 } }, /^#\/properties\/a must be a schema/],
    [{ additionalProperties: 7 }, /^#\/additionalProperties must be a schema/],
    [{ allOf: [{ prefixItems: [7] }] }, /^#\/allOf\/0\/prefixItems\/0 must be a schema/],
    [{ type: 'text' }, /^#\/type must be of/],
    [{ required: 'a' }, /^#\/required/],
    [{ minimum: '1' }, /^#\/minimum must be a number/],
    [{ anyOf: [] }, /^#\/anyOf must be a list/],
    [{ $ref: 'https://elsewhere/schema' }, /^#\/\$ref must lead to a place/],
    [{ $ref: '#/$defs/none' }, /^#\/\$ref leads nowhere/],
  ] as const)
    assert.throws(() => compileJsonSchema(rules), { message }, JSON.stringify(rules));
});

test('the name of a key is not gone through again for each schema below it', () => {
  const long = 'k'.repeat(10_000);
  const inner = Object.fromEntries(
    Array.from({ length: 1000 }, (_, i) => [`p${i}`, { properties: {}, items: {} }]),
  );
  const steps = stepsDuring(String.prototype as never, ['lastIndexOf', 'split', 'slice'], () => {
    compileJsonSchema({ properties: { [long]: { properties: inner } } });
  });
  assert.ok(steps < 1_000_000, `${steps} steps`);
});

test('a schema that leads in circles, or a value that is deep, is given up and not followed for ever', () => {
  assert.equal(judge({ $ref: '#' }, 1), 'too much');
  const deep = JSON.parse(`${'['.repeat(5000)}${']'.repeat(5000)}`) as unknown;
  assert.equal(judge({ items: { $ref: '#' } }, deep), 'too much');
  const wide = { anyOf: [{ $ref: '#/$defs/x' }, { $ref: '#/$defs/x' }], $defs: { x: {} as object } };
  wide.$defs.x = {
    items: { anyOf: [{ $ref: '#/$defs/x' }, { $ref: '#/$defs/x' }] },
    not: { type: 'string' },
  };
  const nested = JSON.parse(`${'['.repeat(40)}"x"${']'.repeat(40)}`) as unknown;
  assert.equal(judge(wide, nested), 'too much');
});

const ORDER = {
  type: 'record',
  name: 'Order',
  namespace: 'com.acme',
  fields: [
    { name: 'id', type: 'long' },
    { name: 'small', type: 'int' },
    { name: 'paid', type: 'boolean' },
    { name: 'price', type: 'double' },
    { name: 'weight', type: 'float' },
    { name: 'note', type: ['null', 'string'] },
    { name: 'raw', type: 'bytes' },
    { name: 'hash', type: { type: 'fixed', name: 'Hash', size: 4 } },
    { name: 'state', type: { type: 'enum', name: 'State', symbols: ['NEW', 'SENT'] } },
    { name: 'tags', type: { type: 'array', items: 'string' } },
    { name: 'counts', type: { type: 'map', values: 'int' } },
    { name: 'parent', type: ['null', 'Order'] },
    { name: 'again', type: { type: 'array', items: 'com.acme.Hash' } },
    { name: 'at', type: { type: 'long', logicalType: 'timestamp-millis' } },
  ],
};
const bytes = (length: number) =>
  fc.uint8Array({ minLength: length, maxLength: length }).map((each) => Buffer.from(each));
const { order } = fc.letrec((tie) => ({
  order: fc.record({
    id: fc.integer({ min: -(2 ** 52), max: 2 ** 52 }),
    small: fc.integer(),
    paid: fc.boolean(),
    price: fc.double({ noNaN: true }),
    weight: fc.constantFrom(0, 1.5, -2),
    note: fc.option(fc.string({ unit: 'grapheme', maxLength: 9 })),
    raw: bytes(3),
    hash: bytes(4),
    state: fc.constantFrom('NEW', 'SENT'),
    tags: fc.array(fc.string(), { maxLength: 3 }),
    counts: fc.dictionary(fc.string(), fc.integer(), { maxKeys: 2 }),
    parent: fc.option(tie('order'), { maxDepth: 2, depthIdentifier: 'order' }),
    again: fc.array(bytes(4), { maxLength: 2 }),
    at: fc.nat(),
  }),
}));

test('what avsc writes by a schema fits it, and what avsc cannot read does not', () => {
  const avro = avsc.Type.forSchema(ORDER as never);
  const check = avroCheck(parseAvroSchema(ORDER));
  const withId = avroCheck(parseAvroSchema(ORDER), 4);
  let unreadable = 0;
  fc.assert(
    fc.property(order, fc.nat(), fc.nat(255), (given, place, byte) => {
      const encoded = avro.toBuffer(given);
      assert.equal(atOnce(check(encoded)), true);
      assert.equal(atOnce(withId(Buffer.concat([Buffer.from([0, 0, 0, 0, 7]), encoded]))), true);
      assert.equal(atOnce(withId(Buffer.concat([Buffer.from([1, 0, 0, 0, 7]), encoded]))), false);
      assert.equal(atOnce(check(encoded.subarray(0, -1))), false);
      assert.equal(atOnce(check(Buffer.concat([encoded, Buffer.from([0])]))), false);
      // Whatever another byte makes of it: what is called fitting can be read, to its end.
      const changed = Buffer.from(encoded);
      changed[place % changed.length] = byte;
      if (atOnce(check(changed))) readAnyway(avro, changed);
      else unreadable += 1;
    }),
    { numRuns: 500 },
  );
  assert.ok(unreadable > 20, `${unreadable}`);
});

test('a block is as long as it says, and a header as long as its registry writes it', () => {
  const check = avroCheck(parseAvroSchema({ type: 'array', items: 'string' }));
  for (const [size, fits] of [
    [4, true],
    [3, false],
    [-1, false],
  ] as const)
    assert.equal(
      atOnce(check(Buffer.concat([zigZag(-2), zigZag(size), Buffer.from('\u0002a\u0002b\0')]))),
      fits,
    );
  const behind = avroCheck(parseAvroSchema('string'), 8);
  assert.equal(atOnce(behind(Buffer.from('000000000000000007046162', 'hex'))), true);
  assert.equal(atOnce(behind(Buffer.from('0000000007046162', 'hex'))), false);
});

test('an Avro value that would take for ever is given up, and a schema that is wrong is refused with its place', () => {
  const nothing = avroCheck(parseAvroSchema({ type: 'array', items: 'null' }));
  const many = Buffer.from('feffffff0f00', 'hex'); // 2^31 - 1 times nothing
  assert.equal(atOnce(nothing(many)), false);
  const lists = avroCheck(parseAvroSchema({ type: 'array', items: { type: 'array', items: 'int' } }));
  const empties = (length: number) => Buffer.concat([zigZag(length), Buffer.alloc(length + 1)]);
  assert.equal(atOnce(lists(empties(1000))), true);
  assert.equal(atOnce(lists(empties(1_000_001))), false);
  const chain = { type: 'record', name: 'Chain', fields: [{ name: 'next', type: ['null', 'Chain'] }] };
  assert.equal(atOnce(avroCheck(parseAvroSchema(chain))(Buffer.alloc(5000, 2))), false);
  assert.equal(atOnce(avroCheck(parseAvroSchema(chain))(Buffer.from([2, 2, 0]))), true);
  for (const [rules, message] of [
    [
      { type: 'record', name: 'A', fields: [{ name: 'x', type: 'B' }] },
      /^schema\.fields\.0\.type names a type that is not defined/,
    ],
    [{ type: 'record', fields: [] }, /^schema must have a name/],
    [{ type: 'fixed', name: 'F', size: -1 }, /^schema\.size/],
    [{ type: 'enum', name: 'E', symbols: [] }, /^schema\.symbols/],
    [
      {
        type: 'record',
        name: 'A',
        fields: [
          { name: 'x', type: 'int' },
          { name: 'x', type: 'long' },
        ],
      },
      /^schema\.fields\.1 must have a name of its own/,
    ],
    [{ type: 'array' }, /^schema\.items must be a schema/],
    [
      { type: 'enum', name: 'E', namespace: 'n'.repeat(999), symbols: ['A'] },
      /^schema must have a name of at most 1000 characters/,
    ],
    [7, /^schema must be a schema/],
  ] as const)
    assert.throws(() => parseAvroSchema(rules), { message });
});

test('rules take schemas as they stand or as a text, and name what is wrong with them', () => {
  const parse = (valueRule: object) =>
    recordValidation.config.safeParse({ rules: [{ topicNames: ['t'], valueRule }] });
  const problemWith = (valueRule: object, given: Buffer) => {
    const rule = parse(valueRule).data!.ruleOf('t')!;
    const record = { offsetDelta: 0, timestampDelta: 0, key: null, value: given, headers: [] };
    return atOnce(problemSteps(record, rule));
  };
  const object = { type: 'object', required: ['id'] };
  for (const jsonSchema of [object, JSON.stringify(object)]) {
    assert.equal(problemWith({ jsonSchema }, Buffer.from('{"id":1}')), undefined);
    assert.equal(problemWith({ jsonSchema }, Buffer.from('{}')), 'the value does not fit its JSON schema');
    assert.equal(problemWith({ jsonSchema }, Buffer.from('{')), 'the value is not JSON');
    assert.match(
      problemWith({ jsonSchema }, Buffer.from(`{"id":"${'x'.repeat(300_000)}"}`))!,
      /more than 262144 bytes/,
    );
  }
  for (const schemaOf of ['string', { type: 'string' }, '{"type":"string"}']) {
    assert.equal(problemWith({ avro: { schema: schemaOf } }, Buffer.from('\u0004ab')), undefined);
    assert.equal(
      problemWith({ avro: { schema: schemaOf } }, Buffer.from('ab')),
      'the value does not fit its Avro schema',
    );
  }
  assert.equal(parse({ jsonSchema: '{secret' }).error!.issues[0]!.message, 'is a text that is not JSON');
  const wrong = parse({ jsonSchema: { pattern: 'x' } }).error!.issues[0]!;
  assert.deepEqual(
    [wrong.path.join('.'), wrong.message],
    ['rules.0.valueRule.jsonSchema', '#/pattern is not known here'],
  );
  assert.equal(
    parse({ avro: { schema: { type: 'B' } } }).error!.issues[0]!.path.join('.'),
    'rules.0.valueRule.avro.schema',
  );
});
