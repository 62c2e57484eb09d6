import { z } from 'zod';
import { BoundedMap } from '../../../ops/bounded-map.ts';

/** How records are sealed: the original's format, value by value, or ours, batch by batch. */
export const FORMATS = ['kroxylicious/2', 'isthmus/1'] as const;
export type SealedFormat = (typeof FORMATS)[number];

/** What becomes of a topic's records. */
export type TopicPolicy =
  | {
      action: 'seal';
      /** The alias of the topic's key-encryption key. */
      alias: string;
      format: SealedFormat;
      /** Where the key service knows no such key. */
      withoutKey: 'refuse' | 'plain';
      /** Whether what is in the clear is delivered, too. */
      acceptPlain: boolean;
    }
  | { action: 'plain' }
  | { action: 'refuse' };

const TOPIC_TOKEN = '$(topicName)';
const MOST_RULES = 1000;
/** As long as a name may be that Kafka takes. */
const MOST_NAME = 249;
const REMEMBERED = 1000;

/** An alias, or a template of aliases. */
export const keyTemplate = z
  .string()
  .min(1)
  .refine(
    (text) => !/\$\((?!topicName\))/.test(text),
    `has a token other than ${TOPIC_TOKEN}, which is the only one there is`,
  );

const name = z.string().min(1).max(MOST_NAME);

const rule = z
  .strictObject({
    topic: name.optional(),
    prefix: name.optional(),
    pattern: name.optional(),
    action: z.enum(['seal', 'plain', 'refuse']),
    key: keyTemplate.optional(),
    format: z.enum(FORMATS).optional(),
    acceptPlain: z.boolean().optional(),
  })
  .superRefine((given, context) => {
    const { topic, prefix, pattern, action, key, format, acceptPlain } = given;
    const refuse = (path: string, message: string) =>
      context.addIssue({ code: 'custom', path: path === '' ? [] : [path], message });
    if ([topic, prefix, pattern].filter((each) => each !== undefined).length !== 1)
      refuse('', 'needs exactly one of topic, prefix and pattern');
    if (action === 'seal' && key === undefined) refuse('key', 'is needed to seal');
    if (action === 'seal') return;
    if (key !== undefined) refuse('key', `says nothing where the action is ${action}`);
    if (format !== undefined) refuse('format', `says nothing where the action is ${action}`);
    if (acceptPlain !== undefined) refuse('acceptPlain', `says nothing where the action is ${action}`);
  });

export type TopicRule = z.output<typeof rule>;

export const rulesSchema = z.array(rule).min(1).max(MOST_RULES);

/** The alias that a template gives a topic. */
export const aliasFrom = (template: string, topic: string): string =>
  template.replaceAll(TOPIC_TOKEN, () => topic);

/** What rules say of topics: the first that fits counts, and what none fits is refused. */
export function policyOfRules(rules: readonly TopicRule[]): (topic: string) => TopicPolicy {
  const known = new BoundedMap<string, TopicPolicy>(REMEMBERED);
  return (topic) => {
    const before = known.get(topic);
    if (before) return before;
    const found = rules.find((each) => fits(each, topic));
    const policy = found ? policyOf(found, topic) : ({ action: 'refuse' } as const);
    known.set(topic, policy);
    return policy;
  };
}

function policyOf({ action, key = '', format, acceptPlain }: TopicRule, topic: string): TopicPolicy {
  if (action !== 'seal') return { action };
  return {
    action,
    alias: aliasFrom(key, topic),
    format: format ?? 'kroxylicious/2',
    withoutKey: 'refuse',
    acceptPlain: acceptPlain ?? false,
  };
}

function fits({ topic, prefix, pattern }: TopicRule, name: string): boolean {
  if (topic !== undefined) return name === topic;
  if (prefix !== undefined) return name.startsWith(prefix);
  return matchesPattern(pattern!, name);
}

/**
 * Whether a name is one of a pattern's, in which `*` stands for any characters and `?` for one. Not a regular expression:
 * one that somebody wrote on purpose could keep a worker busy for ever, and names come from anybody.
 */
export function matchesPattern(pattern: string, name: string): boolean {
  let at = 0;
  let star = -1;
  let resume = 0;
  for (let i = 0; i < name.length;) {
    if (pattern[at] === '*') {
      star = at++;
      resume = i;
    } else if (at < pattern.length && (pattern[at] === '?' || pattern[at] === name[i])) {
      at++;
      i++;
    } else if (star >= 0) {
      at = star + 1;
      i = ++resume;
    } else return false;
  }
  while (pattern[at] === '*') at++;
  return at === pattern.length;
}
