import type { DriverSink, OpenWait } from "@cdckit/consumer";
import type { RequestTimeoutEvent } from "kafkajs";
import { readableBroker } from "./ipv6-names.ts";
import type { ConnectTo } from "./options.ts";
import { Sockets } from "./sockets.ts";
import type { KeptFetches } from "./wire/kept-fetches.ts";

/** The part of kafkajs' consumers, producers and admins that is used here. */
interface AskingClient {
  readonly events: { readonly REQUEST_TIMEOUT: string };
}

/**
 * The connections of a client that was made for the driver. Silent connections are replaced, because kafkajs keeps a connection on which an
 * answer is overdue, and goes on sending requests on it. A connection that cannot be made is reported as a wait.
 */
export class Connections {
  readonly #sink: Pick<DriverSink, "waiting" | "reconnected">;
  readonly #brokers: string;
  readonly sockets: Sockets;
  #wait: OpenWait | undefined;
  #isEnded = false;

  /** `brokers`: their addresses for messages. `kept`: see `Sockets`. */
  constructor(sink: Pick<DriverSink, "waiting" | "reconnected">, brokers: string, connectTo?: ConnectTo, kept: KeptFetches | null = null) {
    this.#sink = sink;
    this.#brokers = brokers;
    this.sockets = new Sockets({ failed: (error) => this.#failed(error), answered: () => this.#answered() }, connectTo, kept);
  }

  /** The same client. Its silent connections are replaced from now on. */
  watched<Client extends AskingClient>(client: Client): Client {
    const listen = client as unknown as { on(event: string, listener: (event: RequestTimeoutEvent) => void): void };
    listen.on(client.events.REQUEST_TIMEOUT, ({ payload: { broker, apiName, createdAt, sentAt } }) =>
      // The wall clock, by which kafkajs counts whole milliseconds, may have been set back since the connection was opened.
      this.replace(
        `${readableBroker(broker)} did not answer ${apiName} in time`,
        performance.now() - (Date.now() - (sentAt ?? createdAt)) + 1,
        broker,
      ),
    );
    return client;
  }

  /** Ends connections (to one broker, or all) that were open at that moment. kafkajs makes new ones with its next request. */
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
