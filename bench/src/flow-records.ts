import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import type { KafkaRecord, SchemaSource } from "@cdckit/decode";
import { fromBundleText } from "@cdckit/registry";
import { bundledRecording, loadRecording } from "@cdckit/testkit";

/** A topic whose partitions hold the recorded messages over and over. */
export interface FlowTopic {
  readonly name: string;
  readonly messages: readonly FlowMessage[];
  readonly recordsPerPartition: number;
}

/** As it was recorded: what is read must be a copy of it, or the bytes in flight would all be the same. */
export type FlowMessage = Pick<KafkaRecord, "key" | "value">;

export interface Flow {
  readonly topics: readonly FlowTopic[];
  readonly schemas: SchemaSource;
  readonly records: number;
  /** Of keys and values. */
  readonly bytes: number;
}

export const flowPartitions = 2;

type TopicName = "avro" | "json" | "json-with-schema" | "toast" | "large";

/** Of everything, or of long columns alone. */
export type FlowMix = "all" | "wide";

/** How much of the whole each topic has. */
const mixes: Readonly<Record<FlowMix, Readonly<Partial<Record<TopicName, number>>>>> = {
  all: { avro: 0.05, json: 0.1, "json-with-schema": 0.3, toast: 0.25, large: 0.3 },
  wide: { toast: 0.4, large: 0.6 },
};

const rows = "salesorderdetail";
const small = "postgres-debezium-3.5";
const recordingsOf: Readonly<Record<TopicName, readonly string[]>> = {
  avro: [`${rows}/confluent-avro`],
  json: [`${rows}/json`],
  "json-with-schema": [`${rows}/json-with-schema`],
  toast: [`${small}/tav.inv.toast`, `${small}/tjn.inv.toast`, `${small}/tjs.inv.toast`],
  large: [`${small}/tav.inv.toast`, `${small}/tjn.inv.toast`, `${small}/tjs.inv.toast`],
};

/** So many bytes of recorded messages: small rows in three formats, rows with a column of 12,800 characters, and those near a mebibyte. */
export async function flowOf(bytes: number, mix: FlowMix): Promise<Flow> {
  const topics: FlowTopic[] = [];
  let total = { records: 0, bytes: 0 };
  for (const [name, share] of Object.entries(mixes[mix])) {
    const names = recordingsOf[name as TopicName];
    const recorded = (await Promise.all(names.map((one) => loadRecording(bundledRecording(one).file)))).flat();
    const messages = name === "large" ? recorded.flatMap(enlarged) : recorded.map(({ key, value }) => ({ key, value }));
    const meanBytes = messages.reduce((sum, message) => sum + sizeOf(message), 0) / messages.length;
    const recordsPerPartition = Math.ceil((bytes * share) / meanBytes / flowPartitions);
    topics.push({ name: `flow.${name}`, messages, recordsPerPartition });
    total = { records: total.records + recordsPerPartition * flowPartitions, bytes: total.bytes + bytesOf(messages, recordsPerPartition) };
  }
  const texts = [rows, small].map((folder) => readFileSync(bundledRecording(firstOf(folder)).schemasFile, "utf8"));
  return { topics, schemas: fromBundleText(texts.join("\n")), ...total };
}

/** The message that stands there: partitions of a topic begin at different ones. */
export function messageAt({ messages }: FlowTopic, partition: number, offset: number): FlowMessage {
  return messages[(offset * flowPartitions + partition) % messages.length] as FlowMessage; // there are some
}

export function sizeOf({ key, value }: FlowMessage): number {
  return (key?.length ?? 0) + (value?.length ?? 0);
}

function bytesOf(messages: readonly FlowMessage[], recordsPerPartition: number): number {
  let bytes = 0;
  for (let i = 0; i < recordsPerPartition * flowPartitions; i++) {
    bytes += sizeOf(messages[i % messages.length] as FlowMessage);
  }
  return bytes;
}

function firstOf(folder: string): string {
  return folder === rows ? `${rows}/json` : `${small}/tav.inv.toast`;
}

const recordedCharacters = 12_800;
/** A column so long that the message stays below a mebibyte, which is what brokers take by default. */
const largeCharacters = 1_000_000;

/** The recorded row with its long column grown; those without it are left out. In Avro the column's length stands in front of it. */
function enlarged({ key, value }: FlowMessage): FlowMessage[] {
  const bytes = Buffer.from(value ?? []);
  const start = bytes.indexOf(hashOf(1));
  if (start === -1) {
    return [];
  }
  const isAvro = bytes[0] === 0;
  const head = isAvro ? Buffer.concat([bytes.subarray(0, start - 3), lengthOf(largeCharacters)]) : bytes.subarray(0, start);
  return [{ key, value: Buffer.concat([head, grownColumn(), bytes.subarray(start + recordedCharacters)]) }];
}

/** The recorded column is the hashes of 1 to 400, one after the other: this goes on in the same way, and compresses as badly. */
function grownColumn(): Buffer {
  const hashes = Array.from({ length: Math.ceil(largeCharacters / 32) }, (_, i) => hashOf(i + 1));
  return Buffer.from(hashes.join("").slice(0, largeCharacters));
}

function hashOf(number: number): string {
  return createHash("md5").update(String(number)).digest("hex");
}

/** As Avro writes it: zigzag, seven bits a byte. */
function lengthOf(characters: number): Buffer {
  const bytes: number[] = [];
  let rest = characters * 2;
  while (rest >= 128) {
    bytes.push((rest % 128) + 128);
    rest = Math.floor(rest / 128);
  }
  return Buffer.from([...bytes, rest]);
}
