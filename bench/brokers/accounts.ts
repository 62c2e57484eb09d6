/** What can be read off the operator's metrics and the audit log. Pure. */

/** Of a text of metrics: the sum over all label sets of a name. */
export function sumOf(text: string, name: string): number {
  const lines = text.split('\n').filter((line) => line.startsWith(`${name} `) || line.startsWith(`${name}{`));
  return lines.reduce((sum, line) => sum + Number(line.slice(line.lastIndexOf(' ') + 1)), 0);
}

/** What a longer list has beyond a shorter one, whatever their order; a word as often as it came since. */
export function addedTo(before: readonly string[], now: readonly string[]): string[] {
  const left = new Map<string, number>();
  for (const each of before) left.set(each, (left.get(each) ?? 0) + 1);
  return now.filter((each) => {
    const known = left.get(each) ?? 0;
    left.set(each, known - 1);
    return known <= 0;
  });
}
