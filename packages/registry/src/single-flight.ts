/** All callers of one key share one run, and its failure. Nothing is kept after the run. */
export class SingleFlight<Key, Value> {
  readonly #running = new Map<Key, Promise<Value>>();

  get size(): number {
    return this.#running.size;
  }

  run(key: Key, start: () => Promise<Value>): Promise<Value> {
    const running = this.#running.get(key);
    if (running !== undefined) {
      return running;
    }
    const started = start().finally(() => this.#running.delete(key));
    this.#running.set(key, started);
    return started;
  }

  /** Resolves when every current run has ended, whatever its outcome. */
  async settled(): Promise<void> {
    await Promise.allSettled(this.#running.values());
  }
}
