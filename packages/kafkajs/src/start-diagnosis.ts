import type { Subscription } from "@cdckit/consumer";
import type { ConnectionAttempt, ConnectionDiagnosis, GroupAndTopics } from "@cdckit/driver";
import { checkBrokers } from "./check-connection.ts";
import { diagnoseConnection } from "./connection-diagnosis.ts";
import { isKafkaJsDriverError, KafkaJsDriverError } from "./errors.ts";
import { causesOf, explainFailure, refusedIn } from "./explain-failure.ts";
import type { KafkaJsConnection, ResolvedKafkaJsOptions } from "./options.ts";

/** After this time a start is diagnosed, because kafkajs waits much longer for some ports. */
const askAfterMs = 1_000;
/** A listener that has answered nothing so often, for about nine seconds together, is no broker that is only slow. */
const maxSilences = 2;

/** Finds out why a start fails, and what to change. */
export class StartDiagnosis {
  readonly #config: KafkaJsConnection | null;
  readonly #brokers: string;
  readonly #reading: GroupAndTopics;
  readonly #signal: AbortSignal | undefined;
  /** No broker answered while the start was under way. If the start fails, this is the reason. */
  #silence: ConnectionDiagnosis | null = null;

  /** `brokers`: their addresses for messages. */
  constructor({ client }: ResolvedKafkaJsOptions, brokers: string, reading: GroupAndTopics & Pick<Subscription, "signal">) {
    // A question to the brokers' own addresses would not say what is wrong on the way that connections take.
    this.#config = client.kind === "made" && client.config.connectTo === undefined ? client.config : null;
    this.#brokers = brokers;
    this.#reading = reading;
    this.#signal = reading.signal;
  }

  /** The result of the work. If the work takes long, the brokers are asked. If they will never accept the client, it rejects with that. */
  async orRefused<T>(work: Promise<T>): Promise<T> {
    const over = new AbortController();
    const refused = new Promise<never>((_, reject) => {
      const timer = setTimeout(() => void this.#refusal(over.signal).then((error) => error !== null && reject(error)), askAfterMs);
      over.signal.addEventListener("abort", () => clearTimeout(timer), { once: true });
    });
    try {
      return await Promise.race([work, refused]);
    } finally {
      over.abort();
    }
  }

  /** kafkajs' failure, explained. If the failure itself does not say what is wrong, the brokers are asked. */
  async explain(failure: unknown): Promise<KafkaJsDriverError> {
    const own = causesOf(failure).find(isKafkaJsDriverError);
    // A question of the driver's own that got no answer says less than what the listener was seen to do.
    if (own !== undefined && (own.code !== "brokers-unreachable" || this.#silence === null)) {
      return own;
    }
    // A right that is missing is named with its topic or its group, which the brokers would not say.
    const isKnown = this.#signal?.aborted === true || refusedIn(failure) !== null;
    const diagnosis = isKnown ? null : (this.#silence ?? (await this.#diagnose(failure, this.#signal)));
    return diagnosis === null ? explainFailure(failure, this.#brokers, this.#reading) : this.#errorOf(diagnosis, failure);
  }

  async #refusal(over: AbortSignal): Promise<KafkaJsDriverError | null> {
    for (let silences = 1; ; silences++) {
      const diagnosis = await this.#diagnose(null, over);
      if (over.aborted) {
        return null; // the start has ended, and what was seen of it stays
      }
      const isSilence = diagnosis?.isCertain === false;
      this.#silence = isSilence ? diagnosis : null;
      if (diagnosis === null || !isSilence || silences === maxSilences) {
        return diagnosis === null ? null : this.#errorOf(diagnosis, null);
      }
    }
  }

  async #diagnose(failure: unknown, closed: AbortSignal | undefined): Promise<ConnectionDiagnosis | null> {
    if (this.#config === null) {
      return null; // the options of the application's own client are not known here, nor is where connections go to
    }
    try {
      return await diagnoseConnection(await attemptOf(this.#config), failure, undefined, closed);
    } catch {
      return null; // the function that returns the brokers failed, and kafkajs reports that
    }
  }

  #errorOf({ code, sentence }: ConnectionDiagnosis, failure: unknown): KafkaJsDriverError {
    const place =
      sentence.includes(":") && this.#brokers.split(", ").some((broker) => sentence.includes(broker)) ? "" : `${this.#brokers}: `;
    const cause = failure === null || this.#holdsSecret(failure) ? {} : { cause: failure };
    return new KafkaJsDriverError(code, `${place}${sentence.replace(/\.$/, "")}`, cause);
  }

  /** A broker's message about a login may quote a secret. It is kept only if it does not. */
  #holdsSecret(failure: unknown): boolean {
    const secrets = Object.values(this.#config?.sasl ?? {}).filter(
      (value): value is string => typeof value === "string" && value.length > 3,
    );
    return causesOf(failure).some(({ message, stack }) => secrets.some((secret) => `${message}${stack}`.includes(secret)));
  }
}

async function attemptOf({ brokers, ssl, sasl }: KafkaJsConnection): Promise<ConnectionAttempt> {
  const addresses = typeof brokers === "function" ? await brokers() : brokers;
  checkBrokers(addresses);
  const tls = ssl === true ? {} : ssl;
  return {
    brokers: addresses,
    ...(tls === undefined || tls === false ? {} : { tls }),
    ...(sasl === undefined ? {} : { mechanism: sasl.mechanism }),
  };
}
