import type { TapEntry } from '../cluster/tap.ts';

/** A request on its way: Kafka responds in the order of requests, so these are a queue. */
export interface InFlightRequest {
  correlationId: number;
  apiKey: number;
  apiVersion: number;
  /** By `performance.now()`. */
  since: number;
  /** The answer, where it is ours and waits for its turn. */
  answer: Buffer | undefined;
  /** Gets the response, where it was not the client that asked; undefined if none will come. */
  onResponse: ((frame: Buffer | undefined) => void) | undefined;
  /** How it is shown, if somebody looks on. */
  tapped: TapEntry | undefined;
}

/** The requests of one connection that are not answered yet, oldest first. */
export class InFlightQueue {
  #slots: (InFlightRequest | undefined)[] = Array.from({ length: 8 }, () => undefined);
  #head = 0;
  length = 0;
  /** How long the answers of ours among them are together. */
  answerBytes = 0;

  /** Whether an answer of ours is among them. */
  get hasAnswers(): boolean {
    return this.#slots.some((request) => request?.answer !== undefined);
  }

  get first(): InFlightRequest | undefined {
    return this.#slots[this.#head];
  }

  push(request: InFlightRequest): void {
    if (this.length === this.#slots.length) this.#grow();
    this.#slots[(this.#head + this.length) & (this.#slots.length - 1)] = request;
    this.length++;
    if (request.answer) this.answerBytes += request.answer.length;
  }

  shift(): InFlightRequest | undefined {
    const request = this.#slots[this.#head];
    if (!request) return undefined;
    this.#slots[this.#head] = undefined;
    this.#head = (this.#head + 1) & (this.#slots.length - 1);
    this.length--;
    if (request.answer) this.answerBytes -= request.answer.length;
    return request;
  }

  /** No more responses will come; `lost` gets each request that waits for one. */
  abandon(lost: (request: InFlightRequest) => void): void {
    while (this.length > 0) {
      const request = this.shift()!;
      request.onResponse?.(undefined);
      lost(request);
    }
  }

  #grow(): void {
    const { length } = this.#slots;
    const ordered = Array.from({ length }, (_, i) => this.#slots[(this.#head + i) & (length - 1)]);
    this.#slots = [...ordered, ...Array.from({ length }, () => undefined)];
    this.#head = 0;
  }
}
