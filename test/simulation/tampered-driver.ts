import type {
  DriverSession,
  DriverSink,
  FetchedBatch,
  KafkaDriver,
  OffsetCommit,
  PartitionAssignment,
  Subscription,
} from "@cdckit/consumer";
import type { KafkaRecord } from "@cdckit/decode";
import { RecordArrayBatch } from "@cdckit/testkit";

/** What passes between one consumer and its driver. */
export interface Line {
  /** Null until it is connected. */
  readonly session: () => DriverSession | null;
  /** Of each assignment, where the last batch that was handed over ends. */
  readonly handedTo: ReadonlyMap<PartitionAssignment, bigint>;
}

/** What is put into the line. What is left out passes. */
export interface Tampering {
  readonly subscription?: (subscription: Subscription) => Subscription;
  readonly sink?: (sink: DriverSink, line: Line) => Partial<DriverSink>;
  readonly session?: (session: DriverSession, line: Line) => Partial<DriverSession>;
  readonly commit?: (offsets: readonly OffsetCommit[], line: Line) => readonly OffsetCommit[];
  readonly records?: (records: readonly KafkaRecord[]) => readonly KafkaRecord[];
}

/** A driver with something in the line. */
export function tamperedDriver(driver: KafkaDriver, tampering: Tampering): KafkaDriver {
  return {
    name: driver.name,
    capabilities: driver.capabilities,
    connect: async (subscription, sink) => {
      let session: DriverSession | null = null;
      const handedTo = new Map<PartitionAssignment, bigint>();
      const line: Line = { session: () => session, handedTo };
      const whole = tamperedSink(sink, tampering, line);
      const noting: DriverSink = {
        ...whole,
        batch: (batch) => {
          handedTo.set(batch.assignment, batch.nextOffset);
          return whole.batch(tampering.records === undefined ? batch : withRecords(batch, tampering.records(recordsOf(batch))));
        },
      };
      const inner = await driver.connect(tampering.subscription?.(subscription) ?? subscription, noting);
      session = inner;
      const { commit } = tampering;
      const plain: DriverSession = commit === undefined ? inner : { ...inner, commit: (offsets) => inner.commit(commit(offsets, line)) };
      return { ...plain, ...tampering.session?.(plain, line) };
    },
  };
}

function tamperedSink(sink: DriverSink, tampering: Tampering, line: Line): DriverSink {
  const plain: DriverSink = {
    assigned: (assignments) => sink.assigned(assignments),
    revoked: (assignments, how) => sink.revoked(assignments, how),
    batch: (batch) => sink.batch(batch),
    skipped: (assignment, lost, resumeOffset) => sink.skipped?.(assignment, lost, resumeOffset),
    acknowledged: (validForMs) => sink.acknowledged?.(validForMs),
    ...(sink.waiting === undefined ? {} : { waiting: sink.waiting.bind(sink) }),
    reconnected: (why) => sink.reconnected?.(why),
    failed: (error) => sink.failed(error),
  };
  return { ...plain, ...tampering.sink?.(plain, line) };
}

/** The batch with other records. */
export function withRecords(batch: FetchedBatch, records: readonly KafkaRecord[]): FetchedBatch {
  const { assignment, nextOffset, highWatermark } = batch;
  return new RecordArrayBatch({ assignment, records, nextOffset, highWatermark });
}

/** A batch's records as objects. */
export function recordsOf(batch: FetchedBatch): KafkaRecord[] {
  const records: KafkaRecord[] = [];
  for (const walk = batch.walk(); walk.next(); ) {
    const { record } = walk;
    records.push({
      topic: batch.topic,
      partition: batch.partition,
      offset: batch.offsetAt(record),
      timestamp: batch.timestampAt(record),
      key: batch.keyAt(record),
      value: batch.valueAt(record),
      headers: batch.headersAt(record),
    });
  }
  return records;
}
