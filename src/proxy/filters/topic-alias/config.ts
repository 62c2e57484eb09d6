import { z } from 'zod';

const MOST_ALIASES = 10_000;
const MOST_PREFIXES = 100;

const isTopic = (name: string) => /^[a-zA-Z0-9._-]{1,249}$/.test(name) && name !== '.' && name !== '..';
const topic = z.string().refine(isTopic, 'is no name that a topic can have');
const prefix = z.string().regex(/^[a-zA-Z0-9._-]{0,200}$/, 'is nothing that names of topics can begin with');

const one = z.strictObject({ alias: topic, topic });
const many = z
  .strictObject({ aliasPrefix: prefix, topicPrefix: prefix })
  .refine(({ aliasPrefix, topicPrefix }) => aliasPrefix !== '' || topicPrefix !== '', {
    message: 'of aliasPrefix and topicPrefix one must not be empty',
  });

export const topicAliasSchema = z
  .strictObject({
    aliases: z
      .array(z.union([one, many], 'must have alias and topic, or aliasPrefix and topicPrefix'))
      .min(1)
      .max(MOST_ALIASES),
    otherTopics: z.enum(['pass', 'hide']).default('pass'),
  })
  .superRefine(({ aliases }, context) => {
    const refuse = (i: number, key: string, message: string) =>
      context.addIssue({ code: 'custom', path: ['aliases', i, key], message });
    const names: Record<'alias' | 'topic', Map<string, number>> = { alias: new Map(), topic: new Map() };
    const before: { i: number; aliasPrefix: string; topicPrefix: string }[] = [];
    // A list that is too long for it is told so, and comes here all the same.
    for (const [i, each] of aliases.entries()) {
      if (before.length > MOST_PREFIXES) return;
      if ('alias' in each) {
        for (const key of ['alias', 'topic'] as const) {
          const other = names[key].get(each[key]);
          if (other !== undefined) refuse(i, key, `is that of aliases.${other}, too`);
          else names[key].set(each[key], i);
        }
        continue;
      }
      // One within another would hide what the other leads to.
      for (const key of ['aliasPrefix', 'topicPrefix'] as const) {
        const other = before.find(
          (known) => known[key].startsWith(each[key]) || each[key].startsWith(known[key]),
        );
        if (other) refuse(i, key, `begins like that of aliases.${other.i}, or the other way round`);
      }
      if (before.push({ i, ...each }) > MOST_PREFIXES)
        refuse(i, 'aliasPrefix', `is one of more than ${MOST_PREFIXES}`);
    }
  });

export type TopicAliasConfig = z.output<typeof topicAliasSchema>;
