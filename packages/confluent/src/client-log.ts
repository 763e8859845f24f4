import type { Logger } from "@cdckit/consumer";
import { settledOrLate } from "@cdckit/driver";

/** A line of librdkafka's log. `fac` names the kind: `FAIL`, `SASL`, `COMMIT`. */
export interface ClientLogLine {
  readonly severity: number;
  readonly fac: string;
  readonly message: string;
}

/** Syslog's levels from here on are of interest to developers of librdkafka. */
const notice = 5;
/** The error of a client that has given up may come before the line of its log. So long the line is awaited. */
const fatalLineDeadlineMs = 1_000;
const firstGapMs = 5_000;
const maxGapMs = 60_000;
/** How many different lines are remembered. The oldest is forgotten first, and may then be logged again. */
const maxRemembered = 100;

interface Repeated {
  lastMs: number;
  gapMs: number;
  leftOut: number;
}

/**
 * Writes librdkafka's log to the consumer's logger. What it logs as errors are attempts that it repeats, so they are warnings here: the consumer
 * reports the errors that halt it. A line that repeats is logged with growing gaps. The last line about a failed connection is kept, because
 * the error events of the client say only that something has failed.
 */
export class ClientLog {
  readonly #logger: Logger;
  readonly #nowMs: () => number;
  readonly #seen = new Map<string, Repeated>();
  #lastFailure: string | null = null;
  #fatal: string | null = null;
  #fatalCame = (): void => {};
  readonly #untilFatal: Promise<void> = new Promise((resolve) => {
    this.#fatalCame = resolve;
  });

  constructor(logger: Logger, nowMs: () => number = () => performance.now()) {
    this.#logger = logger;
    this.#nowMs = nowMs;
  }

  /** Why the last connection has failed; null if none has since a broker was connected. */
  get lastFailure(): string | null {
    return this.#lastFailure;
  }

  /** Why librdkafka has given up; null if it has not. Its error says only that it has. */
  get fatal(): string | null {
    return this.#fatal;
  }

  /** Resolves when {@link fatal} is known, or when it has not come for a second. */
  untilFatal(): Promise<void> {
    return settledOrLate(this.#untilFatal, fatalLineDeadlineMs, () => {});
  }

  /** A broker is connected. If that ends, a failure of before is not the reason: another broker may have refused the login hours ago. */
  connected(): void {
    this.#lastFailure = null;
  }

  line({ severity, fac, message }: ClientLogLine): void {
    const text = message.replace(/^\[thrd:[^\]]*\]:\s*/, "");
    if (fac === "FAIL" || fac === "ERROR" || fac === "SASL") {
      this.#lastFailure = text;
    } else if (fac === "FATAL") {
      this.#fatal = text;
      this.#fatalCame();
    }
    const leftOut = severity < notice ? this.#leftOutBefore(`${fac} ${text.replace(/\(after \d+ms[^)]*\)/, "")}`) : null;
    if (leftOut === null) {
      this.#logger.debug({ fac, severity }, `librdkafka: ${text}`);
    } else {
      this.#logger.warn(leftOut === 0 ? { fac } : { fac, leftOut }, `librdkafka: ${text}`);
    }
  }

  /** How many such lines were left out since the last one that was logged; null if this one is left out, too. */
  #leftOutBefore(line: string): number | null {
    const nowMs = this.#nowMs();
    const before = this.#seen.get(line);
    if (before === undefined) {
      const [oldest] = this.#seen.size >= maxRemembered ? this.#seen.keys() : [];
      if (oldest !== undefined) {
        this.#seen.delete(oldest);
      }
      this.#seen.set(line, { lastMs: nowMs, gapMs: firstGapMs, leftOut: 0 });
      return 0;
    }
    if (nowMs - before.lastMs < before.gapMs) {
      before.leftOut++;
      return null;
    }
    const { leftOut } = before;
    const isOver = nowMs - before.lastMs > 2 * maxGapMs;
    this.#seen.set(line, { lastMs: nowMs, gapMs: isOver ? firstGapMs : Math.min(before.gapMs * 2, maxGapMs), leftOut: 0 });
    return leftOut;
  }
}
