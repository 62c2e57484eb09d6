/** A map that forgets what was set longest ago when it is full: memory for what others send must have an end. */
export class BoundedMap<K, V> extends Map<K, V> {
  readonly #limit: number;

  constructor(limit: number) {
    super();
    this.#limit = limit;
  }

  /** Setting a key again makes it the newest. */
  override set(key: K, value: V): this {
    this.delete(key);
    super.set(key, value);
    if (this.size > this.#limit) {
      const [oldest] = this.keys();
      this.delete(oldest as K);
    }
    return this;
  }
}
