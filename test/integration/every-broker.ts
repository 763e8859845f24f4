import { Connection, metadataV12 } from "@platformatic/kafka";
import { waitUntil } from "../../scripts/stack/wait.mjs";

interface KnownTopic {
  readonly errorCode: number;
  readonly topicId: string;
  readonly partitions: readonly { readonly leaderId: number }[];
}

/**
 * Asks each broker of a cluster what it knows. A broker learns of a change a little after the controller has answered, so that a client which asks
 * another one than the test does would be told that a topic is missing, or be given the one that was deleted.
 */
export class EveryBroker {
  readonly #brokers: readonly string[];
  #connections: readonly Connection[] = [];

  constructor(brokers: readonly string[]) {
    this.#brokers = brokers;
  }

  async connect(): Promise<void> {
    this.#connections = await Promise.all(
      this.#brokers.map(async (address) => {
        const [host = "", port = ""] = address.split(":");
        const connection = new Connection("every-broker");
        await connection.connect(host, Number(port));
        return connection;
      }),
    );
  }

  async close(): Promise<void> {
    await Promise.all(this.#connections.map((connection) => connection.close()));
  }

  /** Resolves when each broker knows one topic of this name, with so many partitions, each with a leader. */
  async untilKnown(topic: string, partitions: number): Promise<void> {
    const check = async (): Promise<boolean> => {
      const known = await this.#ask(topic);
      const isComplete = known.every(
        (one) => one?.partitions.length === partitions && one.partitions.every(({ leaderId }) => leaderId >= 0),
      );
      return isComplete && new Set(known.map((one) => one?.topicId)).size === 1;
    };
    await waitUntil({ what: `${topic} with ${partitions} partitions on each broker`, check, deadlineMs: 60_000, everyMs: 30 });
  }

  /** Resolves when no broker knows the topic any more. */
  async untilGone(topic: string): Promise<void> {
    const check = async (): Promise<boolean> => (await this.#ask(topic)).every((one) => one === null);
    await waitUntil({ what: `${topic} being gone from each broker`, check, deadlineMs: 60_000, everyMs: 30 });
  }

  /** Resolves when each broker says of one of the topic's partitions that it has no leader. */
  async untilLeaderless(topic: string): Promise<void> {
    const isLeaderless = (one: KnownTopic | null): boolean => one?.partitions.some(({ leaderId }) => leaderId < 0) === true;
    const check = async (): Promise<boolean> => (await this.#ask(topic)).every(isLeaderless);
    await waitUntil({ what: `${topic} with a partition without a leader`, check, deadlineMs: 60_000, everyMs: 30 });
  }

  #ask(topic: string): Promise<(KnownTopic | null)[]> {
    return Promise.all(
      this.#connections.map(async (connection) => {
        const { topics } = await metadataV12.api.async(connection, [topic], false, false).catch(answerOf);
        return topics.find(({ errorCode }) => errorCode === 0) ?? null;
      }),
    );
  }
}

/** A topic that is not there is an error to this client, with the answer in it. */
function answerOf(error: unknown): { readonly topics: readonly KnownTopic[] } {
  const { response } = error as { readonly response?: { readonly topics: readonly KnownTopic[] } };
  if (response === undefined) {
    throw error;
  }
  return response;
}
