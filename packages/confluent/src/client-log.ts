import type { Logger } from "@cdckit/consumer";
import { RepeatedLines, settledOrLate } from "@cdckit/driver";

/** A line of librdkafka's log. `fac` names the kind: `FAIL`, `SASL`, `COMMIT`. */
export interface ClientLogLine {
  readonly severity: number;
  readonly fac: string;
  readonly message: string;
}

/**
 * Why there is no connection if librdkafka has no token to log in with. It reports that a login has failed, and keeps the reason to itself. It asks
 * for the token again every ten seconds.
 */
export const noToken =
  "librdkafka got no token for the login by OAUTHBEARER. Does the endpoint of the tokens answer, and are the properties sasl.oauthbearer.* right?";

/** Syslog's levels from here on are of interest to developers of librdkafka. */
const notice = 5;
const error = 3;
/** The error of a client that has given up may come before the line of its log. So long the line is awaited. */
const fatalLineDeadlineMs = 1_000;

/** What a line says, without the name of librdkafka's thread. */
export function textOf({ message }: Pick<ClientLogLine, "message">): string {
  return message.replace(/^\[thrd:(?:[^[\]]|\[[^\]]*\])*\]:\s*/, "");
}

/** Whether a line says that a connection has failed. */
export function isOfConnection({ fac }: Pick<ClientLogLine, "fac">): boolean {
  return fac === "FAIL" || fac === "ERROR" || fac === "SASL";
}

/**
 * Writes librdkafka's log to the consumer's logger. What it logs as errors are attempts that it repeats, so they are warnings here: the consumer
 * reports the errors that halt it. A line that repeats is logged with growing gaps. The last line about a failed connection is kept, because
 * the error events of the client say only that something has failed.
 */
export class ClientLog {
  readonly #logger: Logger;
  readonly #repeated: RepeatedLines;
  #lastFailure: string | null = null;
  /** Why a connection has failed, by librdkafka's name of it. */
  readonly #failures = new Map<string, string>();
  #fatal: string | null = null;
  #fatalCame = (): void => {};
  readonly #untilFatal: Promise<void> = new Promise((resolve) => {
    this.#fatalCame = resolve;
  });

  constructor(logger: Logger, nowMs?: () => number) {
    this.#logger = logger;
    this.#repeated = new RepeatedLines(nowMs);
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

  /** Why this connection has failed last; null if it has not, or is made by now. `name`: `broker-1:9092/1`. */
  failureOf(name: string): string | null {
    return this.#failures.get(name) ?? null;
  }

  /** All connections are made but these. */
  connectedBut(unconnected: readonly string[]): void {
    for (const name of this.#failures.keys()) {
      if (!unconnected.includes(name)) {
        this.#failures.delete(name);
      }
    }
  }

  /** A broker is connected. If that ends, a failure of before is not the reason: another broker may have refused the login hours ago. */
  connected(): void {
    this.#lastFailure = null;
  }

  /** A login by a token has failed. If a broker has refused it, a line has said more. */
  loginFailed(): void {
    if (this.#lastFailure === null || this.#lastFailure === noToken) {
      this.line({ severity: error, fac: "SASL", message: noToken });
    }
  }

  line(line: ClientLogLine): void {
    const { severity, fac } = line;
    const text = textOf(line);
    if (isOfConnection(line)) {
      this.#lastFailure = text;
      this.#failures.set(text.split(": ")[0] ?? "", text);
    } else if (fac === "FATAL") {
      this.#fatal = text;
      this.#fatalCame();
    }
    const leftOut = severity < notice ? this.#repeated.leftOutBefore(`${fac} ${text.replace(/\(after \d+ms[^)]*\)/, "")}`) : null;
    if (leftOut === null) {
      this.#logger.debug({ fac, severity }, `librdkafka: ${text}`);
    } else {
      this.#logger.warn(leftOut === 0 ? { fac } : { fac, leftOut }, `librdkafka: ${text}`);
    }
  }
}
