import { brokerText, type HostAndPort } from "@cdckit/driver";

/**
 * In which order brokers are asked what each of them can answer: first the next one in turn, so that no broker has all the questions, and last those
 * whose last request was not answered. A broker that is down would otherwise hold up each question for as long as a connection to it takes to fail.
 */
export class BrokerTurns {
  /** In the order in which they have failed. */
  readonly #failed = new Set<string>();
  #turn = 0;

  /** Each of the brokers once. Those that have failed come in the order of their failures: the first of them is likely to be back first. */
  next(brokers: readonly HostAndPort[]): readonly HostAndPort[] {
    const byText = new Map(brokers.map((at) => [brokerText(at), at]));
    [...this.#failed].filter((text) => !byText.has(text)).forEach((text) => this.#failed.delete(text)); // brokers that have left
    const well = [...byText].filter(([text]) => !this.#failed.has(text)).map(([, at]) => at);
    const failed = [...this.#failed].flatMap((text) => byText.get(text) ?? []);
    const first = this.#turn++ % Math.max(1, well.length);
    return [...well.slice(first), ...well.slice(0, first), ...failed];
  }

  answered(at: HostAndPort): void {
    if (this.#failed.size > 0) {
      this.#failed.delete(brokerText(at));
    }
  }

  failed(at: HostAndPort): void {
    const text = brokerText(at);
    this.#failed.delete(text);
    this.#failed.add(text);
  }
}
