import type { ApiName } from '../../../kafka/apis.ts';
import { errorOf } from '../../../kafka/errors.ts';
import { changeNames } from '../../../kafka/names.ts';
import type { NameKind } from '../../../kafka/names.ts';
import { shortened } from '../../../ops/shortened.ts';

/** What an entry says of a message. Pure, and bounded: a request may name a million things. */

/** By kind: the names that a request is about, and how many more there were. */
export interface Named {
  topics?: string[];
  groups?: string[];
  transactionalIds?: string[];
  more?: number;
}

const MOST_NAMES = 50;
const MOST_ERRORS = 10;
const FIELDS = {
  topicName: 'topics',
  groupId: 'groups',
  transactionalId: 'transactionalIds',
} as const satisfies Record<NameKind, keyof Named>;

/** The names in a request, each once, and those of the topics that it has by their ids. */
export function namesIn(api: ApiName, request: object, byId: readonly string[] = []): Named {
  const named: Named = {};
  const seen = new Set<string>();
  const add = (kind: NameKind, name: string) => {
    const id = `${kind} ${name}`;
    if (name === '' || seen.has(id)) return name;
    if (seen.size < MOST_NAMES) {
      seen.add(id);
      (named[FIELDS[kind]] ??= []).push(shortened(name));
    } else named.more = (named.more ?? 0) + 1;
    return name;
  };
  changeNames(`${api}Request`, request, add);
  for (const topic of byId) add('topicName', topic);
  return named;
}

/** The names of the errors in a response, each once. */
export function errorsIn(response: object): string[] {
  const errors = new Set<number>();
  collectErrors(response, errors);
  return [...errors].slice(0, MOST_ERRORS).map((code) => errorOf(code).name);
}

const CODES = new Set(['errorCode', 'partitionErrorCode', 'acknowledgeErrorCode']);

function collectErrors(value: object, into: Set<number>): void {
  for (const [name, inner] of Object.entries(value)) {
    if (typeof inner === 'number' && inner !== 0 && CODES.has(name)) into.add(inner);
    else if (typeof inner === 'object' && inner !== null && !Buffer.isBuffer(inner))
      collectErrors(inner, into);
  }
}
