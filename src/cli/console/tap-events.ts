/** Reads an event stream of the console, or of a proxy. */
import { readFileSync } from 'node:fs';
import { IsthmusError, messageOf } from '../../ops/errors.ts';

/** An event that is longer is none of the console's. */
const LONGEST_EVENT = 4_194_304;

/** The data of each event, until the signal; a stream that ends is an error. */
export async function* readEvents(
  url: URL,
  { tokenFile, signal }: { tokenFile: string | undefined; signal: AbortSignal },
): AsyncGenerator<string> {
  const unreachable = (why: string, cause?: unknown) =>
    new IsthmusError('CONSOLE_UNREACHABLE', `${url.origin}: ${why}`, { cause });
  try {
    const token = tokenFile === undefined ? undefined : readFileSync(tokenFile, 'utf8').trim();
    const headers = { accept: 'text/event-stream', ...(token && { authorization: `Bearer ${token}` }) };
    const response = await fetch(url, { headers, signal });
    const type = response.headers.get('content-type') ?? '';
    if (!response.ok || !type.startsWith('text/event-stream') || !response.body)
      throw unreachable(`it answers ${response.status}: ${(await response.text()).trim().slice(0, 200)}`);
    let rest = '';
    for await (const chunk of response.body.pipeThrough(new TextDecoderStream())) {
      const events = (rest + chunk).split('\n\n');
      rest = events.pop() ?? '';
      if (rest.length > LONGEST_EVENT) throw unreachable('it sends what no console sends');
      for (const event of events) {
        if (event.startsWith('event: full')) throw unreachable('too many streams are open; close some pages');
        if (event.startsWith('data: ')) yield event.slice('data: '.length);
      }
    }
    throw unreachable('it has ended');
  } catch (error) {
    if (signal.aborted) return;
    throw error instanceof IsthmusError ? error : unreachable(messageOf(error), error);
  }
}
