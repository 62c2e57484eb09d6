/** Messages with bytes changed at random, as a hostile or broken peer would send them. */
import fc from 'fast-check';
import { MalformedMessage } from '../../../src/kafka/malformed.ts';
import { KINDS, messagesOf } from './messages.ts';
import type { Kind } from './messages.ts';

/**
 * Whether the message is refused. Nothing but MalformedMessage may come out, and what decodes all the same must encode
 * and decode again.
 */
export function attack(kind: Kind, bytes: Buffer): boolean {
  try {
    kind.codec.decode(kind.encode(kind.codec.decode(bytes)));
    return false;
  } catch (error) {
    if (!(error instanceof MalformedMessage)) throw error;
    return true;
  }
}

/** Attacks every API and version in turn; returns how many messages were refused. */
export function attackWithMutations(count: number, seed: number): number {
  const random = randomFrom(seed);
  const pick = (below: number) => Math.floor(random() * below);
  const samples = KINDS.map((kind) => {
    const wishes = { unknownTags: true, taggedDefaults: true };
    return fc.sample(messagesOf(kind, wishes), { numRuns: 2, seed }).map((each) => kind.encode(each));
  });
  let refused = 0;
  for (let i = 0; i < count; i++) {
    const which = i % KINDS.length;
    const bytes = Buffer.from(samples[which]![pick(2)]!);
    for (let edits = 1 + pick(4); edits > 0 && bytes.length > 0; edits--) mutate(bytes, pick);
    if (attack(KINDS[which]!, bytes)) refused++;
  }
  return refused;
}

function mutate(bytes: Buffer, pick: (below: number) => number): void {
  const at = pick(bytes.length);
  const extremes = [0, 1, 0x7f, 0x80, 0xff];
  if (pick(2) === 0) bytes[at] = extremes[pick(extremes.length)]!;
  else bytes[at]! ^= 1 << pick(8);
}

/** A small generator with a seed, so that a failure can be repeated. */
export function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4_294_967_296;
  };
}
