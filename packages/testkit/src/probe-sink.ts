import type { DriverSink, FetchedBatch, LostRange, OffsetCommit, OpenWait, PartitionAssignment, WaitFor } from "@cdckit/consumer";
import type { KafkaRecord } from "@cdckit/decode";

/** A consumer that handles nothing and remembers everything: what a driver is tested with. */
export class ProbeSink implements DriverSink {
  /** Every record that was handed over, in that order. */
  readonly records: KafkaRecord[] = [];
  readonly batches: FetchedBatch[] = [];
  readonly failures: Error[] = [];
  /** Every revocation, with what was held then. */
  readonly revocations: { readonly assignments: readonly PartitionAssignment[]; readonly how: "revoked" | "lost" }[] = [];
  /** Where partitions start, and how many records had been handed over when that was said. */
  readonly starts: { readonly assignment: PartitionAssignment; readonly offset: bigint; readonly afterRecords: number }[] = [];
  /** Every range that was skipped. */
  readonly losses: { readonly assignment: PartitionAssignment; readonly lost: LostRange; readonly resumeOffset: bigint }[] = [];
  /** For how long the group has held the member for its own, at each word of it. */
  readonly acknowledgements: number[] = [];
  /** What is waited for now, and what the failed attempts of each wait said. */
  readonly waits: Set<WaitFor & { readonly causes: unknown[] }> = new Set();
  #held = new Set<PartitionAssignment>();
  #waiters: (() => void)[] = [];

  /** What `batch` answers; ready for the next one at once unless a test says otherwise. */
  onBatch: (batch: FetchedBatch) => Promise<void> | undefined = () => undefined;
  /** What `revoked` waits for. */
  onRevoked: (assignments: readonly PartitionAssignment[]) => Promise<void> = () => Promise.resolve();

  get held(): readonly PartitionAssignment[] {
    return [...this.#held];
  }

  assigned(assignments: readonly PartitionAssignment[]): void {
    for (const assignment of assignments) {
      this.#held.add(assignment);
    }
    this.#changed();
  }

  async revoked(assignments: readonly PartitionAssignment[], how: "revoked" | "lost"): Promise<void> {
    this.revocations.push({ assignments, how });
    this.#changed();
    await this.onRevoked(assignments);
    for (const assignment of assignments) {
      this.#held.delete(assignment);
    }
    this.#changed();
  }

  batch(batch: FetchedBatch): Promise<void> | undefined {
    this.batches.push(batch);
    this.records.push(...recordsOf(batch));
    this.#changed();
    return this.onBatch(batch);
  }

  startsAt(assignment: PartitionAssignment, offset: bigint): void {
    this.starts.push({ assignment, offset, afterRecords: this.records.length });
    this.#changed();
  }

  skipped(assignment: PartitionAssignment, lost: LostRange, resumeOffset: bigint): void {
    this.losses.push({ assignment, lost, resumeOffset });
    this.#changed();
  }

  acknowledged(validForMs: number): void {
    this.acknowledgements.push(validForMs);
    this.#changed();
  }

  waiting(wait: WaitFor): OpenWait {
    const open = { ...wait, causes: (wait.cause === undefined ? [] : [wait.cause]) as unknown[] };
    this.waits.add(open);
    this.#changed();
    return {
      failed: (cause) => {
        open.causes.push(cause);
        this.#changed();
      },
      end: () => {
        this.waits.delete(open);
        this.#changed();
      },
    };
  }

  failed(error: Error): void {
    this.failures.push(error);
    this.#changed();
  }

  /** Resolves when the claim holds; it is looked at after every call of the driver. */
  async until(claim: (sink: ProbeSink) => boolean): Promise<void> {
    while (!claim(this)) {
      await this.nextCall();
    }
  }

  nextCall(): Promise<void> {
    return new Promise((resolve) => this.#waiters.push(resolve));
  }

  #changed(): void {
    const waiters = this.#waiters;
    this.#waiters = [];
    for (const resolve of waiters) {
      resolve();
    }
  }
}

/** The end of a batch, as a commit. */
export function commitOf(batch: FetchedBatch): OffsetCommit {
  return { assignment: batch.assignment, offset: batch.nextOffset };
}

/** The batch walked to its end, each record as an object of its own. */
function recordsOf(batch: FetchedBatch): KafkaRecord[] {
  const records: KafkaRecord[] = [];
  for (const walk = batch.walk(); walk.next(); ) {
    const { record } = walk;
    records.push({
      topic: batch.topic,
      partition: batch.partition,
      offset: batch.offsetAt(record),
      timestamp: batch.timestampAt(record),
      key: slice(walk.keyBytes, walk.keyStart, walk.keyEnd),
      value: slice(walk.valueBytes, walk.valueStart, walk.valueEnd),
      headers: batch.headersAt(record),
    });
  }
  return records;
}

function slice(bytes: Uint8Array | null, start: number, end: number): Uint8Array | null {
  return bytes === null ? null : Uint8Array.prototype.slice.call(bytes, start, end);
}
