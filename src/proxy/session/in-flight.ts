/** A request on its way: Kafka answers in the order of asking, so these are a queue. */
export interface InFlightRequest {
  correlationId: number;
  apiKey: number;
  apiVersion: number;
  /** By `performance.now()`. */
  since: number;
  /** The answer, where it is ours and waits for its turn. */
  answer: Buffer | undefined;
  /** Who asked, where it was not the client; told undefined if no answer will come. */
  asker: ((frame: Buffer | undefined) => void) | undefined;
}

/** The requests of one connection that are not answered yet, oldest first. */
export class InFlightQueue {
  #slots: (InFlightRequest | undefined)[] = Array.from({ length: 8 }, () => undefined);
  #head = 0;
  length = 0;

  /** Whether an answer of ours is among them. */
  get hasAnswers(): boolean {
    return this.#slots.some((pending) => pending?.answer !== undefined);
  }

  get first(): InFlightRequest | undefined {
    return this.#slots[this.#head];
  }

  push(pending: InFlightRequest): void {
    if (this.length === this.#slots.length) this.#grow();
    this.#slots[(this.#head + this.length) & (this.#slots.length - 1)] = pending;
    this.length++;
  }

  shift(): InFlightRequest | undefined {
    const pending = this.#slots[this.#head];
    if (!pending) return undefined;
    this.#slots[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#slots.length - 1);
    this.length--;
    return pending;
  }

  /** No more answers will come. */
  abandon(): void {
    while (this.length > 0) this.shift()!.asker?.(undefined);
  }

  #grow(): void {
    const { length } = this.#slots;
    const ordered = Array.from({ length }, (_, i) => this.#slots[(this.#head + i) & (length - 1)]);
    this.#slots = [...ordered, ...Array.from({ length }, () => undefined)];
    this.#head = 0;
  }
}
