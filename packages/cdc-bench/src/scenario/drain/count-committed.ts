import type { ClusterAccess } from "../catch-up/cluster-access.ts";

/**
 * How many records of a topic a reader with `read_committed` gets: counted by kafkajs' own consumer, which knows nothing of ours. The last
 * offset of a partition may be that of a transaction's marker, so the end is known from the batches.
 */
export async function countCommitted({ kafka, makeGroup, endsOf }: ClusterAccess, topic: string, interrupt: AbortSignal): Promise<number> {
  const pending = new Map((await endsOf([topic])).get(topic));
  const groupId = await makeGroup(`count-${topic.split("-").slice(-4).join("-")}`);
  const consumer = kafka.consumer({ groupId, readUncommitted: false, maxWaitTimeInMs: 100, retry: { retries: 2 } });
  let records = 0;
  try {
    await consumer.connect();
    await consumer.subscribe({ topic, fromBeginning: true });
    await new Promise<void>((resolve, reject) => {
      const giveUp = (): void => resolve();
      interrupt.addEventListener("abort", giveUp, { once: true });
      if (pending.size === 0 || interrupt.aborted) {
        resolve();
      }
      consumer.on(consumer.events.CRASH, ({ payload }) => reject(payload.error));
      consumer
        .run({
          autoCommit: false,
          eachBatchAutoResolve: true,
          eachBatch: async ({ batch }) => {
            records += batch.messages.length;
          },
        })
        .catch(reject);
      // Batches of markers alone are not handed over, but their fetches are told of.
      consumer.on(consumer.events.END_BATCH_PROCESS, ({ payload }) => {
        const end = pending.get(payload.partition);
        if (end !== undefined && BigInt(payload.lastOffset) + 1n >= end) {
          pending.delete(payload.partition);
        }
        if (pending.size === 0) {
          resolve();
        }
      });
    });
  } finally {
    await consumer.disconnect().catch(() => {}); // its group is deleted in any case
  }
  return records;
}
