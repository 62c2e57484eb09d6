import type { ApiName } from '../../../kafka/apis.ts';
import { changeMemberRequest, changeMemberResponse } from '../../../kafka/consumer-protocol.ts';
import type { KafkaErrorName } from '../../../kafka/errors.ts';
import { changeNames, changeTold, configResourcesIn, CONFIG_TOPIC } from '../../../kafka/names.ts';
import type { Requests, Responses } from '../../../kafka/schemas/types.ts';
import { splitRequest } from '../../../kafka/split-request.ts';
import type { Aliases } from './aliases.ts';
import { unusableIn } from './apis.ts';

/** Messages with the one's names to messages with the other's. Pure: no connection. */

/** What came of a request: it was changed in place, and what was taken out of it is answered. */
export type Translated =
  | { forward: true; answered?: Responses[ApiName] }
  | { respond: Responses[ApiName] }
  | { refuse: KafkaErrorName };

/** Gives all topics of a request the broker's names, in place. */
export function toBroker(
  aliases: Aliases,
  api: ApiName,
  apiVersion: number,
  request: Requests[ApiName],
): Translated {
  const unusable = new Set<string>();
  for (const name of topicsIn(api, request)) if (aliases.outward(name) === undefined) unusable.add(name);
  const treatment = unusableIn(api);
  let answered: Responses[ApiName] | undefined;
  if (unusable.size > 0) {
    if (treatment === 'refuse') return { refuse: 'UNKNOWN_TOPIC_OR_PARTITION' };
    if (treatment !== 'drop') {
      const isUnusable = (name: string) => unusable.has(name);
      const split = splitRequest(api, apiVersion, request, 'topicName', isUnusable, treatment.item);
      if ('respond' in split) return split;
      answered = split.partly;
    }
  }
  changeNames(`${api}Request`, request, (kind, name) =>
    kind === 'topicName' ? aliases.outward(name) : name,
  );
  for (const resource of configResourcesIn(api, request))
    if (resource.resourceType === CONFIG_TOPIC)
      resource.resourceName = aliases.outward(resource.resourceName) ?? '';
  changeMemberRequest(api, request, aliases.outward);
  return { forward: true, ...(answered && { answered }) };
}

function* topicsIn(api: ApiName, request: Requests[ApiName]): Generator<string> {
  const names: string[] = [];
  changeNames(`${api}Request`, request, (kind, name) => {
    if (kind === 'topicName') names.push(name);
    return name;
  });
  yield* names;
  for (const { resourceType, resourceName } of configResourcesIn(api, request))
    if (resourceType === CONFIG_TOPIC) yield resourceName;
}

/** Gives all topics of a response the clients' names, in place, also in what people are told; those that clients do not see are left out. */
export function toClient(aliases: Aliases, api: ApiName, response: Responses[ApiName]): void {
  const renamed = new Map<string, string>();
  const inward = (topic: string) => {
    const name = aliases.inward(topic);
    if (name !== undefined && name !== topic) renamed.set(topic, name);
    return name;
  };
  changeNames(`${api}Response`, response, (kind, name) => (kind === 'topicName' ? inward(name) : name));
  for (const resource of configResourcesIn(api, response))
    if (resource.resourceType === CONFIG_TOPIC) resource.resourceName = inward(resource.resourceName) ?? '';
  changeMemberResponse(api, response, aliases.inward);
  if (renamed.size > 0) changeTold(response, (text) => reword(text, renamed));
}

/** Where a topic's name stands by itself in a sentence: what names are made of is neither before nor behind it, but for a full stop. */
const WORD = /[a-zA-Z0-9_-](?:[a-zA-Z0-9._-]*[a-zA-Z0-9_-])?/g;

const reword = (text: string, renamed: ReadonlyMap<string, string>): string =>
  text.replace(WORD, (word) => renamed.get(word) ?? word);
