const COLOURS = { green: 32, yellow: 33, red: 31, dim: 2 } as const;

/** Text in a colour, where colours are wanted. */
export function paint(text: string, colour: keyof typeof COLOURS, isWanted: boolean): string {
  return isWanted ? `\u001b[${COLOURS[colour]}m${text}\u001b[0m` : text;
}
