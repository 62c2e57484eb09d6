/** The documents of views as texts. */
import type { Sampler } from './sampler.ts';
import type { ConsoleSource } from './source.ts';
import { answerView } from './views/views.ts';

/** The same answer for all who ask within a moment. */
function freshly<T>(make: () => Promise<T>): () => Promise<T> {
  let known: { at: number; made: Promise<T> } | undefined;
  return () => {
    if (!known || performance.now() - known.at >= FRESH_MS) known = { at: performance.now(), made: make() };
    return known.made;
  };
}

export type Documents = (view: string, query: URLSearchParams) => Promise<string | undefined>;

/** How long a document is good enough for another one who asks for the same. */
const FRESH_MS = 250;
const MOST_DOCUMENTS = 64;

/** The documents of views, each made once for all who look at it. */
export function createDocuments(behind: ConsoleSource, sampler: Sampler): Documents {
  const source = { ...behind, world: freshly(() => behind.world()) };
  const made = new Map<string, { at: number; text: Promise<string | undefined> }>();
  return (view, query) => {
    const key = `${view}?${query.toString()}`;
    const known = made.get(key);
    if (known && performance.now() - known.at < FRESH_MS) return known.text;
    if (made.size >= MOST_DOCUMENTS) made.clear();
    const text = answerView(view, query, { source, sampler }).then((answer) =>
      answer === undefined ? undefined : JSON.stringify(answer),
    );
    made.set(key, { at: performance.now(), text });
    return text;
  };
}
