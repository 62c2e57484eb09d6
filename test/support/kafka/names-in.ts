/** Where a message has names. Its own way of finding them, beside that of `kafka/names`, which it is to test. */
import { includes } from '../../../src/kafka/schema.ts';
import type { Field } from '../../../src/kafka/schema.ts';
import type { Values } from './messages.ts';

const ALL_KINDS = ['topicName', 'groupId', 'transactionalId'];

/** Every place of a message, in this version, that its schema marks as a name: read, and set. */
export function* namesIn(
  fields: Field[],
  version: number,
  value: Values,
  kinds: readonly string[] = ALL_KINDS,
): Generator<[() => string, (to: string) => void]> {
  for (const field of fields.filter(({ versions }) => includes(versions, version))) {
    const inner = value[field.name];
    if (inner === null || inner === undefined) continue;
    const isName = kinds.includes(field.names ?? '');
    if (isName && field.array) {
      const list = inner as string[];
      for (const i of list.keys()) yield [() => list[i]!, (to) => void (list[i] = to)];
    } else if (isName) yield [() => value[field.name] as string, (to) => void (value[field.name] = to)];
    else if (field.fields)
      for (const each of field.array ? (inner as Values[]) : [inner as Values])
        yield* namesIn(field.fields, version, each, kinds);
  }
}
