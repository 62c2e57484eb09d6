import type { ApiName } from '../../../kafka/apis.ts';
import { changeNames } from '../../../kafka/names.ts';
import type { NameKind } from '../../../kafka/names.ts';
import type { Requests, Responses } from '../../../kafka/schemas/types.ts';
import { inSlices } from '../../../ops/time-slice.ts';
import { namedIn } from './check.ts';
import type { May } from './check.ts';
import { RESOURCE_OF, RIGHTS } from './rights.ts';
import type { Operation, UserRules } from './rules.ts';

/** A question that a message will lead to. */
type Question = [Operation, NameKind, string];

/** So many rules are gone through within a few milliseconds. */
const FEW = 50_000;

/**
 * The same decisions, made before they are asked for where they take long: a message may have a million names and somebody may have written thousands of rules,
 * and others must have their turns meanwhile.
 */
export async function decideAhead(rules: UserRules, questions: () => Iterable<Question>): Promise<May> {
  const { size } = rules;
  const may: May = (...question) => rules.may(...question);
  if (size === 0) return may;
  const list = [...questions()];
  if (list.length * size <= FEW) return may;
  const decided = new Map<string, boolean>();
  await inSlices(decideSteps(may, list, decided));
  return (operation, resource, name) =>
    decided.get(`${operation} ${resource} ${name}`) ?? may(operation, resource, name);
}

function* decideSteps(
  may: May,
  questions: readonly Question[],
  decided: Map<string, boolean>,
): Generator<undefined, void> {
  for (const [operation, kind, name] of questions) {
    const resource = RESOURCE_OF[kind];
    const key = `${operation} ${resource} ${name}`;
    if (!decided.has(key)) decided.set(key, may(operation, resource, name));
    yield;
  }
}

/** What is asked about a request: of all that it names, and of topics that it has ids of. */
export function* askedOfRequest(
  api: ApiName,
  apiVersion: number,
  request: Requests[ApiName],
  topics: Iterable<string>,
): Generator<Question> {
  const rights = RIGHTS[api] ?? {};
  for (const [kind, name] of namedIn(api, apiVersion, request)) {
    if (kind && rights[kind]) yield [rights[kind], kind, name];
    if (api === 'Metadata') yield ['CREATE', 'topicName', name];
  }
  if (rights.topicName) for (const topic of topics) yield [rights.topicName, 'topicName', topic];
}

/** What is asked about a response that may name what was not asked for. */
export function askedOfResponse(api: ApiName, response: Responses[ApiName]): Question[] {
  const questions: Question[] = [];
  changeNames(`${api}Response`, response, (kind, name) => {
    questions.push(['DESCRIBE', kind, name]);
    return name;
  });
  return questions;
}
