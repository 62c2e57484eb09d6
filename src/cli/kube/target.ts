/** `KIND/NAME` on the command line. */
import { nearest } from '../../resources/nearest.ts';
import { KINDS } from '../../resources/registry.ts';
import type { Kind } from '../../resources/kind.ts';
import { IsthmusError } from '../../ops/errors.ts';

export interface Target {
  kind: Kind;
  name: string | undefined;
}

const wordsOf = ({ kind, plural, singular, shortNames }: Kind) =>
  [kind, plural, singular, ...shortNames].map((word) => word.toLowerCase());

/** The kind that a word means: as kubectl takes it, without regard to case. */
export function kindOf(word: string): Kind {
  const wanted = word.toLowerCase();
  const found = KINDS.find((kind) => wordsOf(kind).includes(wanted));
  if (found) return found;
  const words = KINDS.flatMap(wordsOf);
  const close = nearest(wanted, words);
  const hint =
    close === undefined ? `kinds are ${KINDS.map(({ plural }) => plural).join(', ')}` : `is it ${close}?`;
  throw new IsthmusError('USAGE', `there is no kind "${word}"; ${hint}`);
}

/** Reads `KIND`, `KIND/NAME`, or the two words. */
export function parseTarget(text: string, second?: string): Target {
  const [word = '', name = second, ...more] = text.split('/');
  if (more.length > 0 || name === '' || (second !== undefined && name !== second))
    throw new IsthmusError('USAGE', `write KIND/NAME or KIND NAME, not "${[text, second].join(' ').trim()}"`);
  return { kind: kindOf(word), name };
}

/** The same where a name is needed. */
export function parseNamed(text: string, second?: string): Target & { name: string } {
  const { kind, name } = parseTarget(text, second);
  if (name === undefined) throw new IsthmusError('USAGE', `name one: ${kind.singular}/NAME`);
  return { kind, name };
}
