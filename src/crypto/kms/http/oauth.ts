import { z } from 'zod';
import { failureOf } from './client.ts';
import type { HttpAnswer } from './client.ts';
import type { Credential } from './credential.ts';

const tokenSchema = z.object({
  access_token: z.string().min(1),
  // Azure's metadata service writes it as text.
  expires_in: z.coerce.number().positive(),
});

export const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** The access token in the answer of a token service. */
export function accessTokenIn(answer: HttpAnswer, who: string): Credential<string> {
  if (answer.status !== 200) throw failureOf(answer, who);
  const { access_token: value, expires_in: seconds } = answer.json(tokenSchema);
  return { value, lifetimeMs: seconds * 1000 };
}
