import type { CdcEvent } from "./event.ts";
import type { DecodeLimits, ValueOptions } from "./options.ts";
import type { KafkaRecord, RecordCursor } from "./record.ts";
import type { SchemaSource } from "./schema-source.ts";

/** What a topic's bytes cannot say by themselves. */
export interface TopicHints {
  /** The table that rows without an envelope belong to. */
  readonly table?: { readonly database?: string; readonly schema?: string; readonly name: string };
  /** Column name to semantic type name (`io.debezium.time.MicroTimestamp`), for encodings that carry no types. */
  readonly columns?: Readonly<Record<string, string | { readonly name: string; readonly parameters?: Readonly<Record<string, string>> }>>;
  /**
   * Whether a Debezium schema must belong to the topic or the table that the bytes name.
   * @default "check"
   */
  readonly schemaIdentity?: "check" | "trust";
}

export interface DecoderOptions {
  /** Where schema ids lead; without it, only messages that carry their schema or need none decode. */
  readonly schemas?: SchemaSource;
  readonly values?: ValueOptions;
  /** Hints by topic name. */
  readonly topics?: Readonly<Record<string, TopicHints>>;
  readonly limits?: DecodeLimits;
}

/** One format that was tried on one side of a record. */
export interface Candidate {
  readonly side: "key" | "value";
  readonly layer: "framing" | "encoding" | "envelope";
  readonly name: string;
  readonly won: boolean;
  /** What was seen in the bytes, and why it won or lost. */
  readonly evidence: string;
}

export interface Explanation {
  readonly candidates: readonly Candidate[];
  /** The error that decoding ends in, or null. */
  readonly error: Error | null;
}

export interface Decoder {
  /** The record's events; a promise only when a schema must be fetched first. Throws, or rejects with, `DecodeError`. */
  decode(record: KafkaRecord): readonly CdcEvent[] | Promise<readonly CdcEvent[]>;
  /** The same for a record in place. The cursor may be moved on as soon as the call has returned. */
  decodeAt(cursor: RecordCursor): readonly CdcEvent[] | Promise<readonly CdcEvent[]>;
  /** Every candidate tried, its evidence, why it won or lost. Fetches schemas if it must. */
  explain(record: KafkaRecord): Promise<Explanation>;
}

export function createDecoder(_options: DecoderOptions = {}): Decoder {
  throw new Error("not built yet");
}
