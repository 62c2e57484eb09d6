import { z } from 'zod';
import { tokenIssuer } from '../../../crypto/tokens/verifier.ts';
import { duration } from '../../filter.ts';

const MOST_USERS = 10_000;
const text = z.string().min(1).max(1000);

/** Users and their passwords, a line each: `name=password`. In one text, because that is what one key of a Secret is. */
const users = z
  .string()
  .max(1_048_576)
  .transform((lines, context): ReadonlyMap<string, string> => {
    const found = new Map<string, string>();
    for (const [i, line] of lines.split(/\r?\n/).entries()) {
      if (line.trim() === '' || line.startsWith('#')) continue;
      const at = line.indexOf('=');
      const [name, password] = [line.slice(0, at).trim(), line.slice(at + 1)];
      // Without the line: it may have a password in it.
      if (at < 1 || name === '' || password === '')
        context.addIssue({ code: 'custom', message: `line ${i + 1} is not name=password` });
      else if (found.has(name))
        context.addIssue({ code: 'custom', message: `line ${i + 1} has a name of before` });
      else found.set(name, password);
    }
    if (found.size > MOST_USERS)
      context.addIssue({ code: 'custom', message: `more than ${MOST_USERS} users` });
    return found;
  });

const passwords = z.strictObject({ mechanism: z.enum(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512']) });

const tokens = z.strictObject({ mechanism: z.literal('OAUTHBEARER'), ...tokenIssuer });

const identity = { username: text, password: text };

/** As whom the proxy logs in to the broker. */
const broker = z
  .strictObject({
    mechanism: z.enum(['PLAIN', 'SCRAM-SHA-256', 'SCRAM-SHA-512']),
    username: text.optional(),
    password: text.optional(),
    /** Whoever has an identity of their own at the broker. */
    users: z
      .array(z.strictObject({ principal: text, ...identity }))
      .max(MOST_USERS)
      .default([]),
  })
  .refine(({ username, password }) => (username === undefined) === (password === undefined), {
    message: 'username and password belong together',
  })
  .refine(({ username, users: own }) => username !== undefined || own.length > 0, {
    message: 'has to say as whom: a username, or users',
  })
  .refine(({ users: own }) => new Set(own.map(({ principal }) => principal)).size === own.length, {
    message: 'users has a principal twice',
  });

export type BrokerLogin = z.output<typeof broker>;

const isOfTokens = ({ mechanism }: { mechanism: string }) => mechanism === 'OAUTHBEARER';

export const saslTerminationSchema = z
  .strictObject({
    mechanisms: z.array(z.discriminatedUnion('mechanism', [passwords, tokens])).default([]),
    /** Whether a certificate that the client has shown is a login, too. */
    clientCertificates: z.boolean().default(false),
    users: users.optional(),
    broker: broker.optional(),
    maxTimeBeforeReauth: duration.refine((ms) => ms >= 10_000, 'must be at least 10s').optional(),
    fixedAuthDelay: duration.refine((ms) => ms <= 10_000, 'must be at most 10s').default(200),
  })
  .refine(
    ({ mechanisms }) => new Set(mechanisms.map(({ mechanism }) => mechanism)).size === mechanisms.length,
    {
      path: ['mechanisms'],
      message: 'has a mechanism twice',
    },
  )
  .refine(({ mechanisms, clientCertificates }) => mechanisms.length > 0 || clientCertificates, {
    path: ['mechanisms'],
    message: 'has to name one, unless clientCertificates is true',
  })
  .refine(({ users: all, mechanisms }) => all !== undefined || mechanisms.every(isOfTokens), {
    path: ['users'],
    message: 'is needed for PLAIN and SCRAM',
  });

export type SaslTerminationConfig = z.output<typeof saslTerminationSchema>;
