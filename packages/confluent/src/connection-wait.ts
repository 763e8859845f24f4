import type { DriverSink, OpenWait } from "@cdckit/consumer";
import { type ClientLog, noToken } from "./client-log.ts";
import { ConfluentDriverError } from "./errors.ts";
import { refusal } from "./explain-failure.ts";
import type { Report } from "./statistics.ts";

export interface ConnectionWaitParts {
  readonly sink: DriverSink;
  /** The brokers' addresses, for messages. */
  readonly brokers: string;
  readonly log: ClientLog;
  /** The brokers refuse the login. librdkafka would try the same password for ever, and a process that is let live never reads a new one. */
  readonly fail: (error: Error) => void;
}

/** After so many reports without a connection, it is no passing state. */
const reportsUntilCertain = 2;

/** Reports that no broker is connected, and why. librdkafka says it only in its statistics and its log. */
export class ConnectionWait {
  readonly #parts: ConnectionWaitParts;
  #reports = 0;
  /** Open while no broker is connected. */
  #waiting: OpenWait | undefined;
  /** What was said last of why none is. */
  #reason: string | null = null;

  constructor(parts: ConnectionWaitParts) {
    this.#parts = parts;
  }

  take({ isConnected, unconnected }: Pick<Report, "isConnected" | "unconnected">): void {
    const { log } = this.#parts;
    log.connectedBut([...unconnected.values()]);
    this.#reports = isConnected ? 0 : this.#reports + 1;
    if (isConnected) {
      log.connected();
      this.end();
    } else if (this.#reports >= reportsUntilCertain) {
      this.#report(log.lastFailure);
    }
  }

  end(): void {
    this.#waiting?.end();
    this.#waiting = undefined;
    this.#reason = null;
  }

  #report(lastFailure: string | null): void {
    const { sink, brokers, fail } = this.#parts;
    const why = lastFailure === null ? null : refusal(lastFailure, brokers);
    if (why?.code === "authentication-failed") {
      fail(new ConfluentDriverError(why.code, why.detail));
      return;
    }
    this.#waiting ??= sink.waiting?.({ what: "the connection to the brokers", host: brokers });
    const reason = lastFailure ?? "no broker is connected";
    if (reason !== this.#reason) {
      this.#reason = reason;
      this.#waiting?.failed(new ConfluentDriverError(reason === noToken ? "authentication-failed" : "brokers-unreachable", reason));
    }
  }
}
