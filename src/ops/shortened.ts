const LONGEST = 512;

/** A text of a stranger's, as long as it may stand in a line of the log. */
export function shortened(text: string): string {
  return text.length <= LONGEST ? text : `${text.slice(0, LONGEST)}… (${text.length} characters)`;
}
