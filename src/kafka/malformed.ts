/** The one error of every decoder: these bytes are not what they should be. */
export class MalformedMessage extends Error {
  /** What was being read, as in "Metadata request v12". */
  readonly what: string;
  /** Where in the buffer it went wrong. */
  readonly offset: number;

  constructor(what: string, reason: string, offset: number) {
    super(`malformed ${what}: ${reason} at byte ${offset}`);
    this.name = 'MalformedMessage';
    this.what = what;
    this.offset = offset;
  }
}
