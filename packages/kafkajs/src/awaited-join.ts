import type { DriverSink, OpenWait } from "@cdckit/consumer";
import type { KafkaJsDriverError } from "./errors.ts";

export interface AwaitedJoinParts {
  readonly sink: Pick<DriverSink, "waiting">;
  readonly groupId: string;
  /** The brokers' addresses. */
  readonly brokers: string;
}

const connection = "the connection to the brokers";
const ofConnection: ReadonlySet<string> = new Set(["brokers-unreachable", "authentication-failed"]);

/** Reports what stands between a crash of kafkajs and its next join: the connection to the brokers, and then the group. */
export class AwaitedJoin {
  readonly #parts: AwaitedJoinParts;
  #what: string | null = null;
  #wait: OpenWait | undefined;

  constructor(parts: AwaitedJoinParts) {
    this.#parts = parts;
  }

  /** kafkajs has crashed, and starts again. */
  failed(error: KafkaJsDriverError): void {
    this.#await(ofConnection.has(error.code) ? connection : this.#group);
    this.#wait?.failed(error);
  }

  /** The coordinator is connected and is asked to let the member in. It may wait until the session of the member's former self has run out. */
  asked(): void {
    if (this.#what === connection) {
      this.#await(this.#group);
    }
  }

  joined(): void {
    this.#await(null);
  }

  get #group(): string {
    return `the group ${this.#parts.groupId}`;
  }

  #await(what: string | null): void {
    if (this.#what !== what) {
      const { sink, brokers } = this.#parts;
      this.#what = what;
      this.#wait?.end();
      this.#wait = what === null ? undefined : sink.waiting?.({ what, host: brokers });
    }
  }
}
