import { createDecoder, type DecoderOptions, isDecodeError, type KafkaRecord, type SchemaSource } from "@cdckit/decode";
import { fromBundle } from "@cdckit/registry";
import { bundledRecordings, loadRecording } from "@cdckit/testkit";
import { protobufPeerSeeds } from "./protobuf-peer-seeds.ts";
import { framingSeeds, jsonSchemaSeeds, plainSeeds, protobufSeeds, vectorSeeds } from "./vector-seeds.ts";

/** Messages of one source that one decoder reads. */
export interface Seeds {
  readonly name: string;
  readonly records: readonly KafkaRecord[];
  readonly options: DecoderOptions;
}

/** One message to make others of. */
export interface Seed {
  readonly from: Seeds;
  readonly record: KafkaRecord;
  /** As it is, it gives events. */
  readonly isDecodable: boolean;
}

/** The messages of one encoding. */
export interface Pool {
  readonly encoding: string;
  readonly recorded: readonly Seed[];
  /** Those of vectors: small, and each with something of its own. */
  readonly written: readonly Seed[];
}

/** Of the recordings of one row after the other, some rows tell as much as all. */
const maxRecords = 60;

/** Every bundled recording and every vector, by the encoding of their values. */
export async function loadCorpus(): Promise<readonly Pool[]> {
  const pools = new Map<string, { recorded: Seed[]; written: Seed[] }>();
  const recorded = await recordedSeeds();
  const written = [
    ...vectorSeeds(),
    ...framingSeeds(),
    ...protobufSeeds(),
    protobufPeerSeeds(),
    jsonSchemaSeeds(),
    plainSeeds("msgpack"),
    plainSeeds("cbor"),
  ];
  for (const from of [...recorded, ...written]) {
    for (const record of from.records) {
      const { encoding, isDecodable } = await lookAt(record, from);
      const pool = pools.get(encoding) ?? { recorded: [], written: [] };
      pools.set(encoding, pool);
      (recorded.includes(from) ? pool.recorded : pool.written).push({ from, record, isDecodable });
    }
  }
  return [...pools].map(([encoding, pool]) => ({ encoding, ...pool }));
}

async function recordedSeeds(): Promise<Seeds[]> {
  const all: Seeds[] = [];
  const sources = new Map<string, SchemaSource>();
  for (const { name, file, schemasFile } of bundledRecordings()) {
    const schemas = sources.get(schemasFile) ?? fromBundle(schemasFile);
    sources.set(schemasFile, schemas);
    all.push({ name, records: (await loadRecording(file)).slice(0, maxRecords), options: { schemas } });
  }
  return all;
}

async function lookAt(record: KafkaRecord, { options }: Seeds): Promise<{ readonly encoding: string; readonly isDecodable: boolean }> {
  try {
    const [event] = await createDecoder(options).decode(record);
    return { encoding: record.value === null ? "json" : (event?.encoding ?? "json"), isDecodable: event !== undefined };
  } catch (error) {
    if (!isDecodeError(error)) {
      throw error;
    }
    return { encoding: record.value?.[0] === 0 ? "avro" : "json", isDecodable: false };
  }
}
