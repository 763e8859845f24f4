import type { KafkaRecord, SchemaSource } from "@cdckit/decode";
import { fromBundle } from "@cdckit/registry";
import { bundledRecording, loadRecording } from "@cdckit/testkit";
import { inFetchedBatches } from "./fetched-batches.ts";
import { protobufCorpus } from "./protobuf-corpus.ts";

/** 2,000 rows of one table, written by the same connector through one converter each. */
export type CorpusName = "json-with-schema" | "json" | "confluent-avro" | "confluent-protobuf";

export interface Corpus {
  readonly name: CorpusName;
  readonly records: readonly KafkaRecord[];
  readonly schemas: SchemaSource;
}

export async function loadCorpus(name: CorpusName): Promise<Corpus> {
  const corpus = name === "confluent-protobuf" ? protobufCorpus(await recorded("confluent-avro")) : await recorded(name);
  return { ...corpus, records: inFetchedBatches(corpus.records) };
}

/** A recording as it is. */
export async function recorded(name: Exclude<CorpusName, "confluent-protobuf">): Promise<Corpus> {
  const { file, schemasFile } = bundledRecording(`salesorderdetail/${name}`);
  return { name, records: await loadRecording(file), schemas: fromBundle(schemasFile) };
}
