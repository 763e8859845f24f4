import { readToEnds } from "../../load/read-to-ends.ts";
import type { ClusterAccess } from "../catch-up/cluster-access.ts";

/** How many records of a topic a reader with `read_committed` gets: counted by kafkajs' own consumer, which knows nothing of ours. */
export async function countCommitted({ kafka, makeGroup, endsOf }: ClusterAccess, topic: string, interrupt: AbortSignal): Promise<number> {
  const endOffsets = (await endsOf([topic])).get(topic) ?? new Map<number, bigint>();
  const groupId = await makeGroup(`count-${topic.split("-").slice(-4).join("-")}`);
  const consumer = kafka.consumer({ groupId, readUncommitted: false, maxWaitTimeInMs: 100, retry: { retries: 2 } });
  let records = 0;
  const onBatch = ({ messages }: { readonly messages: readonly unknown[] }): void => {
    records += messages.length;
  };
  try {
    await readToEnds(consumer, { topic, endOffsets, interrupt, onBatch });
  } finally {
    await consumer.disconnect().catch(() => {}); // its group is deleted in any case
  }
  return records;
}
