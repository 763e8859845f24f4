import type { CodecMode } from "./codec-result.ts";

/** A row of a published table, and the codec of ours that does the same. */
export interface PublishedCodec {
  readonly published: string;
  readonly codec: string;
  readonly writeMs?: number;
  readonly readMs?: number;
  /** Write and read together. */
  readonly totalMs?: number;
  readonly sizeBytes?: number;
  /** Write, transport over 100 Mbit/s and read together. */
  readonly linkMs?: number;
}

/** A table that somebody published about one of the data sets. */
export interface PublishedTable {
  readonly suite: string;
  readonly mode: CodecMode;
  readonly title: string;
  /** So many rows it is about: with other numbers only the multiples can be compared. */
  readonly rows: number;
  readonly codecs: readonly PublishedCodec[];
}

/** The link that the published sums are about, in bits a second. */
export const publishedLink = 100e6;

/** The published tables of the data sets that `codec` makes: figures are copied, never measured here. */
export const publishedTables: readonly PublishedTable[] = [
  {
    suite: "soa",
    mode: "list",
    title: "SOA protocols (Python 2.7), whole list of 100,000",
    rows: 100_000,
    codecs: [
      { published: "json", codec: "json", writeMs: 470, readMs: 1_080, sizeBytes: 16_388_848 },
      { published: "json.gz", codec: "json, gzip", writeMs: 1_880, readMs: 1_520, sizeBytes: 5_887_318 },
      { published: "json-schema", codec: "json-schema (ajv)", writeMs: 470, readMs: 13_180, sizeBytes: 16_388_848 },
      { published: "avro", codec: "avro, headless (avsc)", writeMs: 9_120, readMs: 9_880, sizeBytes: 8_094_892 },
      { published: "proto", codec: "protobuf (protobufjs)", writeMs: 7_870, readMs: 7_460, sizeBytes: 9_183_403 },
    ],
  },
  {
    suite: "soa",
    mode: "objects",
    title: "SOA protocols (Python 2.7), 100,000 objects one by one",
    rows: 100_000,
    codecs: [
      { published: "json", codec: "json", totalMs: 1_210, sizeBytes: 11_889_142 },
      { published: "avro", codec: "avro, headless (avsc)", totalMs: 9_350, sizeBytes: 8_095_121 },
      { published: "proto", codec: "protobuf (protobufjs)", totalMs: 10_990, sizeBytes: 8_983_713 },
    ],
  },
  {
    suite: "avro-api",
    mode: "list",
    title: "Avro APIs (.NET, AvroConvert), files of the same 10 MB of JSON",
    rows: 92_000,
    codecs: [
      { published: "json", codec: "json", sizeBytes: 9_945_000, linkMs: 1_104 },
      { published: "avro", codec: "avro, container (avsc)", sizeBytes: 2_436_000, linkMs: 792 },
      { published: "avro, headless", codec: "avro, headless (avsc)", linkMs: 778 },
      { published: "snappy.avro", codec: "avro, snappy (avsc)", sizeBytes: 421_000 },
      { published: "json.gz", codec: "json, gzip", sizeBytes: 257_000 },
      { published: "gzip avro", codec: "avro, container (avsc), gzip", sizeBytes: 206_000 },
      { published: "deflate avro", codec: "avro, deflate (avsc)", sizeBytes: 206_000, linkMs: 759 },
    ],
  },
];
