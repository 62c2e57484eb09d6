/** Who looks. The token goes to the server once, and is nowhere in the page after that. */
import { signal } from '@preact/signals';
import type { SessionView, Sight } from '../api.ts';

/** Undefined until the server has said it. */
export const session = signal<SessionView | undefined>(undefined);

/** Whether the server can see this from where it is. */
export const sees = (sight: Sight) => session.value?.sees.includes(sight) ?? false;

/** Asks anew, as after a refusal. A server that does not answer changes nothing. */
export async function refreshSession(): Promise<void> {
  const answer = await fetch('/session').catch(() => undefined);
  if (answer?.ok) session.value = (await answer.json()) as SessionView;
}

/** What the server says against it; undefined if it does not. */
export async function logIn(token: string): Promise<string | undefined> {
  const answer = await fetch('/session', {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify({ token }),
  }).catch(() => undefined);
  if (!answer) return 'the server does not answer';
  if (!answer.ok) return answer.text();
  session.value = (await answer.json()) as SessionView;
  return undefined;
}

export async function logOut(): Promise<void> {
  const answer = await fetch('/session', { method: 'DELETE' }).catch(() => undefined);
  if (answer?.ok) session.value = (await answer.json()) as SessionView;
}
