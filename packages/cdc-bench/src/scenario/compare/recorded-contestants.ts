import { createDecoder, type KafkaRecord, type SchemaSource } from "@cdckit/decode";
import { loadRecording, RecordArrayBatch } from "@cdckit/testkit";
import { performance } from "node:perf_hooks";
import { setImmediate as yieldToEventLoop } from "node:timers/promises";
import { replayDriver } from "../../load/replay-driver.ts";
import { readEvent } from "../../measure/decode-meter.ts";
import { ReadingLoad } from "../../measure/process-load.ts";
import { measureReading } from "../../measure/reading.ts";
import type { Contestant, PlayedRound } from "./contestant.ts";
import { peerFor, shortName } from "./peers-of.ts";

export interface RecordedContest {
  readonly file: string;
  readonly schemas: SchemaSource | undefined;
  readonly withPeers: boolean;
  /** How often the whole pipeline reads the recording in a round. */
  readonly repeat: number;
  readonly interrupt: AbortSignal;
}

/** How long a decoder alone works in a round. */
const sliceMs = 300;

/** For each topic of a recording: decoders alone, and cdckit's whole pipeline. */
export async function recordedContestants(contest: RecordedContest): Promise<readonly Contestant[]> {
  const byTopic = new Map<string, KafkaRecord[]>();
  for (const record of await loadRecording(contest.file)) {
    const records = byTopic.get(record.topic) ?? [];
    byTopic.set(record.topic, records);
    records.push(record);
  }
  const all: Contestant[] = [];
  for (const [topic, records] of byTopic) {
    all.push(...(await contestantsOf(contest, topic, records)));
  }
  return all;
}

async function contestantsOf(contest: RecordedContest, topic: string, records: readonly KafkaRecord[]): Promise<readonly Contestant[]> {
  const pipeline = pipelineContestant(contest, topic, records);
  const first = await pipeline.play(); // and all schemas are at hand afterwards
  const formats = first?.reading?.formats.map(({ format }) => format) ?? [];
  const decodes: Contestant = {
    topic,
    reader: "cdckit, decode alone",
    kind: "cdckit",
    play: decodeLoop(contest, topic, records),
  };
  const peer = contest.withPeers ? peerFor(formats, contest.schemas) : undefined;
  const peers: readonly Contestant[] =
    peer === undefined
      ? []
      : [
          {
            topic,
            reader: `${shortName(peer)}, decode alone`,
            kind: "peer",
            play: () => repeated(records, (record) => peer.read(record), contest.interrupt),
          },
        ];
  return [decodes, ...peers, pipeline];
}

function pipelineContestant({ schemas, repeat, interrupt }: RecordedContest, topic: string, records: readonly KafkaRecord[]): Contestant {
  return {
    topic,
    reader: "cdckit, whole pipeline",
    kind: "cdckit",
    async play() {
      const load = new ReadingLoad();
      const reading = await measureReading({
        groupId: "compare",
        driver: replayDriver(records, repeat),
        schemas,
        topics: [topic],
        from: "earliest",
        end: { maxRecords: records.length * repeat },
        maxDurationMs: undefined,
        maxIdleMs: undefined,
        measureLatency: false,
        interrupt,
        load,
        onProgress: () => {},
      });
      const { bytes, errorRecords, outcome } = reading;
      const elapsedMs = reading.elapsedMs - reading.firstBatchMs;
      return outcome === "interrupted" ? null : { records: reading.records, bytes, elapsedMs, errorRecords, load: load.end(), reading };
    },
  };
}

/** cdckit's decoder as a consumer drives it: in place, over a batch. */
function decodeLoop(
  { schemas, interrupt }: RecordedContest,
  topic: string,
  records: readonly KafkaRecord[],
): () => Promise<PlayedRound | null> {
  const decoder = createDecoder(schemas === undefined ? {} : { schemas });
  const batch = new RecordArrayBatch({ assignment: { topic, partition: records[0]?.partition ?? 0, epoch: 0 }, records });
  const pass = async (): Promise<number> => {
    let errors = 0;
    const walk = batch.walk();
    while (walk.next()) {
      try {
        const decoded = decoder.decodeAt(walk);
        const events = decoded instanceof Promise ? await decoded : decoded;
        for (const event of events) {
          readEvent(event);
        }
      } catch {
        errors++;
      }
    }
    return errors;
  };
  return () => timed(records, pass, interrupt);
}

function repeated(
  records: readonly KafkaRecord[],
  read: (record: KafkaRecord) => void,
  interrupt: AbortSignal,
): Promise<PlayedRound | null> {
  const pass = async (): Promise<number> => {
    let errors = 0;
    for (const record of records) {
      try {
        read(record);
      } catch {
        errors++;
      }
    }
    return errors;
  };
  return timed(records, pass, interrupt);
}

async function timed(records: readonly KafkaRecord[], pass: () => Promise<number>, interrupt: AbortSignal): Promise<PlayedRound | null> {
  const bytes = records.reduce((sum, { key, value }) => sum + (key?.length ?? 0) + (value?.length ?? 0), 0);
  const watch = new ReadingLoad();
  watch.batchBegins();
  const startMs = performance.now();
  let [passes, errorRecords, elapsedMs] = [0, 0, 0];
  do {
    errorRecords += await pass();
    passes++;
    elapsedMs = performance.now() - startMs;
  } while (elapsedMs < sliceMs);
  watch.batchEnds();
  const load = watch.end();
  await yieldToEventLoop(); // Ctrl-C is heard between rounds
  return interrupt.aborted
    ? null
    : { records: records.length * passes, bytes: bytes * passes, elapsedMs, errorRecords, load, reading: null };
}
