import type { ApiName } from '../../../kafka/apis.ts';
import type { KafkaErrorName } from '../../../kafka/errors.ts';
import { changeNames } from '../../../kafka/names.ts';
import type { NameKind } from '../../../kafka/names.ts';
import type { Requests, Responses } from '../../../kafka/schemas/types.ts';
import { splitRequest } from '../../../kafka/split-request.ts';
import type { Split } from '../../../kafka/split-request.ts';
import { RESOURCE_OF, RIGHTS } from './rights.ts';
import type { Operation, ResourceType } from './rules.ts';

/** What of a request is denied, and what is left of it. Decisions alone: no connection, no log. */

/** Whether the client may do this; part of the rules. */
export type May = (operation: Operation, resource: ResourceType, name: string) => boolean;

/** Something that a request names, and what it wants of it. */
export interface Wish {
  kind: NameKind;
  operation: Operation;
  name: string;
}

const CODES: Record<NameKind, KafkaErrorName> = {
  topicName: 'TOPIC_AUTHORIZATION_FAILED',
  groupId: 'GROUP_AUTHORIZATION_FAILED',
  transactionalId: 'TRANSACTIONAL_ID_AUTHORIZATION_FAILED',
};

/** What becomes of a request. */
export type Judgement =
  | { allowed: true }
  /** As a whole. */
  | { refuse: KafkaErrorName }
  /** What is denied was taken out. */
  | Split;

const CONFIG_KINDS: Partial<Record<number, NameKind>> = { 2: 'topicName', 32: 'groupId' };
const COORDINATOR_KINDS: Partial<Record<number, NameKind>> = { 0: 'groupId', 1: 'transactionalId' };

/** Everything that a request names: by its schema, and in fields that are names by what stands beside them. */
export function* namedIn(
  api: ApiName,
  apiVersion: number,
  request: Requests[ApiName],
): Generator<[NameKind | undefined, string]> {
  const found: [NameKind, string][] = [];
  const note = (kind: NameKind, name: string) => {
    found.push([kind, name]);
    return name;
  };
  changeNames(`${api}Request`, request, note, apiVersion);
  yield* found;
  if (api === 'FindCoordinator') {
    const { keyType, key, coordinatorKeys } = request as Requests['FindCoordinator'];
    for (const each of coordinatorKeys.length > 0 ? coordinatorKeys : [key])
      yield [COORDINATOR_KINDS[keyType], each];
  }
  if (api === 'DescribeConfigs' || api === 'AlterConfigs' || api === 'IncrementalAlterConfigs')
    for (const { resourceType, resourceName } of (request as Requests['AlterConfigs']).resources)
      yield [CONFIG_KINDS[resourceType], resourceName];
}

/** What of it is denied; `cluster` if it is about something that has no rights here. */
export function denialsIn(
  api: ApiName,
  apiVersion: number,
  request: Requests[ApiName],
  topics: Iterable<string>,
  may: May,
): Wish[] | 'cluster' {
  const denials = new Map<string, Wish>();
  for (const wish of wishesOf(api, apiVersion, request, topics)) {
    if (wish === 'cluster') return 'cluster';
    const { kind, operation, name } = wish;
    if (!may(operation, RESOURCE_OF[kind], name)) denials.set(`${kind} ${name}`, wish);
  }
  return [...denials.values()];
}

/** What of it is not denied. To be asked for before what is denied is taken out. */
export function allowedIn(
  api: ApiName,
  apiVersion: number,
  request: Requests[ApiName],
  topics: Iterable<string>,
  denials: readonly Wish[],
): Wish[] {
  const denied = new Set(denials.map(({ kind, name }) => `${kind} ${name}`));
  const allowed = new Map<string, Wish>();
  for (const wish of wishesOf(api, apiVersion, request, topics)) {
    if (wish === 'cluster') continue;
    const key = `${wish.kind} ${wish.name}`;
    if (!denied.has(key)) allowed.set(key, wish);
  }
  return [...allowed.values()];
}

/** What a request names and needs a right for; `cluster` where it is about something that has none here. */
function* wishesOf(
  api: ApiName,
  apiVersion: number,
  request: Requests[ApiName],
  topics: Iterable<string>,
): Generator<Wish | 'cluster'> {
  const rights = RIGHTS[api] ?? {};
  const byId = function* (): Generator<[NameKind, string]> {
    for (const topic of topics) yield ['topicName', topic];
  };
  for (const named of [namedIn(api, apiVersion, request), byId()])
    for (const [kind, name] of named) {
      const operation = kind && rights[kind];
      if (kind === undefined) yield 'cluster';
      // Without a name: brokers refuse it.
      else if (operation && (name !== '' || kind === 'groupId')) yield { kind, operation, name };
    }
}

/** Takes what is denied out of a request, where its parts are answered one by one. */
export function judge(
  api: ApiName,
  apiVersion: number,
  request: Requests[ApiName],
  denials: readonly Wish[] | 'cluster',
): Judgement {
  if (denials === 'cluster') return { refuse: 'CLUSTER_AUTHORIZATION_FAILED' };
  const [first] = denials;
  if (!first) return { allowed: true };
  const { items } = RIGHTS[api] ?? {};
  const other = denials.find(({ kind }) => kind !== items);
  if (other) return { refuse: CODES[other.kind] };
  const denied = new Set(denials.map(({ name }) => name));
  return splitRequest(api, apiVersion, request, first.kind, (name) => denied.has(name), CODES[first.kind]);
}

/** Takes out of a response what the client may not even know of. */
export function hideUndescribed(api: ApiName, response: Responses[ApiName], may: May): void {
  changeNames(`${api}Response`, response, (kind, name) =>
    name === '' || may('DESCRIBE', RESOURCE_OF[kind], name) ? name : undefined,
  );
}
