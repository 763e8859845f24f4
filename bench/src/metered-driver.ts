import type {
  DriverCapabilities,
  DriverSession,
  DriverSink,
  FetchedBatch,
  KafkaDriver,
  PartitionAssignment,
  Subscription,
} from "@cdckit/consumer";
import { RecordArrayBatch } from "@cdckit/testkit";
import { placeOf } from "./handled-marks.ts";

/** A batch that the consumer was given, until all of it is handled. */
interface OpenBatch {
  readonly nextOffset: bigint;
  readonly bytes: number;
  left: number;
}

/** A driver that counts what it has handed over and what of it is not handled: the bytes in flight, seen from outside. */
export class MeteredDriver implements KafkaDriver {
  readonly name: string;
  readonly capabilities: DriverCapabilities;
  readonly #inner: KafkaDriver;
  readonly #copies: boolean;
  readonly #open = new Map<string, OpenBatch[]>();
  #bytes = 0;
  #peakBytes = 0;
  #largestBatchBytes = 0;

  /** `copies`: what comes from memory is copied, as what comes from a socket is a copy. */
  constructor(inner: KafkaDriver, { copies }: { readonly copies: boolean }) {
    this.name = inner.name;
    this.capabilities = inner.capabilities;
    this.#inner = inner;
    this.#copies = copies;
  }

  get inFlight(): { readonly bytes: number; readonly peakBytes: number; readonly largestBatchBytes: number } {
    return { bytes: this.#bytes, peakBytes: this.#peakBytes, largestBatchBytes: this.#largestBatchBytes };
  }

  connect(subscription: Subscription, sink: DriverSink): Promise<DriverSession> {
    return this.#inner.connect(subscription, {
      assigned: (assignments) => sink.assigned(assignments),
      revoked: (assignments, how) => sink.revoked(assignments, how),
      skipped: (assignment, lost, resumeOffset) => sink.skipped?.(assignment, lost, resumeOffset),
      acknowledged: (validForMs) => sink.acknowledged?.(validForMs),
      failed: (error) => sink.failed(error),
      batch: (batch) => {
        const taken = this.#copies ? copyOf(batch) : batch;
        this.#take(taken);
        return sink.batch(taken);
      },
    });
  }

  /** The record is handled by everybody. */
  handled({ topic, partition }: Pick<PartitionAssignment, "topic" | "partition">, offset: bigint): void {
    const batches = this.#open.get(placeOf(topic, partition)) ?? [];
    const at = batches.findIndex(({ nextOffset }) => offset < nextOffset);
    const batch = batches[at];
    if (batch !== undefined && --batch.left === 0) {
      batches.splice(at, 1);
      this.#bytes -= batch.bytes;
    }
  }

  #take({ topic, partition, nextOffset, byteLength, recordCount }: FetchedBatch): void {
    if (recordCount === null || recordCount === 0) {
      return;
    }
    const place = placeOf(topic, partition);
    const batches = this.#open.get(place) ?? [];
    batches.push({ nextOffset, bytes: byteLength, left: recordCount });
    this.#open.set(place, batches);
    this.#bytes += byteLength;
    this.#peakBytes = Math.max(this.#peakBytes, this.#bytes);
    this.#largestBatchBytes = Math.max(this.#largestBatchBytes, byteLength);
  }
}

function copyOf(batch: FetchedBatch): FetchedBatch {
  const { assignment, topic, partition, nextOffset, highWatermark } = batch;
  const records = Array.from({ length: batch.recordCount ?? 0 }, (_, record) => ({
    topic,
    partition,
    offset: batch.offsetAt(record),
    timestamp: batch.timestampAt(record),
    key: copyOfBytes(batch.keyAt(record)),
    value: copyOfBytes(batch.valueAt(record)),
    headers: batch.headersAt(record),
  }));
  return new RecordArrayBatch({ assignment, records, nextOffset, highWatermark });
}

function copyOfBytes(bytes: Uint8Array | null): Buffer | null {
  return bytes === null ? null : Buffer.from(bytes);
}
