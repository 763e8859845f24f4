/** A broker that is late does not know a new topic, either: what others say within this time counts. */
const certainAfterMs = 1_000;

/** Notes which of the topics that are read brokers do not know any more. */
export class GoneTopics {
  readonly #sinceMs = new Map<string, number>();

  /** Takes an answer: the topics that it does not know. Returns those that are gone for certain. */
  note(unknown: readonly string[]): readonly string[] {
    const nowMs = performance.now();
    const known = [...this.#sinceMs.keys()].filter((topic) => !unknown.includes(topic));
    known.forEach((topic) => this.#sinceMs.delete(topic));
    return unknown.filter((topic) => {
      const sinceMs = this.#sinceMs.get(topic) ?? nowMs;
      this.#sinceMs.set(topic, sinceMs);
      return nowMs - sinceMs >= certainAfterMs;
    });
  }
}
