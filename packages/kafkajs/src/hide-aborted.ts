import { type AbortedTransaction, AbortedProducers } from "@cdckit/record-batch";

/** The part of a record of kafkajs that is used here. */
interface FetchedMessage {
  readonly offset: string;
  readonly key: Buffer | null;
  /** kafkajs keeps such a record to itself. */
  isControlRecord?: boolean;
  /** Absent in the message formats before Kafka 0.11, which know no transactions. */
  readonly batchContext?: { readonly producerId: string; readonly inTransaction: boolean };
}

interface FetchedOfPartition {
  readonly messages: readonly FetchedMessage[];
  /** Absent in the answers of brokers before Kafka 0.11. */
  abortedTransactions?: readonly { readonly producerId: string; readonly firstOffset: string }[] | null;
}

/** The part of a response to a Fetch request that is used here, as kafkajs has decoded it. */
export interface FetchedTopics {
  readonly responses: readonly { readonly topicName: string; readonly partitions: readonly FetchedOfPartition[] }[];
}

/**
 * Has kafkajs keep the records of aborted transactions to itself. It would look at the first entry of the broker's list alone, which is ordered by
 * where transactions end, and takes every record with four zero bytes as its key for an abort marker. The records stay in place: by the last of
 * them, kafkajs knows where it goes on.
 */
export function hideAborted({ responses }: FetchedTopics): void {
  for (const fetched of responses.flatMap(({ partitions }) => partitions)) {
    const { messages, abortedTransactions } = fetched;
    if (abortedTransactions !== undefined && abortedTransactions !== null && abortedTransactions.length > 0) {
      hideAbortedBy(abortedTransactions.map(toTransaction), messages);
      fetched.abortedTransactions = [];
    }
  }
}

function hideAbortedBy(transactions: readonly AbortedTransaction[], messages: readonly FetchedMessage[]): void {
  const aborted = new AbortedProducers(transactions);
  for (const message of messages) {
    aborted.reach(BigInt(message.offset));
    const producerId = BigInt(message.batchContext?.producerId ?? -1);
    if (message.isControlRecord !== true) {
      message.isControlRecord = message.batchContext?.inTransaction === true && aborted.has(producerId);
    } else if (isAbortMarker(message)) {
      aborted.end(producerId);
    }
  }
}

/** ControlRecordKey => version int16, type int16. The type of an abort is 0. */
function isAbortMarker({ key }: FetchedMessage): boolean {
  return key !== null && key.length >= 4 && key.readInt16BE(2) === 0;
}

function toTransaction({ producerId, firstOffset }: { readonly producerId: string; readonly firstOffset: string }): AbortedTransaction {
  return { producerId: BigInt(producerId), firstOffset: BigInt(firstOffset) };
}
