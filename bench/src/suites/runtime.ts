import { createConsumer } from "@cdckit/consumer";
import { type CdcEvent, createDecoder, type Decoder, type KafkaRecord } from "@cdckit/decode";
import { RecordArrayBatch } from "@cdckit/testkit";
import { type CorpusName, loadCorpus } from "../corpus.ts";
import { environment } from "../environment.ts";
import { handOver } from "../hand-over-driver.ts";
import { medianOf } from "../spread.ts";

const recordsPerBatch = 500;
const assignment = Object.freeze({ topic: "rows", partition: 0, epoch: 1 });
/** Over walking and decoding, at concurrency 1. */
const maxOverhead = 0.15;
const maxNsPerEvent = 1_000;

/**
 * What the runtime costs over its driver and its decoder: the same batches in the same memory, walked and decoded by a loop, and by
 * `createConsumer`. With real decoding, and with events that are there already.
 */
export async function runRuntime({
  rounds,
  messages = 200_000,
}: {
  readonly rounds: number;
  readonly messages?: number;
}): Promise<{ text: string; result: object }> {
  const lines: string[] = [];
  const results: object[] = [];
  for (const name of ["no decoding", "confluent-avro", "json-with-schema"] as const) {
    const { batches, decoder } = await inputOf(name, messages);
    const ns: { readonly raw: number[]; readonly consumer: number[] } = { raw: [], consumer: [] };
    for (let round = -2; round < rounds; round++) {
      const [raw, consumer] = [rawPass(batches, decoder), await consumerPass(batches, decoder)];
      if (round >= 0) {
        ns.raw.push(raw / messages);
        ns.consumer.push(consumer / messages);
      }
    }
    const added = medianOf(ns.consumer.map((one, i) => one - (ns.raw[i] ?? 0)));
    const share = medianOf(ns.consumer.map((one, i) => one / (ns.raw[i] ?? 1) - 1));
    const isHeld = added <= maxNsPerEvent && (name === "no decoding" || share <= maxOverhead);
    lines.push(
      `${name}: a loop ${medianOf(ns.raw).toFixed(0)} ns an event, createConsumer ${medianOf(ns.consumer).toFixed(0)}: ` +
        `${added.toFixed(0)} ns more${name === "no decoding" ? "" : `, ${(100 * share).toFixed(1)}%`} (${isHeld ? "held" : "MISSED"})`,
    );
    results.push({ name, addedNsPerEvent: added, share, held: isHeld, nsPerEvent: ns });
  }
  return {
    text: [`runtime, ${messages} events, at most ${maxNsPerEvent} ns an event and ${100 * maxOverhead}% more`, ...lines].join("\n"),
    result: { environment: environment(), messages, maxNsPerEvent, maxOverhead, cases: results },
  };
}

async function inputOf(
  name: CorpusName | "no decoding",
  messages: number,
): Promise<{ readonly batches: readonly RecordArrayBatch[]; readonly decoder: Decoder }> {
  const { records, schemas } = await loadCorpus(name === "no decoding" ? "confluent-avro" : name);
  const decoder = createDecoder({ schemas });
  const batches: RecordArrayBatch[] = [];
  for (let at = 0; at < messages; at += recordsPerBatch) {
    const part = Array.from({ length: Math.min(recordsPerBatch, messages - at) }, (_, i): KafkaRecord => {
      const record = records[(at + i) % records.length] as KafkaRecord; // within bounds
      return { ...record, topic: assignment.topic, partition: 0, offset: BigInt(at + i) };
    });
    batches.push(new RecordArrayBatch({ assignment, records: part }));
  }
  if (name !== "no decoding") {
    return { batches, decoder: createDecoder({ schemas, topics: { rows: { schemaIdentity: "trust" } } }) };
  }
  const events = [await decoder.decode(records[0] as KafkaRecord)][0] as readonly CdcEvent[];
  return { batches, decoder: { ...decoder, decodeAt: () => events } };
}

let handled = 0;

function handle(event: CdcEvent): void {
  handled += event.kind === "change" ? event.op.length : 0;
}

function rawPass(batches: readonly RecordArrayBatch[], decoder: Decoder): number {
  const start = process.hrtime.bigint();
  for (const batch of batches) {
    for (const walk = batch.walk(); walk.next(); ) {
      for (const event of decoder.decodeAt(walk) as readonly CdcEvent[]) {
        handle(event);
      }
    }
  }
  return Number(process.hrtime.bigint() - start);
}

async function consumerPass(batches: readonly RecordArrayBatch[], decoder: Decoder): Promise<number> {
  const { driver, handedOver } = handOver(batches);
  const consumer = createConsumer({ driver, groupId: "bench", topics: ["rows"], decoder, signals: false });
  consumer.on("*", { create: handle, read: handle, update: handle, delete: handle });
  const running = consumer.run();
  const elapsedNs = await handedOver;
  await consumer.stop();
  await running;
  if (consumer.health().counts.handled === 0) {
    throw new Error("the consumer has handled nothing");
  }
  return elapsedNs;
}
