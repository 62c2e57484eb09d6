/** A time in which a session takes no further request, because a filter wants its client to slow down. */
export class Pause {
  readonly #resume: () => void;
  #until = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(resume: () => void) {
    this.#resume = resume;
  }

  get on(): boolean {
    return this.#timer !== undefined;
  }

  /** Never shortens what was said before. */
  extend(ms: number): void {
    const until = performance.now() + ms;
    if (!(ms > 0) || until <= this.#until) return;
    this.#until = until;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => {
      this.#timer = undefined;
      this.#resume();
    }, ms);
    this.#timer.unref();
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    this.#until = Infinity;
  }
}
