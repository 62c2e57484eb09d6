/** Random schemas of Avro with their values, and what is to become of each when a field of it is masked with a text. */
import fc from 'fast-check';
import { recordSchema } from './avro.ts';

/** A schema, its values, and what is expected of it when it is masked with a text: undefined where that is refused. */
interface Sample {
  schema: unknown;
  value: fc.Arbitrary<unknown>;
  whole: { is: unknown } | undefined;
  /** A field below it, and a value with it masked. Undefined if it has no parts. */
  below: (draw: number[]) => { path: string[]; masks: Masks } | undefined;
}
/** What becomes of a value; undefined where masking is refused. */
type Masks = ((value: unknown) => unknown) | undefined;

export const MASK = '***';
let names = 0;
const leaf = (schema: string, value: fc.Arbitrary<unknown>, whole?: { is: unknown }): Sample => ({
  schema,
  value,
  whole,
  below: () => undefined,
});
/** A field of a sample: the sample itself, or one below it. */
const fieldOf = (sample: Sample, [here = 0, ...rest]: number[]): { path: string[]; masks: Masks } =>
  (here % 3 !== 0 && sample.below(rest)) || {
    path: [],
    masks: sample.whole && (() => sample.whole!.is),
  };
const each = (masks: Masks, apply: (one: NonNullable<Masks>) => (value: unknown) => unknown): Masks =>
  masks && apply(masks);

const sampleOf = fc.letrec<{ sample: Sample; some: Sample }>((tie) => ({
  sample: fc.oneof(
    { depthSize: 'medium' },
    tie('some'),
    tie('some').map((inner): Sample => ({
      schema: ['null', inner.schema],
      value: fc.option(inner.value),
      whole: inner.whole ?? { is: null },
      below: (draw) => {
        const found = inner.below(draw);
        return (
          found && {
            path: found.path,
            masks: each(found.masks, (one) => (value) => (value === null ? null : one(value))),
          }
        );
      },
    })),
  ),
  some: fc.oneof(
    { depthSize: 'medium' },
    fc.constantFrom(
      leaf('string', fc.string({ unit: 'grapheme', maxLength: 5 }), { is: MASK }),
      leaf('long', fc.integer()),
      leaf(
        'double',
        fc.integer().map((number) => number / 4),
      ),
      leaf('boolean', fc.boolean()),
    ),
    fc.array(tie('sample'), { minLength: 1, maxLength: 3 }).map(recordOf),
    tie('sample').map((inner): Sample => ({
      schema: { type: 'array', items: inner.schema },
      value: fc.array(inner.value, { maxLength: 3 }),
      whole: { is: [] },
      below: ([place = 0, ...draw]) => {
        const { path, masks } = fieldOf(inner, draw);
        const is = (i: number) => place % 2 === 0 || i === place % 3;
        return {
          path: [place % 2 === 0 ? '*' : String(place % 3), ...path],
          masks: each(
            masks,
            (one) => (value) => (value as unknown[]).map((item, i) => (is(i) ? one(item) : item)),
          ),
        };
      },
    })),
    tie('sample').map((inner): Sample => ({
      schema: { type: 'map', values: inner.schema },
      value: fc.dictionary(fc.constantFrom('k', 'l', 'm'), inner.value, { noNullPrototype: true }),
      whole: { is: {} },
      below: ([place = 0, ...draw]) => {
        const { path, masks } = fieldOf(inner, draw);
        const key = ['*', 'k', 'l'][place % 3]!;
        return {
          path: [key, ...path],
          masks: each(masks, (one) => (value) => maskKeys(value as object, key, one)),
        };
      },
    })),
  ),
}));

const maskKeys = (value: object, key: string, one: NonNullable<Masks>): object =>
  Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, key === '*' || key === name ? one(inner) : inner]),
  );

function recordOf(fields: Sample[]): Sample {
  const nameOf = (i: number) => `f${i}`;
  const isMaskable = fields.every(({ whole }) => whole);
  return {
    schema: recordSchema(
      `R${names++}`,
      Object.fromEntries(fields.map(({ schema }, i) => [nameOf(i), schema])),
    ),
    value: fc.record(Object.fromEntries(fields.map(({ value }, i) => [nameOf(i), value]))),
    whole: isMaskable
      ? { is: Object.fromEntries(fields.map(({ whole }, i) => [nameOf(i), whole!.is])) }
      : undefined,
    below: ([which = 0, ...draw]) => {
      const i = which % fields.length;
      const { path, masks } = fieldOf(fields[i]!, draw);
      return {
        path: [nameOf(i), ...path],
        masks: each(masks, (one) => (value) => maskKeys(value as object, nameOf(i), one)),
      };
    },
  };
}

/** A record with random fields, a value of it, and numbers by which one of the fields is drawn. */
export const maskedSamples = fc
  .tuple(
    fc.array(sampleOf.sample, { minLength: 1, maxLength: 3 }).map(recordOf),
    fc.array(fc.nat(99), { minLength: 20, maxLength: 20 }),
  )
  .chain(([sample, draw]) => sample.value.map((value) => ({ sample, draw, value })));
