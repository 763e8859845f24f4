/** Writes the rows that the members of a chaos are judged by, whatever becomes of the broker. */
import { setTimeout as pass } from "node:timers/promises";
import avsc from "avsc";
import { type Admin, Kafka, logLevel, type Message, type Producer } from "kafkajs";
import { Random } from "../fuzz/random.ts";
import type { Produced } from "./audit.ts";

export const topic = "rows";
export const groupId = "chaos";
export const partitions = 4;
export const keys = 40;

export const rowType = avsc.Type.forSchema({
  type: "record",
  name: "Row",
  fields: [
    { name: "id", type: "int" },
    { name: "n", type: "int" },
  ],
});

export class RowWriter {
  readonly #client: Kafka;
  readonly #random: Random;
  #producer: Producer | null = null;
  #isWriting = true;
  #count = 0;
  /** A schema id that one record is to be written with, and its key. */
  #unusual: { readonly key: number; readonly schemaId: number } | null = null;

  constructor(brokers: string, seed: number) {
    this.#client = new Kafka({ brokers: [brokers], logLevel: logLevel.NOTHING, retry: { retries: 3, initialRetryTime: 100 } });
    this.#random = new Random(seed);
  }

  get isWriting(): boolean {
    return this.#isWriting;
  }

  stop(): void {
    this.#isWriting = false;
  }

  /** The next record of the key has this schema id. */
  writeWith(key: number, schemaId: number): void {
    this.#unusual = { key, schemaId };
  }

  async createTopic(): Promise<void> {
    await this.ask((admin) => admin.createTopics({ topics: [{ topic, numPartitions: partitions }], waitForLeaders: true }));
  }

  async writeUntilStopped(): Promise<void> {
    while (this.#isWriting) {
      const count = 1 + this.#random.below(60);
      await this.#write(Array.from({ length: count }, () => this.#message()));
      await pass(40);
    }
    await this.#producer?.disconnect();
  }

  /** What is in the log is the truth, not what the producer thinks. */
  async readBack(): Promise<readonly Produced[]> {
    const consumer = this.#client.consumer({ groupId: "truth" });
    let missing = [...(await this.ends()).values()].reduce((sum, end) => sum + end, 0n);
    const produced: Produced[] = [];
    await consumer.connect();
    await consumer.subscribe({ topics: [topic], fromBeginning: true });
    await new Promise<void>((resolve, reject) => {
      const eachMessage = async (read: { partition: number; message: { offset: string; key: Buffer | null } }): Promise<void> => {
        const { id } = JSON.parse(String(read.message.key)) as { id: number };
        produced.push({ partition: read.partition, offset: BigInt(read.message.offset), key: String(id) });
        missing--;
        if (missing === 0n) {
          resolve();
        }
      };
      consumer.run({ autoCommit: false, eachMessage }).catch(reject);
    });
    await consumer.disconnect();
    return produced;
  }

  /** By partition: the offset after its last record. */
  async ends(): Promise<ReadonlyMap<number, bigint>> {
    const offsets = await this.ask((admin) => admin.fetchTopicOffsets(topic));
    return new Map(offsets.map(({ partition, high }) => [partition, BigInt(high)]));
  }

  /** By partition: what the group has committed. */
  async committed(): Promise<ReadonlyMap<number, bigint>> {
    const [offsets] = await this.ask((admin) => admin.fetchOffsets({ groupId, topics: [topic] }));
    return new Map(
      (offsets?.partitions ?? []).filter(({ offset }) => offset !== "-1").map(({ partition, offset }) => [partition, BigInt(offset)]),
    );
  }

  /** The broker is away at times: whoever asks it waits, and asks again. */
  async ask<T>(what: (admin: Admin) => Promise<T>): Promise<T> {
    const giveUpAt = performance.now() + 60_000;
    for (;;) {
      const admin = this.#client.admin();
      try {
        await admin.connect();
        return await what(admin);
      } catch (error) {
        if (performance.now() > giveUpAt) {
          throw error;
        }
        await pass(200);
      } finally {
        await admin.disconnect().catch(() => {});
      }
    }
  }

  #message(): Message {
    const key = this.#random.below(keys);
    const isUnusual = this.#unusual?.key === key;
    const framing = Buffer.alloc(5);
    framing.writeInt32BE(isUnusual ? (this.#unusual?.schemaId ?? 1) : 1, 1);
    this.#unusual = isUnusual ? null : this.#unusual;
    const value = Buffer.concat([framing, rowType.toBuffer({ id: key, n: this.#count++ })]);
    return { partition: key % partitions, key: JSON.stringify({ id: key }), value };
  }

  /** Until it is there, perhaps twice: what counts is what the log holds. */
  async #write(messages: Message[]): Promise<void> {
    while (this.#isWriting) {
      this.#producer ??= this.#client.producer();
      try {
        await this.#producer.connect();
        await this.#producer.send({ topic, messages, acks: -1 });
        return;
      } catch {
        await this.#producer.disconnect().catch(() => {});
        this.#producer = null;
        await pass(200);
      }
    }
  }
}
