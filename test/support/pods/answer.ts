import { excerpt } from '../../../src/store/embedded/process.ts';
import type { Answer } from '../clusters/api.ts';

/** Throws unless the server did what it was asked. */
export function mustAnswer(answer: Answer | undefined, what: string): void {
  if (answer === undefined) throw new Error(`${what}: the API server does not answer`);
  if (answer.status >= 300) throw new Error(`${what}: ${answer.status} ${excerpt(answer.text)}`);
}
