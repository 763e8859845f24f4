import type { Consumer, EachBatchPayload } from "kafkajs";
import { BenchError } from "../bench-error.ts";

/** If nothing comes for so long, nothing more will come. */
const maxIdleMs = 30_000;
const lookEveryMs = 500;

export interface ReadToEndsOptions {
  readonly topic: string;
  /** By partition: the offset that is not read any more. Partitions without records are left out. */
  readonly endOffsets: ReadonlyMap<number, bigint>;
  readonly interrupt: AbortSignal;
  /** Called for what kafkajs hands over: also for records at the ends and beyond them. */
  readonly onBatch: (batch: EachBatchPayload["batch"]) => void;
}

/**
 * Runs a consumer of kafkajs, which nobody has connected yet, until it has read each partition of a topic to its end, or is interrupted.
 * Rejects with what it failed with, and if partitions give nothing any more before their end.
 *
 * The last record that is handed over does not say that a partition has ended: the offsets after it may be those of transaction markers and
 * of aborted records. kafkajs filters these out, and does not call `eachBatch` if nothing is left of a batch. But it reports each batch that it
 * has processed, with its last offset before filtering.
 */
export async function readToEnds(
  consumer: Pick<Consumer, "connect" | "subscribe" | "run" | "on" | "events">,
  { topic, endOffsets, interrupt, onBatch }: ReadToEndsOptions,
): Promise<void> {
  const pending = new Map(endOffsets);
  let lookAgain: NodeJS.Timeout | undefined;
  let look = (): void => {};
  let movedAtMs = Number.POSITIVE_INFINITY;
  const ended = new Promise<void>((resolve, reject) => {
    look = () => {
      if (pending.size === 0 || interrupt.aborted) {
        resolve();
      } else if (performance.now() - movedAtMs > maxIdleMs) {
        reject(tooFew(topic, pending));
      }
    };
    consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
    consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload: { partition, lastOffset } }) => {
      const end = pending.get(partition);
      if (end === undefined) {
        return; // what is still written to other partitions is no reason to wait for this one
      }
      movedAtMs = performance.now();
      if (BigInt(lastOffset) + 1n >= end) {
        pending.delete(partition);
      }
      look();
    });
  });
  ended.catch(() => {}); // it may come while the consumer is still connecting, or after the end
  interrupt.addEventListener("abort", look);
  try {
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await consumer.run({ autoCommit: false, eachBatch: async ({ batch }) => onBatch(batch) });
    movedAtMs = performance.now(); // joining the group is no part of the wait
    lookAgain = setInterval(look, lookEveryMs);
    look();
    await ended;
  } finally {
    clearInterval(lookAgain);
    interrupt.removeEventListener("abort", look);
  }
}

function tooFew(topic: string, pending: ReadonlyMap<number, bigint>): BenchError {
  const places = [...pending].map(([partition, end]) => `${topic}[${partition}] up to offset ${end - 1n}`).join(", ");
  return new BenchError(
    "too-few-messages",
    `expected records of ${places}, and kafkajs has received nothing there for ${maxIdleMs / 1e3} s. They may have been deleted since the run began: try again.`,
  );
}
