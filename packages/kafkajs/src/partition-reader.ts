import { setTimeout as delay } from "node:timers/promises";
import type { DriverSink, LostRange, Subscription } from "@cdckit/consumer";
import {
  type BrokerQuestions,
  type DriverError,
  missingAt,
  type PartitionWaits,
  type Place,
  quotaError,
  resumeOrFail,
  type StillHeld,
  whileHeld,
} from "@cdckit/driver";
import type { DecompressOptions } from "@cdckit/record-batch";
import type { EachBatchPayload } from "kafkajs";
import type { Held, HeldPartitions } from "./assignments.ts";
import { makeError } from "./errors.ts";
import type { HandOver } from "./hand-over.ts";
import type { Heartbeats } from "./heartbeat.ts";
import { Fetched } from "./fetched.ts";
import type { PartitionControl } from "./partition-control.ts";
import type { TopicRecheck } from "./topic-recheck.ts";
import type { AskedRecords } from "./wire/fetch-request.ts";
import type { KeptFetch, KeptFetches } from "./wire/kept-fetches.ts";

export interface PartitionReaderParts {
  readonly brokers: Pick<BrokerQuestions, "ends">;
  readonly subscription: Subscription;
  readonly sink: DriverSink;
  readonly assignments: HeldPartitions;
  readonly control: PartitionControl;
  readonly handOver: HandOver;
  /** kafkajs sends none while a batch is checked, and brokers that do not answer are waited for. */
  readonly heartbeats: Heartbeats;
  readonly topicCheck: TopicRecheck;
  /** The record batches that were taken out of Fetch responses. */
  readonly kept: Pick<KeptFetches, "take">;
  /** What batches may become, and decompressions of the application's own. */
  readonly decompression: DecompressOptions;
  /** Gets partitions whose offset is out of range for one broker, and not for the others; and those of which a quota lets nothing come. */
  readonly waits: Pick<PartitionWaits, "failed" | "end">;
  /** A partition that was asked for again, and whose offset has not been out of range for so long, is waited for no longer. */
  readonly quietMs: number;
  readonly fail: (error: Error) => void;
}

/** What is found out about an offset that kafkajs did not fetch at. `unknown`: the brokers have not answered, or do not know the topic now. */
type Finding = "lost" | "there" | "unknown";

/** How long kafkajs waits before it asks again for an offset that was out of range, and of which nothing is known to be lost. */
const askAgainAfterMs = 200;

/** Takes what kafkajs has fetched, if it was fetched at the end of the last batch: kafkajs itself goes on anywhere after an offset that is gone. */
export class PartitionReader {
  readonly #parts: PartitionReaderParts;
  /** Partitions of which nothing came because of a quota, until their broker answers without a pause, or records come. */
  readonly #throttled = new Set<Held>();

  constructor(parts: PartitionReaderParts) {
    this.#parts = parts;
  }

  /** A broker has answered. If it wants a pause, it has sent nothing of these because of a quota, and no error says so. */
  paced(asked: AskedRecords["offsets"], throttleMs: number): void {
    if (throttleMs === 0) {
      this.#endThrottled(asked);
      return;
    }
    const { assignments, waits } = this.#parts;
    for (const [topic, partitions] of asked) {
      for (const partition of partitions.keys()) {
        const held = assignments.at(topic, partition);
        if (held !== undefined) {
          this.#throttled.add(held);
          waits.failed(held, quotaError(makeError, { topic, partition }, throttleMs), throttleMs);
        }
      }
    }
  }

  /** Also of partitions without records beside others that have some: they may have none for days, and no quota holds them back any more. */
  #endThrottled(asked: AskedRecords["offsets"]): void {
    for (const held of this.#throttled) {
      const { topic, partition } = held.assignment;
      if (held.isOver || asked.get(topic)?.has(partition) === true) {
        this.#throttled.delete(held);
        this.#parts.waits.end(held);
      }
    }
  }

  /** A batch of kafkajs: one record, which stands for what was fetched. */
  async take(payload: EachBatchPayload): Promise<void> {
    const { messages, topic, partition } = payload.batch;
    const [standIn] = messages;
    const kept = standIn === undefined ? undefined : this.#parts.kept.take(standIn); // undefined if not kept long enough: kafkajs fetches it again
    const held = this.#held({ topic, partition });
    // After a rebalance is announced, kafkajs still hands over the rest of the fetch. After a seek, it hands over an outdated batch.
    if (kept !== undefined && held !== null && !payload.isStale()) {
      await whileHeld(held, (still) => this.#take(kept, payload, held, still));
    }
  }

  /**
   * kafkajs has asked for an offset that is out of range, and has forgotten where it was. Nothing more is fetched until it is known what is lost. If
   * nothing is, or it cannot be known yet, kafkajs asks again after a while.
   */
  outOfRange(place: Place): void {
    const held = this.#held(place);
    if (held === null || held.isOutOfRange) {
      return;
    }
    const { control, waits, fail } = this.#parts;
    const { expected } = held;
    control.setOutOfRange(held, true);
    held.outOfRangeMs = performance.now();
    control.seek(held.assignment, expected ?? 0n);
    held.failedFetches++; // the topic may be another one, which has grown past the offset since
    const find = async (still: StillHeld): Promise<void> => {
      const finding = await this.#investigate(held, still, "debug");
      if (finding !== "lost") {
        waits.failed(held, outOfRangeError(held, finding));
        await still(delay(askAgainAfterMs, undefined, { ref: false }));
      }
    };
    void whileHeld(held, find)
      .catch((error: unknown) => fail(error as Error)) // nothing is expected to throw
      .then(() => {
        control.setOutOfRange(held, false);
        return this.#endWaitWhenQuiet(held);
      });
  }

  /** At the end of a log, no batch shows that a fetch has succeeded. */
  async #endWaitWhenQuiet(held: Held): Promise<void> {
    const { waits, quietMs } = this.#parts;
    const { outOfRangeMs } = held;
    await delay(quietMs, undefined, { ref: false });
    if (held.outOfRangeMs === outOfRangeMs) {
      waits.end(held);
    }
  }

  #held({ topic, partition }: Place): Held | null {
    const held = this.#parts.assignments.at(topic, partition);
    return held === undefined || held.isStarting || held.isOver ? null : held;
  }

  async #take(kept: KeptFetch, payload: EachBatchPayload, held: Held, still: StillHeld): Promise<void> {
    const { topicCheck, handOver, heartbeats, waits, decompression } = this.#parts;
    topicCheck.followBatch();
    const isDue = held.failedFetches !== held.checkedFetches || topicCheck.isDue;
    if (isDue && !(await still(heartbeats.during(topicCheck.isSame(held))))) {
      return;
    }
    if (held.expected !== null && held.expected !== kept.fromOffset) {
      await heartbeats.during(this.#investigate(held, still, "warn"));
      return;
    }
    this.#throttled.delete(held);
    waits.end(held);
    const fetched = new Fetched(kept, held.assignment, decompression);
    const preparation = fetched.prepare();
    if (preparation !== null) {
      await still(preparation);
    }
    if (handOver.hasRoom(held, fetched.byteLength)) {
      // Only here, because a batch that was investigated or left must be fetched again. Once resolved, it would not be.
      payload.resolveOffset(String(fetched.nextOffset - 1n));
      held.expected = fetched.nextOffset;
      await handOver.take(fetched, held);
    }
  }

  /**
   * Finds out why a batch was not fetched at the end of the last one, or why the offset of a fetch is out of range: the log may lack the expected
   * offset. If it has it, as after the answer of a replica that is behind its leader, kafkajs is moved back to it.
   */
  async #investigate(held: Held, still: StillHeld, level: "warn" | "debug"): Promise<Finding> {
    const { brokers, control, subscription, topicCheck } = this.#parts;
    if (!(await still(topicCheck.isSame(held)))) {
      return "unknown";
    }
    const missing = missingAt(brokers, held.assignment, held.expected).catch((error: unknown) => {
      if (!held.isOver) {
        subscription.logger[level]({ err: error }, "the brokers do not say what the log has; it is fetched again");
      }
      return undefined;
    });
    const lost = await still(missing);
    if (lost === undefined) {
      return "unknown";
    }
    // If the brokers do not know the topic now, the log may be that of another one, which has grown past the position.
    if ((lost !== null || held.assignment.topicId !== null) && !(await still(topicCheck.isStill(held)))) {
      return "unknown";
    }
    if (lost === null) {
      control.seek(held.assignment, held.expected ?? 0n);
      return "there";
    }
    if (held.expected === lost.firstMissing) {
      this.#lose(held, lost);
    } // if not, a batch that was fetched before has moved the position meanwhile: kafkajs fetches again
    return "lost";
  }

  /** Goes on after the lost range if the user has chosen that. If not, the session fails. */
  #lose(held: Held, lost: LostRange): void {
    const { control, fail, handOver, sink, subscription, waits } = this.#parts;
    const { assignment } = held;
    const position = resumeOrFail(lost, subscription, makeError, fail);
    if (position === null) {
      return;
    }
    if (handOver.isBusy(held)) {
      // What was fetched before is handed over first: behind the range, it would be passed over. The partition is resumed after that, and the
      // next fetch finds the range again.
      control.hold(held, true);
      control.seek(assignment, held.expected ?? 0n);
      return;
    }
    held.expected = position;
    waits.end(held);
    sink.skipped?.(assignment, lost, position);
    control.seek(assignment, position);
  }
}

function outOfRangeError({ assignment, expected }: Held, finding: Exclude<Finding, "lost">): DriverError<string> {
  const what =
    finding === "there" ? "and the log has it: a replica may be behind its leader" : "and the brokers do not say what the log has";
  const place = `${assignment.topic}[${assignment.partition}]`;
  return makeError("partition-unavailable", `a broker says that offset ${expected} of ${place} is out of range, ${what}`);
}
