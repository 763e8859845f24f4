import { createConsumer } from "@cdckit/consumer";
import { type CdcEvent, createDecoder, type Decoder, type KafkaRecord } from "@cdckit/decode";
import { RecordArrayBatch } from "@cdckit/testkit";
import { type CorpusName, loadCorpus } from "../corpus.ts";
import { handOver } from "../hand-over-driver.ts";

/** A corpus that is decoded, or `"no decoding"`: the events are there already. */
export type RuntimeCase = "no decoding" | CorpusName;

/** Nanoseconds an event, a number a round. */
export interface RuntimeResult {
  readonly loop: readonly number[];
  readonly consumer: readonly number[];
}

const warmUpRounds = 2;
const recordsPerBatch = 500;
const assignment = Object.freeze({ topic: "rows", partition: 0, epoch: 1 });

/**
 * The same batches in the same memory, walked and decoded by a loop, and by `createConsumer`, in turn. In a process of its own: what V8 has
 * learned of a consumer with another decoder would slow this one.
 */
export async function measureRuntime(name: RuntimeCase, rounds: number, messages: number): Promise<RuntimeResult> {
  const { batches, decoder } = await inputOf(name, messages);
  const ns: { readonly loop: number[]; readonly consumer: number[] } = { loop: [], consumer: [] };
  for (let round = -warmUpRounds; round < rounds; round++) {
    const [loop, consumer] = [loopPass(batches, decoder), await consumerPass(batches, decoder)];
    if (round >= 0) {
      ns.loop.push(loop / messages);
      ns.consumer.push(consumer / messages);
    }
  }
  return ns;
}

async function inputOf(
  name: RuntimeCase,
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

function loopPass(batches: readonly RecordArrayBatch[], decoder: Decoder): number {
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
