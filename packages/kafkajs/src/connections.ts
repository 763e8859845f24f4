import type { DriverSink, OpenWait } from "@cdckit/consumer";
import type { RequestTimeoutEvent } from "kafkajs";
import { Sockets } from "./sockets.ts";

/** As much of kafkajs' consumers, producers and admins as is listened to. */
interface AskingClient {
  readonly events: { readonly REQUEST_TIMEOUT: string };
}

/**
 * The connections of a client that was made for the driver. Those that are silent are replaced: kafkajs keeps one on which an answer is
 * overdue, and goes on asking there. Those that cannot be made are told of as something that is waited for.
 */
export class Connections {
  readonly #sink: Pick<DriverSink, "waiting" | "reconnected">;
  readonly #brokers: string;
  readonly sockets: Sockets;
  #wait: OpenWait | undefined;
  #isEnded = false;

  /** `brokers`: as they appear in messages. */
  constructor(sink: Pick<DriverSink, "waiting" | "reconnected">, brokers: string) {
    this.#sink = sink;
    this.#brokers = brokers;
    this.sockets = new Sockets({ failed: (error) => this.#failed(error), answered: () => this.#answered() });
  }

  /** The same client, with its silent connections replaced. */
  watched<Client extends AskingClient>(client: Client): Client {
    const listen = client as unknown as { on(event: string, listener: (event: RequestTimeoutEvent) => void): void };
    listen.on(client.events.REQUEST_TIMEOUT, ({ payload: { broker, apiName, createdAt, sentAt } }) =>
      this.replace(`${broker} did not answer ${apiName} in time`, sentAt ?? createdAt, broker),
    );
    return client;
  }

  /** Ends connections (to one broker, or all) that were open at that moment; kafkajs makes new ones when it asks next. */
  replace(why: string, openSinceMs: number, broker: string | null = null): void {
    if (this.sockets.replace(openSinceMs, broker) > 0) {
      this.#sink.reconnected?.(why);
    }
  }

  destroy(): void {
    this.#isEnded = true;
    this.#answered();
    this.sockets.destroy();
  }

  #failed(error: Error): void {
    if (this.#isEnded) {
      return;
    }
    this.#wait ??= this.#sink.waiting?.({ what: "the connection to the brokers", host: this.#brokers });
    this.#wait?.failed(error);
  }

  #answered(): void {
    this.#wait?.end();
    this.#wait = undefined;
  }
}
