import type { DecoderOptions, KafkaRecord, RegisteredSchema } from "@cdckit/decode";
import { fromBundleText } from "@cdckit/registry";
import { type RecordFields, recordOf, type WrittenBytes } from "@cdckit/testkit";

/** A vector of any file, or a recorded message, as a record: what it is written in, and what it says. */
export interface Sample {
  /** Its file below this folder, or its recording. */
  readonly file: string;
  readonly name: string;
  readonly record: KafkaRecord;
  readonly schemas: readonly RegisteredSchema[];
  readonly options: Pick<DecoderOptions, "values" | "topics" | "limits">;
  /** The value's framing, encoding and envelope. The framing alone where nothing more is said of it; nothing of null. */
  readonly formats: readonly string[];
  /** The key's framing and encoding, where they are stated. */
  readonly keyFormats: readonly string[];
  /** The events, each by the fields that are stated; null where it does not decode, or nobody says what to. */
  readonly events: readonly Readonly<Record<string, unknown>>[] | null;
  readonly error: string | null;
  /** The program that wrote the bytes, and its version. */
  readonly writtenBy: string | null;
  /** Whose published messages these are. */
  readonly publishedIn: string | null;
}

/** A record of one value, as most vectors are. */
export function valueRecord(value: WrittenBytes | null, more: RecordFields = {}): KafkaRecord {
  return recordOf(value, { topic: "inv.orders", partition: 3, offset: 41n, timestamp: 1_700_000_000_000n, ...more });
}

/** A decoder's options for the sample, its schemas at hand. */
export function decoderOptions({ schemas, options }: Sample): DecoderOptions {
  const bundle = schemas.map((schema) => JSON.stringify(schema)).join("\n");
  return { ...options, ...(schemas.length === 0 ? {} : { schemas: fromBundleText(bundle) }) };
}
