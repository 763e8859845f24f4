import type { DriverSink, LostRange, Subscription } from "@cdckit/consumer";
import {
  type BrokerQuestions,
  endsAt,
  isRead,
  lostRangeAt,
  placeOf,
  resumeOrFail,
  type StillHeld,
  type TopicCheck,
  topicsOf,
  whileHeld,
} from "@cdckit/driver";
import type { Held, HeldPartitions } from "./assignments.ts";
import { makeError } from "./errors.ts";
import type { HandOver } from "./hand-over.ts";
import type { ClientMessage, LowLevelConsumer, TopicPartitionOffset } from "./low-level-client.ts";
import { MessageBatch } from "./message-batch.ts";
import type { PartitionControl } from "./partition-control.ts";
import type { QuotaWaits } from "./quota-waits.ts";

export interface PartitionReaderParts {
  readonly consumer: LowLevelConsumer;
  readonly brokers: Pick<BrokerQuestions, "ends">;
  readonly subscription: Subscription;
  readonly sink: DriverSink;
  readonly assignments: HeldPartitions;
  readonly control: PartitionControl;
  readonly handOver: HandOver;
  readonly topicCheck: Pick<TopicCheck<Held>, "look" | "isStill">;
  /** Partitions of which a quota lets nothing come. */
  readonly quotas: Pick<QuotaWaits, "end">;
  readonly fail: (error: Error) => void;
}

/** Makes batches of what the client has fetched, and finds out why it has stopped to fetch a partition. */
export class PartitionReader {
  readonly #parts: PartitionReaderParts;
  readonly #looking = new Set<Held>();
  /** Partitions whose log seems to be another one. Nothing more is taken of them until that is known. */
  readonly #suspected = new Set<Held>();

  constructor(parts: PartitionReaderParts) {
    this.#parts = parts;
  }

  /** Messages of any partitions; those of one partition are in order. `ends`: partitions that were read to their ends. */
  take(messages: readonly ClientMessage[], ends: readonly TopicPartitionOffset[]): void {
    const runs = new Map<Held, ClientMessage[]>();
    let held: Held | undefined;
    let run: ClientMessage[] = [];
    for (const message of messages) {
      const { topic, partition, offset } = message;
      if (held === undefined || held.assignment.partition !== partition || held.assignment.topic !== topic) {
        held = this.#parts.assignments.at(topic, partition);
        run = (held === undefined ? undefined : runs.get(held)) ?? [];
        if (held !== undefined && this.#isTaken(held)) {
          runs.set(held, run);
        }
      }
      if (held !== undefined && offset >= held.next) {
        run.push(message);
      } else if (held !== undefined && isRewritten(held, message) && this.#isTaken(held)) {
        runs.delete(held); // what follows is of the new log
        void this.#rewritten(held, offset);
      }
    }
    for (const { topic, partition, offset } of ends) {
      this.#end(this.#parts.assignments.at(topic, partition), offset, runs);
    }
    for (const [one, taken] of runs) {
      const last = taken.at(-1);
      if (last !== undefined) {
        this.#give(one, taken, last.offset + 1);
      }
    }
  }

  /** A partition was read to its end. What follows its last message and is no record moves it on. */
  #end(held: Held | undefined, offset: number, runs: Map<Held, ClientMessage[]>): void {
    if (held === undefined || !this.#isTaken(held)) {
      return;
    }
    const run = runs.get(held) ?? [];
    const before = run.filter((message) => message.offset < offset);
    if (before.length > 0 || offset > held.next) {
      runs.set(held, run.slice(before.length));
      this.#give(held, before, offset);
    }
  }

  #isTaken(held: Held): boolean {
    return isRead(held) && !this.#suspected.has(held);
  }

  #give(held: Held, messages: readonly ClientMessage[], nextOffset: number): void {
    held.next = nextOffset;
    held.last = lastOf(messages) ?? held.last;
    this.#parts.quotas.end(held);
    this.#parts.handOver.take(new MessageBatch(held.assignment, messages, nextOffset, this.#highWatermark(held, nextOffset)), held);
  }

  #highWatermark({ assignment: { topic, partition } }: Held, nextOffset: number): number | null {
    try {
      const { highOffset } = this.#parts.consumer.getWatermarkOffsets(topic, partition);
      return highOffset < nextOffset ? null : highOffset;
    } catch {
      return null; // the client has not fetched it since it was placed
    }
  }

  /** The client has stopped to fetch some of these partitions: the offset is out of range, or the topic is another one. Never rejects. */
  async investigate(stopped: readonly Held[], isCertain: boolean): Promise<void> {
    const { brokers, control, subscription, topicCheck } = this.#parts;
    const asked = stopped.filter((held) => isRead(held) && !this.#looking.has(held));
    if (asked.length === 0) {
      return;
    }
    asked.forEach((held) => this.#looking.add(held));
    try {
      await topicCheck.look();
      const ends = await brokers.ends(topicsOf(asked.map(({ assignment }) => assignment)));
      for (const held of asked.filter(isRead)) {
        const { topic, partition } = held.assignment;
        const log = ends.get(placeOf(topic, partition));
        if (log === undefined) {
          subscription.logger.debug({ topic, partition }, "no broker knows the ends of the log; they are asked for again");
          continue; // the client reports this partition again
        }
        const lost = lostRangeAt(held.assignment, { offset: BigInt(held.next), topicId: null }, log);
        if (lost !== null) {
          await whileHeld(held, async (still) => {
            if (await still(topicCheck.isStill(held))) {
              this.#lose(held, lost);
            } // if not, the log may have been that of another topic, and the client reports this partition again
          });
        } else if (isCertain) {
          control.placeAgain(held, log.low); // the log may have been truncated, and have grown past the offset since
        }
      }
    } catch (error) {
      subscription.logger.warn({ err: error }, "the ends of the logs could not be asked for; they are asked for again");
    } finally {
      asked.forEach((held) => this.#looking.delete(held));
    }
  }

  /**
   * The log has another record at the offset of the last one that was read: it was truncated there or below, and has grown since. librdkafka has noticed
   * that by leader epochs, and has stopped to fetch the partition; its error does not say why. Never rejects.
   */
  async #rewritten(held: Held, end: number): Promise<void> {
    const { brokers, control, subscription, topicCheck } = this.#parts;
    const { assignment, next } = held;
    const { topic, partition } = assignment;
    this.#suspected.add(held);
    const find = async (still: StillHeld): Promise<void> => {
      const { low } = endsAt(await still(brokers.ends([topic])), assignment);
      if (low < next && (await still(topicCheck.isStill(held)))) {
        this.#lose(held, { topic, partition, firstMissing: BigInt(next), firstAvailable: low, end: BigInt(end) });
      } else {
        control.placeLater(held, low); // nobody knows the topic now, or retention has taken what shows it
      }
    };
    await whileHeld(held, find).catch((error: unknown) => {
      subscription.logger.warn({ err: error }, "the ends of the logs could not be asked for; they are asked for again");
      control.placeLater(held, 0n);
    });
    this.#suspected.delete(held);
  }

  /** Goes on after the lost range if the user has chosen that. If not, the session fails. */
  #lose(held: Held, lost: LostRange): void {
    const { control, fail, sink, subscription } = this.#parts;
    const position = resumeOrFail(lost, subscription, makeError, fail);
    if (position === null) {
      return;
    }
    if (held.isAtWork || held.ahead.length > 0) {
      return; // what was fetched before is handed over first, and the client reports this partition again
    }
    sink.skipped?.(held.assignment, lost, position);
    control.place(held, position);
  }
}

function lastOf(messages: readonly ClientMessage[]): Held["last"] {
  const { offset, leaderEpoch } = messages.at(-1) ?? {};
  return offset === undefined || leaderEpoch === undefined ? null : { offset, leaderEpoch };
}

/** Whether the message, which has been read before, is another one now. */
function isRewritten({ last }: Held, { offset, leaderEpoch }: ClientMessage): boolean {
  return last?.offset === offset && leaderEpoch !== undefined && leaderEpoch !== last.leaderEpoch;
}
