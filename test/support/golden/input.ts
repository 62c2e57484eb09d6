/** Inputs of scenarios. Most say only in what they differ from another scenario's, with `from` and `without`. */
import { isDeepStrictEqual } from 'node:util';
import { parseAllDocuments } from 'yaml';

export interface InputDocument {
  kind: string;
  metadata?: { namespace?: string; name: string };
  [field: string]: unknown;
}

/** What a scenario says for itself; everything else in there is for the planner. */
interface ScenarioDocument extends InputDocument {
  from?: string;
  without?: string[];
}

const SCENARIO = 'Scenario';

/** All documents of a scenario; `read` gives the text of one's `in.yaml`. */
export function readInput(scenario: string, read: (scenario: string) => string): InputDocument[] {
  const own = parseInput(read(scenario));
  const { from, without = [], ...settings } = (own.get(SCENARIO) ?? { kind: SCENARIO }) as ScenarioDocument;
  own.delete(SCENARIO);
  const documents = from === undefined ? new Map<string, InputDocument>() : parseInput(read(from));
  if (from !== undefined && documents.size === 0)
    throw new Error(`${scenario}: there is no scenario ${from}`);
  if (documents.get(SCENARIO)?.['from']) throw new Error(`${scenario}: ${from} is itself from another`);
  documents.delete(SCENARIO);

  for (const title of without) {
    if (!documents.delete(title)) throw new Error(`${scenario}: ${from} has no ${title} to be without`);
  }
  for (const [title, document] of own) {
    const isRepeated = isDeepStrictEqual(documents.get(title), document);
    if (isRepeated) throw new Error(`${scenario}: ${title} is in ${from} already`);
    documents.set(title, document);
  }
  return [settings, ...documents.values()];
}

/** By `Kind name`, with the namespace before the name if there is one. */
function parseInput(text: string): Map<string, InputDocument> {
  const documents = new Map<string, InputDocument>();
  for (const document of parseAllDocuments(text)) {
    if (document.errors[0]) throw document.errors[0];
    const object = document.toJS() as InputDocument;
    const title = titleOf(object);
    if (documents.has(title)) throw new Error(`there are two of ${title}`);
    documents.set(title, object);
  }
  return documents;
}

export function titleOf({ kind, metadata }: InputDocument): string {
  if (!metadata) return kind;
  const { namespace, name } = metadata;
  return `${kind} ${namespace ? `${namespace}/` : ''}${name}`;
}
