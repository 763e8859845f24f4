import type { DriverSession, DriverSink, FetchedBatch, KafkaDriver, PartitionAssignment, Subscription } from "@cdckit/consumer";
import { type KafkaRecord, RecordObjectsWalk } from "@cdckit/decode";
import { RecordArrayBatch } from "@cdckit/testkit";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";

const recordsPerBatch = 500;

/**
 * A driver that plays the same records again and again, with offsets that go on rising. Only one round of them is in memory, so it measures
 * ten million messages as well as two thousand. No broker, no group, no commits. It reads each partition in turn.
 */
export function replayDriver(records: readonly KafkaRecord[], times: number): KafkaDriver {
  const partitions = partitionsOf(records);
  return {
    name: "replay",
    capabilities: {
      metadataCommit: false,
      topicIds: false,
      cooperative: false,
      awaitsRevoked: false,
      kip848: false,
      leaderEpoch: false,
      codecs: ["none"],
      crc: false,
      offsetResetNone: false,
    },
    async connect({ topics }: Subscription, sink: DriverSink): Promise<DriverSession> {
      const wanted = partitions.filter(({ assignment }) => topics.includes(assignment.topic));
      const paused = new Set<PartitionAssignment>();
      let isClosed = false;
      let wake: () => void = () => {};
      sink.assigned(wanted.map(({ assignment }) => assignment));
      const playing = play();
      return {
        commit: async () => {},
        pause: (assignments) => assignments.forEach((assignment) => paused.add(assignment)),
        resume: (assignments) => {
          assignments.forEach((assignment) => paused.delete(assignment));
          wake();
        },
        async close() {
          isClosed = true;
          wake();
          await playing;
        },
      };

      async function play(): Promise<void> {
        await yieldToEventLoop(); // the caller has its session first
        for (const { assignment, batch } of replay(wanted, times)) {
          while (paused.has(assignment) && !isClosed) {
            await new Promise<void>((resolve) => {
              wake = resolve;
            });
          }
          if (isClosed) {
            return;
          }
          await sink.batch(batch);
          await yieldToEventLoop(); // as a fetch would
        }
      }
    },
  };
}

/** One batch after the other, so that only one is made at a time. */
function* replay(
  partitions: readonly ReplayedPartition[],
  times: number,
): Generator<{ readonly assignment: PartitionAssignment; readonly batch: FetchedBatch }> {
  for (let time = 0; time < times; time++) {
    for (const { assignment, batches, span } of partitions) {
      for (const batch of batches) {
        yield { assignment, batch: shifted(batch, BigInt(time) * span) };
      }
    }
  }
}

interface ReplayedPartition {
  readonly assignment: PartitionAssignment;
  readonly batches: readonly ReplayedBatch[];
  /** How far offsets rise in one round. */
  readonly span: bigint;
}

function partitionsOf(records: readonly KafkaRecord[]): readonly ReplayedPartition[] {
  const byPlace = new Map<string, KafkaRecord[]>();
  for (const record of records) {
    const place = `${record.topic}\0${record.partition}`;
    const found = byPlace.get(place) ?? [];
    byPlace.set(place, found);
    found.push(record);
  }
  return [...byPlace.values()].map((own) => {
    const [first] = own as [KafkaRecord];
    const assignment = { topic: first.topic, partition: first.partition, epoch: 0 };
    const batches = Array.from({ length: Math.ceil(own.length / recordsPerBatch) }, (_, i): ReplayedBatch => {
      const slice = own.slice(i * recordsPerBatch, (i + 1) * recordsPerBatch);
      return { batch: new RecordArrayBatch({ assignment, records: slice }), records: slice };
    });
    return { assignment, batches, span: (own.at(-1)?.offset ?? 0n) + 1n };
  });
}

interface ReplayedBatch {
  readonly batch: RecordArrayBatch;
  readonly records: readonly KafkaRecord[];
}

/** The batch, seen as if it stood so many offsets later. */
function shifted({ batch, records }: ReplayedBatch, by: bigint): FetchedBatch {
  if (by === 0n) {
    return batch;
  }
  const { assignment, topic, partition, recordCount, byteLength, wireBytes, nextOffset } = batch;
  const seen: FetchedBatch = {
    assignment,
    topic,
    partition,
    recordCount,
    byteLength,
    wireBytes,
    nextOffset: nextOffset + by,
    highWatermark: null,
    walk: () => new RecordObjectsWalk(seen, records),
    offsetAt: (record) => batch.offsetAt(record) + by,
    timestampAt: (record) => batch.timestampAt(record),
    headersAt: (record) => batch.headersAt(record),
    keyAt: (record) => batch.keyAt(record),
    valueAt: (record) => batch.valueAt(record),
    headerNamesAre: (record, names) => batch.headerNamesAre(record, names),
  };
  return seen;
}
