/** Messages against what protoc and another implementation of Protocol Buffers make of them. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { test } from 'node:test';
import { create, createFileRegistry, fromBinary, toBinary } from '@bufbuild/protobuf';
import type { Message } from '@bufbuild/protobuf';
import { FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';
import fc from 'fast-check';
import { stepsDuring } from '../../../../test/support/steps.ts';
import { turnsDuring } from '../../../../test/support/turns.ts';
import { atOnce, inSlices } from '../../../ops/time-slice.ts';
import { problemSteps } from './check.ts';
import { protobufCheck } from './protobuf.ts';
import { readDescriptor } from './protobuf-descriptor.ts';
import { recordValidation } from './record-validation.ts';

const fixture = (name: string) =>
  readFileSync(resolve(import.meta.dirname, '../../../../test/fixtures/protobuf', name), 'utf8');
const DESCRIPTOR = Buffer.from(fixture('descriptor.txt'), 'base64');

const checkOf = (message: string, refusesUnknown = false, hasHeader = false) => {
  const check = protobufCheck(readDescriptor(DESCRIPTOR, message), { refusesUnknown, hasHeader });
  return (bytes: Buffer) => atOnce(check(bytes));
};
const hex = (text: string) => Buffer.from(text, 'hex');

test('what protoc reads with all that is required fits, and nothing else', () => {
  const check = checkOf('old.Event');
  /** Stricter than protoc: fields that have another form than their type, and strings of proto2 that are not UTF-8. */
  const stricter = new Set(['0a016e08010a016e', '0a016e0801', '0a01ff']);
  const lines = fixture('events.txt')
    .split('\n')
    .filter((line) => /^[^#]/.test(line));
  assert.ok(lines.length > 30);
  for (const line of lines) {
    const [given = '', verdict] = line.split(' ');
    assert.equal(check(hex(given)), verdict === 'fits' && !stricter.has(given), line);
  }
});

test('unknown fields, groups and numbers of closed enums are refused by choice', () => {
  for (const [given, fits] of [
    ['0a016e', true],
    ['0a016e900301', false],
    ['0a016e930308019403', false],
    ['0a016e3007', false],
    ['0a016e3a0107', false],
    ['0a016e3002', false],
    ['0a016e3001', true],
    ['0a016e12060801100218 01', false],
    ['0a016ea2060408011002', true],
  ] as const) {
    const bytes = hex(given.replace(' ', ''));
    assert.equal(checkOf('old.Event')(bytes), true, given);
    assert.equal(checkOf('old.Event', true)(bytes), fits, given);
  }
  // Enums of proto3 are open.
  assert.equal(checkOf('shop.Order', true)(hex('62024d4e')), true);
});

const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, DESCRIPTOR));
const ORDER = registry.getMessage('shop.Order')!;

const text = fc.string({ unit: 'grapheme', maxLength: 5 });
const big = (min: bigint, max: bigint) => fc.bigInt({ min, max });
const money = fc.record(
  { units: big(-(2n ** 63n), 2n ** 63n - 1n), nanos: fc.integer() },
  { requiredKeys: [] },
);
const level = fc.constantFrom(0, 2, 77);
const { order } = fc.letrec((tie) => ({
  order: fc.record(
    {
      id: text,
      numbers: fc.array(fc.integer(), { maxLength: 4 }),
      prices: fc.array(fc.double(), { maxLength: 4 }),
      totals: fc.dictionary(text, money, { maxKeys: 3, noNullPrototype: true }),
      lines: fc.array(
        fc.record(
          {
            sku: text,
            level,
            origin: fc.option(tie('order'), { nil: undefined, maxDepth: 1, depthIdentifier: 'order' }),
          },
          { requiredKeys: [] },
        ),
        { maxLength: 2 },
      ),
      payment: fc.oneof(
        fc.record({ case: fc.constant('card'), value: text }),
        fc.record({ case: fc.constant('cash'), value: money }),
        fc.record({ case: fc.constant('free'), value: fc.boolean() }),
      ),
      raw: fc.uint8Array({ maxLength: 5 }),
      count: fc.nat(),
      at: big(-(2n ** 63n), 2n ** 63n - 1n),
      levels: fc.array(level, { maxLength: 3 }),
      weight: fc.float(),
      big: big(0n, 2n ** 64n - 1n),
    },
    { requiredKeys: [], noNullPrototype: true },
  ),
}));

/** Whether something was read that the schema does not have. */
const hasUnknown = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  !ArrayBuffer.isView(value) &&
  ('$unknown' in value || Object.values(value).some(hasUnknown));

test('what is written by a schema fits it, and what fits can be read, whatever byte is changed', () => {
  const [allows, refuses, header] = [
    checkOf('shop.Order'),
    checkOf('shop.Order', true),
    checkOf('shop.Order', true, true),
  ];
  let [unreadable, readable] = [0, 0];
  fc.assert(
    fc.property(order, fc.nat(), fc.nat(255), (given, place, byte) => {
      const encoded = Buffer.from(toBinary(ORDER, create(ORDER, given as Message)));
      assert.equal(allows(encoded), true);
      assert.equal(refuses(encoded), true);
      assert.equal(header(Buffer.concat([hex('000000000700'), encoded])), true);
      const unknown = Buffer.concat([encoded, hex('f801'), Buffer.from([byte & 0x7f])]);
      assert.equal(allows(unknown), true);
      assert.equal(refuses(unknown), false);
      const changed = Buffer.from(encoded);
      if (changed.length > 0) changed[place % changed.length] = byte;
      for (const bytes of [changed, encoded.subarray(0, place % (encoded.length + 1))]) {
        if (!allows(bytes)) {
          unreadable += 1;
          continue;
        }
        readable += 1;
        // The other one keeps no unknown fields of what is replaced later, nor of entries of maps.
        const read = fromBinary(ORDER, bytes);
        if (refuses(bytes)) assert.ok(!hasUnknown(read), bytes.toString('hex'));
      }
    }),
    { numRuns: 300 },
  );
  assert.ok(unreadable > 50 && readable > 50, `${unreadable} ${readable}`);
});

test('whatever the bytes, the answer is yes or no', () => {
  const checks = [checkOf('shop.Order'), checkOf('old.Event', true), checkOf('shop.Order.Line', false, true)];
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 40 }), (bytes) => {
      for (const check of checks) assert.equal(typeof check(Buffer.from(bytes)), 'boolean');
    }),
  );
});

test('the header of a registry names the message by its place in the file', () => {
  const order = checkOf('shop.Order', false, true);
  // TotalsEntry, which stands for the map, is the first of the messages in Order for some serializers and none for others.
  const line = checkOf('shop.Order.Line', false, true);
  for (const [check, start, fits] of [
    [order, '000000000700', true],
    [order, '00000000070200', true],
    [order, '00000000070202', false],
    [order, '0000000007040000', false],
    [order, '010000000700', false],
    [order, '0000000007', false],
    [order, '00000007', false],
    [order, '0000000007feffffff0f', false],
    [order, '000000000701', false],
    [line, '0000000007040002', true],
    [line, '0000000007040000', true],
    [line, '0000000007040004', false],
  ] as const)
    assert.equal(check(hex(`${start}0a0178`)), fits, start);
});

test('messages nested deeper than parsers read are refused, and others have their turns during long ones', async () => {
  const nested = (depth: number) => {
    let bytes: Buffer = Buffer.alloc(0);
    for (let i = 0; i < depth; i++) {
      const { length } = bytes;
      const size = length < 128 ? [length] : [(length & 0x7f) | 0x80, length >> 7];
      bytes = Buffer.concat([Buffer.from([i % 2 === 0 ? 0x1a : 0x2a, ...size]), bytes]);
    }
    return bytes;
  };
  assert.equal(checkOf('shop.Order')(nested(100)), true);
  assert.equal(checkOf('shop.Order')(nested(102)), false);
  assert.equal(checkOf('shop.Order')(Buffer.alloc(50_000, 0x93)), false);
  const check = protobufCheck(readDescriptor(DESCRIPTOR, 'shop.Order'), {
    refusesUnknown: false,
    hasHeader: false,
  });
  const packed = Buffer.concat([hex('1280897a'), Buffer.alloc(2_000_000, 1)]);
  const unknown = Buffer.alloc(1_000_000, hex('f80101'));
  for (const bytes of [packed, unknown.subarray(0, 999_999)]) {
    const { result, turns } = await turnsDuring(() => inSlices(check(bytes)));
    assert.equal(result, true);
    assert.ok(turns > 20, `${turns} turns`);
  }
});

test('no end of messages whose required fields would have to be remembered is read', () => {
  const field = (name: string, number: number, more: object) => ({ name, number, label: 1, ...more });
  const inner = { type: 11, typeName: '.Node' };
  const node = {
    name: 'Node',
    field: [field('x', 1, { type: 5, label: 2 }), field('a', 2, inner), field('b', 3, inner)],
  };
  const set = toBinary(
    FileDescriptorSetSchema,
    create(FileDescriptorSetSchema, { file: [{ name: 'n', messageType: [node] }] }),
  );
  const check = protobufCheck(readDescriptor(Buffer.from(set), 'Node'), {
    refusesUnknown: true,
    hasHeader: false,
  });
  const sized = (tag: number, bytes: Buffer) =>
    Buffer.concat([
      Buffer.from([
        tag,
        (bytes.length & 0x7f) | 0x80,
        ((bytes.length >> 7) & 0x7f) | 0x80,
        bytes.length >> 14,
      ]),
      bytes,
    ]);
  const tree = (depth: number, least: Buffer): Buffer => {
    if (depth === 0) return least;
    const below = tree(depth - 1, least);
    return Buffer.concat([hex('0801'), sized(0x12, below), sized(0x1a, below)]);
  };
  assert.equal(atOnce(check(tree(10, hex('0801')))), true);
  assert.equal(atOnce(check(tree(10, hex('')))), false);
  assert.equal(atOnce(check(tree(16, hex('0801')))), false);
});

const parse = (protobuf: object, more: object = {}) =>
  recordValidation.config.safeParse({ rules: [{ topicNames: ['t'], valueRule: { protobuf, ...more } }] });

test('a descriptor is read in steps as many as it has messages, and each knows its place among the written ones', () => {
  const count = 3000;
  const nestedType = Array.from({ length: count }, (_, i) => ({
    name: `N${i}`,
    ...(i % 2 === 0 && { options: { mapEntry: true } }),
  }));
  const set = { file: [{ name: 'a.proto', messageType: [{ name: 'M', nestedType }] }] };
  const bytes = Buffer.from(toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, set)));
  let places: readonly string[] = [];
  const steps = stepsDuring(Array.prototype as never, ['indexOf', 'findIndex'], () => {
    ({ places } = readDescriptor(bytes, `M.N${count - 1}`));
  });
  assert.deepEqual(places, [`0,${count - 1}`, `0,${count / 2 - 1}`]);
  assert.ok(steps <= count, `${steps} steps`);
});

test('a rule has the descriptor as a text, and says what is wrong with it', () => {
  const descriptor = fixture('descriptor.txt');
  const problemWith = (value: Buffer, message: string, more: object = {}) => {
    const rule = parse({ descriptor, message, unknownFields: 'refuse' }, more).data!.ruleOf('t')!;
    return atOnce(problemSteps({ offsetDelta: 0, timestampDelta: 0, key: null, value, headers: [] }, rule));
  };
  const unfit = 'the value does not fit its Protobuf message';
  assert.equal(problemWith(hex('0a0161'), 'shop.Order'), undefined);
  assert.equal(problemWith(hex('0a01'), 'shop.Order'), unfit);
  assert.equal(problemWith(hex(''), 'shop.Order'), 'the value is empty');
  assert.equal(problemWith(hex(''), 'shop.Order', { allowEmpty: true }), undefined);
  assert.equal(problemWith(hex(''), 'old.Event', { allowEmpty: true }), unfit);
  const file = (name: string, body: object) => ({
    file: [{ name: 'a.proto', messageType: [{ name, ...body }] }],
  });
  const encode = (set: object) =>
    Buffer.from(toBinary(FileDescriptorSetSchema, create(FileDescriptorSetSchema, set))).toString('base64');
  const reference = { name: 'x', number: 1, type: 11, typeName: '.google.protobuf.Any' };
  for (const [given, message] of [
    [descriptor, /^has no message M$/],
    ['', /^has no message M$/],
    ['%', /base64/],
    ['CgEK', /^malformed FileDescriptorSet/],
    [
      encode(file('M', { field: [reference] })),
      /refers to \.google\.protobuf\.Any, which is not in it.*--include_imports/,
    ],
    [encode(file('M', { field: [{ name: 'x', number: 1 }] })), /^has a field x of no type/],
    [encode(file('x'.repeat(990), { nestedType: [{ name: 'inner-name' }] })), /^has a type whose full name/],
    [encode(file('x'.repeat(990), { enumType: [{ name: 'inner-name' }] })), /^has a type whose full name/],
    [encode(file('M', { options: { messageSetWireFormat: true } })), /message set \.M/],
    [
      encode({ file: [{ name: 'a', syntax: 'editions', edition: 1000, messageType: [{ name: 'M' }] }] }),
      /edition/,
    ],
  ] as const) {
    const issue = parse({ descriptor: given, message: 'M' }).error!.issues[0]!;
    assert.equal(issue.path.join('.'), 'rules.0.valueRule.protobuf.descriptor');
    assert.match(issue.message, message);
  }
  assert.ok(parse({ descriptor: encode(file('M', {})), message: 'M' }).success);
});
