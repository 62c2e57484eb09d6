/** The few changes that a printed manifest may need before it can be applied, each with its reason. */

/** A change to lines of a printed block. Every edit must find its line, or the document is not the one it was for. */
export interface Edit {
  /** The line as printed, without the space at its end; every such line is changed. */
  line: string;
  /** Only where the line before it is this one. */
  after?: string;
  /** What stands there instead; nothing to leave it out. */
  instead: readonly string[];
  /** Left out as well: the lines up to this one, which stays. */
  until?: string;
  reason: string;
}

/** A printed placeholder with something in its place. */
export function fill(line: string, instead: string, reason: string, after?: string): Edit {
  return { line, instead: [instead], reason, ...(after !== undefined && { after }) };
}

/** One of several alternatives that are printed together, left out in favour of another. */
export function leaveOut(line: string, until: string, reason: string): Edit {
  return { line, instead: [], until, reason };
}

/** What becomes of the lines, and a comment for each change. */
export function applyEdits(
  printed: readonly string[],
  edits: readonly Edit[],
): { lines: string[]; notes: string[] } {
  let lines = printed.map((line) => line.trimEnd());
  const notes: string[] = [];
  for (const edit of edits) {
    const edited = applyEdit(lines, edit);
    if (edited === undefined) throw new Error(`nothing printed is "${edit.line}" (${edit.reason})`);
    lines = edited;
    notes.push(noteOf(edit));
  }
  return { lines, notes };
}

function applyEdit(lines: readonly string[], { line, after, instead, until }: Edit): string[] | undefined {
  const edited: string[] = [];
  let found = false;
  for (let index = 0; index < lines.length; index++) {
    const here = lines[index]!;
    if (here !== line || (after !== undefined && lines[index - 1] !== after)) {
      edited.push(here);
      continue;
    }
    found = true;
    edited.push(...instead);
    if (until !== undefined) index = lines.indexOf(until, index) - 1;
  }
  return found ? edited : undefined;
}

function noteOf({ line, instead, reason }: Edit): string {
  const change =
    instead.length > 0 ? `"${line.trim()}" → "${instead.join(' ').trim()}"` : `without "${line.trim()}"`;
  return `# ${change}: ${reason}`;
}

const LEFTOVER = [/^\s*(- )?\.\.\.$/, /:\s*[\w.]+\|[\w.]+/, /<[\w -]+>/];

/** Lines that still have a placeholder in them. */
export function placeholdersIn(lines: readonly string[]): string[] {
  return lines.filter((line) => {
    const code = line.replace(/(^|\s)#.*$/, '');
    return LEFTOVER.some((pattern) => pattern.test(code));
  });
}
