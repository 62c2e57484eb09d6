/** What of the traffic is shown to whoever looks on. While nobody does, it costs the look at one boolean. */

/** A request and what became of it, or a connection that was closed. Never anything of a record. */
export interface TapEntry {
  /** When it came, in milliseconds since 1970. */
  at: number;
  virtualCluster: string;
  client: string;
  /** The subject of the client's certificate, if it showed one that we trust. */
  principal: string | undefined;
  clientId: string | undefined;
  /** Undefined where a connection ended, with or without requests. */
  api: string | undefined;
  apiVersion: number | undefined;
  /** The first topic that the request names; the id of one whose name has not come by yet. */
  topic: string | undefined;
  verdict: Verdict;
  /** Why it was closed. */
  reason: string | undefined;
  /** From the request to the first byte of the response; undefined where none came. */
  latencyMs: number | undefined;
  requestBytes: number;
  responseBytes: number;
}

/** `answered` is by the proxy itself, in place of the broker. */
export type Verdict = 'forwarded' | 'answered' | 'closed';

/** Some entries, and how many more there were. */
export interface TapBatch {
  entries: TapEntry[];
  missed: number;
}

/** How often batches are sent, and how many requests each has at most: those that come first. */
const BEAT_MS = 100;
export const MOST_A_BEAT = 50;

export class Tap {
  /** Whether anybody looks on. */
  on = false;
  readonly #send: (batch: TapBatch) => void;
  #entries: TapEntry[] = [];
  #admitted = 0;
  #missed = 0;
  #beat: NodeJS.Timeout | undefined;

  constructor(send: (batch: TapBatch) => void = () => {}) {
    this.#send = send;
  }

  set(on: boolean): void {
    if (on === this.on) return;
    this.on = on;
    clearInterval(this.#beat);
    this.#entries = [];
    this.#admitted = this.#missed = 0;
    if (on) this.#beat = setInterval(() => this.#flush(), BEAT_MS).unref();
  }

  /** Whether one more request can be shown; one that cannot is counted. To be asked before anything is read of it. */
  admits(): boolean {
    if (this.#admitted < MOST_A_BEAT) {
      this.#admitted += 1;
      return true;
    }
    this.#missed += 1;
    return false;
  }

  /** Shows an entry that was admitted, now or in a beat before. Slow answers may all come at once. */
  show(entry: TapEntry): void {
    if (!this.on) return;
    if (this.#entries.length < 2 * MOST_A_BEAT) this.#entries.push(entry);
    else this.#missed += 1;
  }

  #flush(): void {
    this.#admitted = 0;
    if (this.#entries.length === 0 && this.#missed === 0) return;
    const batch = { entries: this.#entries, missed: this.#missed };
    this.#entries = [];
    this.#missed = 0;
    this.#send(batch);
  }
}
