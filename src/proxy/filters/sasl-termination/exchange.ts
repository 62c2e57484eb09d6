/** What becomes of a message of a login. */
export type Step =
  /** It goes on: the client answers to this. */
  | { challenge: Buffer }
  /** It is proven; `lifetimeMs` is how long that holds, if it ends. */
  | { user: string; last: Buffer; lifetimeMs?: number }
  /** It is not. Why is for the log: clients are told no more than that. */
  | { refused: string };

/** One login under way. */
export interface Exchange {
  step(message: Buffer): Step | Promise<Step>;
}

/** A way to log in. */
export interface Mechanism {
  readonly name: string;
  start(): Exchange;
  close?(): void;
}
