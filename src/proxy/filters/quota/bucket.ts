/** How long a client may save up what it does not use. */
const BURST_SECONDS = 1;

/**
 * What somebody may use, as Kafka counts it: all that is asked for is given, and what it was too much has to be waited
 * for afterwards. The debt has an end, so that nobody waits longer than `mostMs`. Pure: the caller has the clock.
 */
export class Bucket {
  readonly #rate: number;
  readonly #most: number;
  #level: number;
  #at: number;

  constructor(rate: number, mostMs: number, now: number) {
    this.#rate = rate;
    this.#most = (rate * mostMs) / 1000;
    this.#level = rate * BURST_SECONDS;
    this.#at = now;
  }

  /** Uses so much, and says how many milliseconds have to be waited before the next use. */
  take(amount: number, now: number): number {
    const refilled = this.#level + (Math.max(0, now - this.#at) * this.#rate) / 1000;
    this.#level = Math.max(-this.#most, Math.min(refilled, this.#rate * BURST_SECONDS) - amount);
    this.#at = now;
    return this.#level < 0 ? Math.ceil((-this.#level * 1000) / this.#rate) : 0;
  }
}
