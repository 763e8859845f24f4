import { readFileSync } from "node:fs";
import type { KafkaRecord, RegisteredSchema } from "@cdckit/decode";
import { fromBundle } from "@cdckit/registry";
import { type BundledRecording, bundledRecordings, loadRecording } from "@cdckit/testkit";
import { independently, type IndependentReading } from "../contract/independent.ts";
import type { Sample } from "./sample.ts";

/** Of every bundled recording the first message of each kind; what kind it is, JSON.parse and avsc say. */
export async function recordedSamples(): Promise<readonly Sample[]> {
  const samples: Sample[] = [];
  for (const recording of bundledRecordings()) {
    samples.push(...(await firstOfEachKind(recording)));
  }
  return samples;
}

async function firstOfEachKind({ name, file, schemasFile }: BundledRecording): Promise<readonly Sample[]> {
  const source = fromBundle(schemasFile);
  const firsts = new Map<string, Sample>();
  for (const record of await loadRecording(file)) {
    const truth = independently(record, source);
    const kind = truth.op ?? truth.kind;
    if (!firsts.has(kind)) {
      firsts.set(kind, sampleOf(name, kind, record, truth, schemasIn(schemasFile)));
    }
  }
  return [...firsts.values()];
}

function sampleOf(file: string, name: string, record: KafkaRecord, truth: IndependentReading, schemas: readonly RegisteredSchema[]): Sample {
  const [framing, encoding, envelope] = formatsOf(file);
  return {
    file,
    name,
    record,
    schemas,
    options: {},
    formats: record.value === null ? [] : [framing, encoding, envelope],
    keyFormats: record.key === null ? [] : [framing, encoding],
    events: [{ kind: truth.kind, ...(truth.op === null ? {} : { op: truth.op }) }],
    error: null,
    writtenBy: "Debezium 3.5.0.Final",
    publishedIn: null,
  };
}

/** As the README of the recordings says: by the beginning of a topic's name. */
function formatsOf(recording: string): readonly [string, string, string] {
  const prefix = /\/(?:__debezium-heartbeat\.)?([\w-]+)/.exec(recording)?.[1] ?? "";
  const known: Readonly<Record<string, readonly [string, string, string]>> = {
    "confluent-avro": ["confluent", "avro", "debezium"],
    "json-with-schema": ["none", "connect-json", "debezium"],
    json: ["none", "json", "debezium"],
    tav: ["confluent", "avro", "debezium"],
    tjs: ["none", "connect-json", "debezium"],
    tjn: ["none", "json", "debezium"],
    tan: ["apicurio", "avro", "debezium"],
    tah: ["apicurio", "avro", "debezium"],
    tfj: ["none", "json", "flattened"],
    tfs: ["none", "connect-json", "flattened"],
    outbox: ["none", "json", "outbox"],
  };
  const formats = known[prefix];
  if (formats === undefined) {
    throw new Error(`nobody says in which formats the recording ${recording} is: add its prefix here`);
  }
  return formats;
}

function schemasIn(file: string): readonly RegisteredSchema[] {
  const lines = readFileSync(file, "utf8").split("\n");
  return lines.filter((line) => line !== "").map((line) => JSON.parse(line) as RegisteredSchema);
}
