/** What a word on the command line may become. Pure, apart from what is looked up in a cluster. */
import type { Argument, Command, Option } from 'commander';

/** What only a cluster, or a file, knows. Each gives nothing where it cannot know. */
export interface Lookup {
  kinds: () => Promise<string[]>;
  /** The names of a kind's objects; `words` has the flags that say where. */
  names: (kind: string, words: readonly string[]) => Promise<string[]>;
  namespaces: (words: readonly string[]) => Promise<string[]>;
  contexts: (words: readonly string[]) => Promise<string[]>;
  codes: () => Promise<string[]>;
}

export interface Completion {
  candidates: string[];
  /** Whether the shell is to offer files, because the word is a path. */
  files: boolean;
}

const words = (candidates: readonly string[]): Completion => ({ candidates: [...candidates], files: false });
const FILES: Completion = { candidates: [], files: true };

/** Completes the last of the words, which may be empty. */
export async function complete(
  program: Command,
  line: readonly string[],
  lookup: Lookup,
): Promise<Completion> {
  const before = line.slice(0, -1);
  const current = line.at(-1) ?? '';
  const { command, positionals, pending } = walk(program, before);
  const found = await candidatesFor({ command, positionals, pending, current, before, lookup });
  return { ...found, candidates: found.candidates.filter((one) => one.startsWith(current)) };
}

interface Place {
  command: Command;
  positionals: string[];
  /** The option that the current word is the value of. */
  pending: Option | undefined;
}

/** Where the words lead: into which command, past which arguments. */
function walk(program: Command, before: readonly string[]): Place {
  const place: Place = { command: program, positionals: [], pending: undefined };
  for (const word of before) {
    if (place.pending) place.pending = undefined;
    else if (word.startsWith('-')) place.pending = takesValue(optionOf(place.command, word));
    else {
      const next =
        place.positionals.length === 0 && place.command.commands.find((one) => one.name() === word);
      if (next) place.command = next;
      else place.positionals.push(word);
    }
  }
  return place;
}

const takesValue = (option: Option | undefined) =>
  option?.required || option?.optional ? option : undefined;

/** Options of a command and of those above it, which may be given after it, too. */
function optionsOf(command: Command): Option[] {
  return [...command.options, ...(command.parent ? optionsOf(command.parent) : [])].filter(
    ({ hidden }) => !hidden,
  );
}

const optionOf = (command: Command, word: string) =>
  optionsOf(command).find(({ long, short }) => word === long || word === short);

async function candidatesFor(at: Place & { current: string; before: readonly string[]; lookup: Lookup }) {
  const { command, pending, current, positionals, before, lookup } = at;
  if (pending) return valuesOf(pending, before, lookup);
  if (current.startsWith('-'))
    return words([...optionsOf(command).map(({ long, short }) => long ?? short ?? ''), '--help']);
  if (command.commands.length > 0 && positionals.length === 0)
    return words(command.commands.map((one) => one.name()));
  const argument = command.registeredArguments[positionals.length];
  return argument ? argumentValues(argument, at) : words([]);
}

async function valuesOf(option: Option, before: readonly string[], lookup: Lookup): Promise<Completion> {
  if (option.argChoices) return words(option.argChoices);
  const name = option.attributeName();
  if (name === 'namespace') return words(await lookup.namespaces(before));
  if (name === 'context') return words(await lookup.contexts(before));
  return /<(file|path|folder)>/.test(option.flags) ? FILES : words([]);
}

async function argumentValues(
  argument: Argument,
  {
    current,
    positionals,
    before,
    lookup,
  }: Pick<Place, 'positionals'> & {
    current: string;
    before: readonly string[];
    lookup: Lookup;
  },
): Promise<Completion> {
  if (argument.argChoices) return words(argument.argChoices);
  const [kind, hasName] = current.split('/');
  if (argument.name() === 'code') return words(await lookup.codes());
  if (argument.name() === 'kind' && hasName !== undefined) {
    const names = await lookup.names(kind ?? '', before);
    return words(names.map((name) => `${kind}/${name}`));
  }
  if (argument.name() === 'kind') return words(await lookup.kinds());
  const isName = argument.name() === 'name' && positionals[0] !== undefined && !positionals[0].includes('/');
  return words(isName ? await lookup.names(positionals[0]!, before) : []);
}
