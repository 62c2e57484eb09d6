/** The last hour in a small space: one point a second for two minutes, and one for a quarter of a minute beyond. */
import type { Rates, SeriesView } from './api.ts';

const FIELDS = ['requests', 'errors', 'bytesIn', 'bytesOut', 'p99Ms'] as const;

/** Virtual clusters with a series of their own; all of them are in the sum. */
export const MOST_SERIES = 1000;
/** The sum of all. */
export const ALL = '';

/** Points of all virtual clusters at the same times; the oldest give way. */
export class Ring {
  readonly #size: number;
  readonly #times: Float64Array;
  readonly #points = new Map<string, Float32Array>();
  #next = 0;
  #length = 0;

  constructor(size: number) {
    this.#size = size;
    this.#times = new Float64Array(size);
  }

  /** `at` in seconds. Of clusters that are gone nothing is kept. */
  add(at: number, rates: ReadonlyMap<string, Rates>): void {
    for (const name of this.#points.keys()) if (!rates.has(name)) this.#points.delete(name);
    for (const [name, one] of rates) {
      const points = this.#points.get(name) ?? this.#newPoints();
      if (!points) continue;
      this.#points.set(name, points);
      FIELDS.forEach((field, column) => (points[this.#next * FIELDS.length + column] = one[field] ?? NaN));
    }
    this.#times[this.#next] = at;
    this.#next = (this.#next + 1) % this.#size;
    this.#length = Math.min(this.#length + 1, this.#size);
  }

  #newPoints(): Float32Array | undefined {
    return this.#points.size > MOST_SERIES
      ? undefined
      : new Float32Array(this.#size * FIELDS.length).fill(NaN);
  }

  /** The points of a virtual cluster, oldest first. */
  read(cluster: string): SeriesView {
    const points = this.#points.get(cluster);
    const first = (this.#next - this.#length + this.#size) % this.#size;
    const order = Array.from({ length: this.#length }, (_, index) => (first + index) % this.#size);
    const column = (field: (typeof FIELDS)[number]) =>
      order.map((at) => {
        const value = points?.[at * FIELDS.length + FIELDS.indexOf(field)] ?? NaN;
        return Number.isNaN(value) ? null : Number(value.toPrecision(4));
      });
    return {
      cluster,
      times: order.map((at) => Math.round(this.#times[at]! * 10) / 10),
      requests: column('requests'),
      errors: column('errors'),
      bytesIn: column('bytesIn'),
      bytesOut: column('bytesOut'),
      p99Ms: column('p99Ms'),
    };
  }
}
