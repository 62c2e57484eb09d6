/** Masked values of Avro against what avsc reads. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { turnsDuring } from '../../../../test/support/turns.ts';
import { MASK, maskedSamples } from '../../../../test/support/avro-samples.ts';
import { readAnyway, recordSchema as record, typeOf, zigZag } from '../../../../test/support/avro.ts';
import { atOnce, inSlices } from '../../../ops/time-slice.ts';
import type { AvroType } from '../../../kafka/values/avro-schema.ts';
import { planMasks, UnmaskableField } from './avro-plan.ts';
import { maskingSchema, maskingsOf } from './config.ts';

const parse = (rule: object) => maskingSchema.safeParse({ rules: [{ topics: ['t'], ...rule }] });
const maskingOf = (rule: object) =>
  maskingsOf(maskingSchema.parse({ rules: [{ topics: ['t'], ...rule }] }), 't', 'me')[0]!;

/** A value as avsc reads it after it was masked; undefined if nothing was. */
function masked(schema: unknown, value: unknown, rule: object): unknown {
  const type = typeOf(schema);
  const bytes = atOnce(maskingOf({ avro: { schema }, ...rule })(type.toBuffer(value)));
  return bytes && plain(type.fromBuffer(bytes));
}
const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value));
const CARD = record('Card', { number: 'string', limit: ['null', 'long'], open: 'boolean' });
const CUSTOMER = record('Customer', {
  id: 'long',
  email: ['null', 'string'],
  score: 'double',
  weight: 'float',
  age: 'int',
  raw: 'bytes',
  hash: { type: 'fixed', name: 'Hash', size: 4 },
  state: { type: 'enum', name: 'State', symbols: ['NEW', 'HIDDEN', 'OLD'] },
  card: ['null', CARD],
  cards: { type: 'array', items: 'Card' },
  notes: { type: 'map', values: 'string' },
  parent: ['null', 'Customer'],
});
const SOMEBODY = {
  id: 7,
  email: 'a@b.c',
  score: 1.5,
  weight: 2.5,
  age: 40,
  raw: Buffer.from('raw'),
  hash: Buffer.from('hash'),
  state: 'NEW',
  card: { number: '4111', limit: 5, open: true },
  cards: [
    { number: '1', limit: null, open: true },
    { number: '2', limit: 9, open: false },
  ],
  notes: { a: 'x', b: 'y' },
  parent: null,
};

test('each type becomes what the mask makes of it, and everything else stays', () => {
  for (const [fields, mask, change] of [
    [['email'], '***', { email: '***' }],
    [['email'], null, { email: null }],
    [['email'], 5, { email: null }],
    [['raw', 'hash'], 'ab', { raw: Buffer.from('ab'), hash: Buffer.from('ab\0\0') }],
    [['hash'], 'abcdef', { hash: Buffer.from('abcd') }],
    [['id', 'age', 'score', 'weight'], -3, { id: -3, age: -3, score: -3, weight: -3 }],
    [
      ['card.open', 'cards.*.open'],
      false,
      {
        card: { ...SOMEBODY.card, open: false },
        cards: SOMEBODY.cards.map((card) => ({ ...card, open: false })),
      },
    ],
    [['state'], 'HIDDEN', { state: 'HIDDEN' }],
    [
      ['cards.1.number', 'notes.b'],
      'n',
      { cards: [SOMEBODY.cards[0], { ...SOMEBODY.cards[1], number: 'n' }], notes: { a: 'x', b: 'n' } },
    ],
    [['cards', 'notes'], '***', { cards: [], notes: {} }],
    // A card has a boolean, for which a text is no mask; so there is none.
    [['card'], '***', { card: null }],
    [['card.*', 'cards.*.limit', 'parent.parent.email'], null, undefined],
  ] as const) {
    const rule = { fields, mask };
    if (change === undefined) assert.equal(parse({ avro: { schema: CUSTOMER }, ...rule }).success, false);
    else assert.deepEqual(masked(CUSTOMER, SOMEBODY, rule), plain({ ...SOMEBODY, ...change }), fields.join());
  }
  const nested = { ...SOMEBODY, parent: { ...SOMEBODY, parent: SOMEBODY } };
  assert.deepEqual(
    masked(CUSTOMER, nested, { fields: ['parent.parent.email', 'parent.notes.*'] }),
    plain({
      ...nested,
      parent: { ...nested.parent, notes: { a: '***', b: '***' }, parent: { ...SOMEBODY, email: '***' } },
    }),
  );
  assert.equal(
    masked(CUSTOMER, SOMEBODY, { fields: ['parent.email', 'cards.7.number', 'notes.c'] }),
    undefined,
  );
});

test('what cannot be masked is refused with its place when the configuration is loaded', () => {
  const avro = { schema: CUSTOMER };
  for (const [rule, place, message] of [
    [{ fields: ['email', 'id'], avro }, 'fields.1', /^is a long, whose mask has to be a whole number/],
    [{ fields: ['id'], mask: 0.5, avro }, 'fields.0', /^is a long/],
    [{ fields: ['age'], mask: 2 ** 31, avro }, 'fields.0', /^is an int/],
    [{ fields: ['weight'], mask: 1e300, avro }, 'fields.0', /^is a float/],
    [{ fields: ['score'], avro }, 'fields.0', /^is a double/],
    [{ fields: ['state'], avro }, 'fields.0', /^is an enum, whose mask has to be one of its symbols/],
    [{ fields: ['raw'], mask: null, avro }, 'fields.0', /^is bytes, whose mask has to be a text/],
    [{ fields: ['hash'], mask: 1, avro }, 'fields.0', /^is fixed/],
    [{ fields: ['notes.*'], mask: true, avro }, 'fields.0', /^is a string/],
    [{ fields: ['cards.*'], avro }, 'fields.0', /^is a record whose field open is a boolean/],
    [
      { fields: ['u'], avro: { schema: record('U', { u: ['int', 'long'] }) } },
      'fields.0',
      /^is a union that has neither/,
    ],
    [
      { fields: ['next'], avro: { schema: record('Chain', { next: 'Chain' }) } },
      'fields.0',
      /has itself among its fields$/,
    ],
    [{ fields: ['email', 'emial'], avro }, 'fields.1', /^leads to nothing in the schema/],
    [{ fields: ['email.x'], avro }, 'fields.0', /^leads to nothing/],
    [{ fields: ['cards.number'], avro }, 'fields.0', /^leads to nothing/],
    [{ fields: ['email'], avro: { schema: 'Nothing' } }, 'avro.schema', /^schema names a type/],
    [{ fields: ['email'], avro: { ...avro, confluentHeader: true } }, 'avro', /^must have a schema for/],
    [
      { fields: ['email'], avro: { schemas: [{ ids: [1], schema: CUSTOMER }] } },
      'avro',
      /^must have a schema for/,
    ],
    [{ fields: ['email'], avro: {} }, 'avro', /^must have a schema for/],
    [
      { fields: ['email'], avro: { apicurioHeader: true, schemas: [{ ids: [1, 1], schema: CUSTOMER }] } },
      'avro',
      /^has an id twice/,
    ],
    [
      { fields: ['email'], avro: { apicurioHeader: true, schemas: [{ ids: [], schema: CUSTOMER }] } },
      'avro.schemas.0.ids',
      /./,
    ],
    [
      { fields: ['email'], avro: { ...avro, confluentHeader: true, apicurioHeader: true } },
      'avro',
      /^has one header at most/,
    ],
    [
      { fields: ['a'], avro: { schema: { type: 'fixed', name: 'F', size: -1 } } },
      'avro.schema',
      /^schema\.size/,
    ],
  ] as const) {
    const issue = parse(rule).error?.issues[0];
    assert.ok(issue, place);
    assert.equal(issue.path.join('.'), `rules.0.${place}`);
    assert.match(issue.message, message);
  }
});

test('schemas without end, or with too many ways through them, are planned in no time or refused', () => {
  const branch = ['null', 'Tree'];
  const tree = record('Tree', { secret: 'string', a: branch, b: branch, c: branch });
  const far = `${'*.'.repeat(300)}secret`;
  assert.ok(parse({ fields: [far], avro: { schema: tree } }).success);
  const many = Array.from({ length: 1000 }, (_, i) => `${'*.'.repeat(400 + (i % 90))}secret`);
  assert.match(parse({ fields: many, avro: { schema: tree } }).error!.issues[0]!.message, /too many steps/);
  // Each record has the next one twice: as a whole, it would have 2^40 fields.
  let schema: object = record('R0', { a: 'string' });
  for (let i = 1; i < 40; i++) schema = record(`R${i}`, { a: schema, b: `R${i - 1}` });
  const whole = parse({ fields: ['a'], avro: { schema } });
  assert.match(whole.error!.issues[0]!.message, /too many parts|longer than/);
});

test('branches of unions and masked records count as steps, too, and all rules together take a bounded number of them', () => {
  let looks = 0;
  const nothing = {
    get kind() {
      looks += 1;
      return 'null';
    },
  } as AvroType;
  const fields: { name: string; type: AvroType }[] = [];
  const root: AvroType = { kind: 'record', fields };
  fields.push({
    name: 'a',
    type: { kind: 'union', branches: [...Array.from({ length: 2000 }, () => nothing), root] },
  });
  const paths = Array.from({ length: 100 }, (_, i) => [...Array<string>(500 - i).fill('*'), 'b']);
  assert.throws(() => planMasks(root, paths, null, { left: 10_000 }), UnmaskableField);
  assert.ok(looks > 0 && looks < 100_000, `${looks} looks`);

  // Each record holds 65 kB more than once removed: what is copied again and again is counted.
  let chain: AvroType = { kind: 'fixed', size: 65_000 };
  for (let i = 0; i < 50; i++) chain = { kind: 'record', fields: [{ name: 'a', type: chain }] };
  const whole = Array.from({ length: 50 }, (_, i) => Array<string>(i + 1).fill('a'));
  const copies = (50 * 51) / 2;
  assert.throws(() => planMasks(chain, whole, 'x', { left: copies * 500 }), UnmaskableField);
  assert.ok(planMasks(chain, whole, 'x', { left: copies * 2000 }).replacement);

  const branch = ['null', 'Tree'];
  const tree = record('Tree', { secret: 'string', a: branch, b: branch, c: branch });
  const rule = { topics: ['t'], fields: [`${'*.'.repeat(400)}secret`], avro: { schema: tree } };
  const rules = (count: number) =>
    maskingSchema.safeParse({ rules: Array.from({ length: count }, () => rule) });
  assert.ok(rules(10).success);
  const [issue] = rules(500).error!.issues;
  assert.match(issue!.message, /^takes too many steps through the schemas/);
  assert.deepEqual([issue!.path[0], ...issue!.path.slice(2)], ['rules', 'fields', 0]);
});

test('a value is masked by the schema that its header names, and as a whole if there is none', () => {
  const old = record('Old', { email: 'string' });
  const newer = record('New', { note: 'string', email: 'string', phone: 'string' });
  const other = record('Other', { id: 'long' });
  const rule = { fields: ['email', 'phone'] };
  const confluent = {
    ...rule,
    avro: {
      confluentHeader: true,
      schemas: [
        { ids: [1, 2], schema: old },
        { ids: [0xffff_ffff], schema: newer },
        { ids: [4], schema: other },
      ],
    },
  };
  const apicurio = { ...rule, avro: { apicurioHeader: true, schemas: [{ ids: [2 ** 33], schema: newer }] } };
  const of = (header: string, schema: object, value: object, by: object = confluent) => {
    const bytes = Buffer.concat([Buffer.from(header, 'hex'), typeOf(schema).toBuffer(value)]);
    const result = atOnce(maskingOf(by)(bytes));
    if (!result || result[0] !== 0) return result?.toString();
    assert.equal(result.toString('hex', 0, header.length / 2), header);
    return plain(typeOf(schema).fromBuffer(result.subarray(header.length / 2)));
  };
  assert.deepEqual(of('0000000001', old, { email: 'x' }), { email: '***' });
  assert.deepEqual(of('0000000002', old, { email: 'x' }), { email: '***' });
  const all = { note: 'n', email: 'x', phone: '1' };
  assert.deepEqual(of('00ffffffff', newer, all), { note: 'n', email: '***', phone: '***' });
  assert.equal(of('0000000004', other, { id: 1 }), undefined);
  assert.deepEqual(of('000000000200000000', newer, all, apicurio), { note: 'n', email: '***', phone: '***' });
  assert.equal(of('000000000200000001', newer, all, apicurio), '"***"');
  for (const header of ['0000000003', '0100000001', '000000000300000000', '', '00'])
    assert.equal(of(header, old, { email: 'x' }), '"***"', header);
  assert.equal(of('0000000001', newer, all), '"***"');
});

test('whatever the schema: masked fields are the mask, all others what they were, and avsc reads it', () => {
  const seen = { refused: 0, masked: 0, untouched: 0 };
  fc.assert(
    fc.property(maskedSamples, ({ sample: { schema, below }, draw, value }) => {
      const { path, masks } = below(draw)!;
      const rule = { fields: [path.join('.')], mask: MASK, avro: { schema } };
      assert.equal(parse(rule).success, masks !== undefined, `${JSON.stringify(schema)} ${path.join('.')}`);
      if (!masks) {
        seen.refused += 1;
        return;
      }
      const result = masked(schema, value, rule);
      if (result === undefined) seen.untouched += 1;
      else seen.masked += 1;
      assert.deepEqual(
        result ?? plain(value),
        plain(masks(value)),
        `${JSON.stringify(schema)} ${path.join('.')}`,
      );
    }),
    { numRuns: 400 },
  );
  assert.ok(Math.min(...Object.values(seen)) > 20, JSON.stringify(seen));
});

test('blocks that say how long they are stay readable when what is in them becomes longer or shorter', () => {
  const schema = { type: 'array', items: record('Item', { secret: 'string', n: 'int' }) };
  const type = typeOf(schema);
  const item = typeOf(schema.items);
  const items = fc.array(fc.record({ secret: fc.string({ maxLength: 200 }), n: fc.integer() }), {
    minLength: 1,
    maxLength: 3,
  });
  fc.assert(
    fc.property(fc.array(fc.tuple(items, fc.boolean()), { maxLength: 4 }), (blocks) => {
      const encoded = blocks.flatMap(([list, isSized]) => {
        const body = Buffer.concat(list.map((one) => item.toBuffer(one)));
        return isSized ? [zigZag(-list.length), zigZag(body.length), body] : [zigZag(list.length), body];
      });
      const bytes = Buffer.concat([...encoded, zigZag(0)]);
      const all = blocks.flatMap(([list]) => list);
      const result = atOnce(maskingOf({ fields: ['*.secret'], avro: { schema } })(bytes)) ?? bytes;
      assert.deepEqual(
        plain(type.fromBuffer(result)),
        all.map(({ n }) => ({ secret: MASK, n })),
      );
    }),
  );
  const wrong = Buffer.concat([zigZag(-1), zigZag(9), item.toBuffer({ secret: 'x', n: 1 }), zigZag(0)]);
  assert.equal(atOnce(maskingOf({ fields: ['*.secret'], avro: { schema } })(wrong))?.toString(), '"***"');
});

test('no bytes make it throw: what it leaves or makes is readable, and all else is masked as a whole', () => {
  const type = typeOf(CUSTOMER);
  const fields = ['email', 'card.number', 'cards.*.number', 'notes.*', 'parent.email'];
  const mask = maskingOf({ fields, avro: { schema: CUSTOMER } });
  let whole = 0;
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 100 }).map((each) => Buffer.from(each)),
    fc.tuple(fc.nat(), fc.nat(255)).map(([place, byte]) => {
      const encoded = type.toBuffer(SOMEBODY);
      encoded[place % encoded.length] = byte;
      return encoded;
    }),
    fc.nat().map((length) => type.toBuffer(SOMEBODY).subarray(0, length % type.toBuffer(SOMEBODY).length)),
  );
  fc.assert(
    fc.property(bytes, (given) => {
      const result = atOnce(mask(given)) ?? given;
      if (result.equals(Buffer.from('"***"'))) whole += 1;
      else readAnyway(type, result);
    }),
    { numRuns: 1000 },
  );
  assert.ok(whole > 300, `${whole}`);
});

test('others have their turns while one long value is masked, and what is too deep or too much is masked as a whole', async () => {
  const item = record('Item', { secret: ['null', 'string'], n: 'int' });
  const list = { type: 'array', items: item };
  const of = (length: number) => typeOf(list).toBuffer(Array.from({ length }, () => ({ secret: 'x', n: 1 })));
  const mask = maskingOf({ fields: ['*.secret'], avro: { schema: list } });
  const { result, turns } = await turnsDuring(() => inSlices(mask(of(200_000))));
  assert.ok(turns > 20, `${turns} turns`);
  assert.equal(result!.length, of(200_000).length + 2 * 200_000);
  assert.equal(atOnce(mask(of(600_000)))?.toString(), '"***"');
  const longer = maskingOf({ fields: ['*.secret'], mask: 'x'.repeat(999), avro: { schema: list } });
  assert.equal(atOnce(longer(of(1000)))?.toString(), JSON.stringify('x'.repeat(999)));
  const chain = record('Chain', { secret: 'string', next: ['null', 'Chain'] });
  const deep = (length: number): object | null =>
    length === 0 ? null : { secret: 'x', next: deep(length - 1) };
  const first = maskingOf({ fields: ['secret'], avro: { schema: chain } });
  for (const [depth, isWhole] of [
    [200, false],
    [201, true],
  ] as const)
    assert.equal(
      atOnce(first(typeOf(chain).toBuffer(deep(depth))))?.toString() === '"***"',
      isWhole,
      `${depth}`,
    );
});
