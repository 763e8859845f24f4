import { readdirSync } from "node:fs";
import { join } from "node:path";
import type { RegisteredSchema } from "@cdckit/decode";
import { bytesOf, type WrittenBytes } from "@cdckit/testkit";
import { linesOf } from "./lines.ts";
import { type Sample, valueRecord } from "./sample.ts";
import { expected } from "./vector.ts";

/** A line of `framing/`: one side of a record, and the expected result of its framing. `README.md` explains it. */
interface Line {
  readonly name: string;
  readonly writtenBy?: string;
  readonly side?: "key" | "value";
  readonly headers?: readonly (readonly [string, WrittenBytes | null])[];
  readonly value: WrittenBytes;
  readonly framing: string;
  readonly schemaId?: number | string | null;
  readonly payload?: WrittenBytes;
  readonly payloads?: readonly { readonly count: number }[];
  readonly schema?: unknown;
  readonly tolerant?: boolean;
  readonly needs?: string;
  readonly choices?: unknown;
  readonly chosen?: { readonly message: { readonly kind: string } };
  readonly error?: string;
  /** The schema and the content of the payload. */
  readonly means?: Meaning;
}

/** The schema of a payload, and the row that the payload holds; no row if the events are not compared. */
interface Meaning extends Omit<RegisteredSchema, "id"> {
  readonly encoding: string;
  readonly row?: unknown;
}

/** The meaning of all messages of a file whose names begin with `names`. */
interface SharedMeaning extends Meaning {
  readonly file: string;
  readonly names: string;
}

const files = readdirSync(join(import.meta.dirname, "framing")).filter((file) => file.endsWith(".ndjson"));

/** The vectors of framings as records. Those that not every runtime can read are left out. */
export function framingSamples(): readonly Sample[] {
  const shared = linesOf<SharedMeaning>("framing-meanings.ndjson");
  return files.flatMap((file) =>
    linesOf<Line>(`framing/${file}`)
      .filter(({ needs }) => needs === undefined)
      .map((line) => {
        const declared = shared.find((meaning) => line.framing !== "none" && meaning.file === file && line.name.startsWith(meaning.names));
        return sampleOf(`framing/${file}`, line, line.means ?? declared ?? meaningOf(line));
      }),
  );
}

/** The meaning of a line that says no more than its framing: most of them have one byte `02` as their payload, the Avro int 1. */
function meaningOf({ name, schemaId, schema, payload, choices, error }: Line): Meaning | null {
  if (name.startsWith("Apicurio's JSON with a schema id")) {
    return { encoding: "json-schema", schemaType: "JSON", schema: "{}" };
  }
  const isOne = payload !== undefined && bytesOf(payload).equals(Buffer.of(2));
  const carries = schema !== undefined;
  return error === undefined && choices === undefined && isOne && (carries || (schemaId ?? null) !== null)
    ? { encoding: "avro", schemaType: "AVRO", schema: oneInteger, row: { id: 1 } }
    : null;
}

const oneInteger = '{"type":"record","name":"R","fields":[{"name":"id","type":"int"}]}';

function sampleOf(file: string, line: Line, meaning: Meaning | null): Sample {
  const { name, side = "value", framing, schemaId = null, payloads, tolerant = false, error = null } = line;
  const headers = line.headers ?? [];
  const record = side === "key" ? valueRecord(null, { key: line.value, headers }) : valueRecord(line.value, { headers });
  const isFile = payloads !== undefined && meaning === null;
  const encoding = isFile ? "avro" : meaning?.encoding;
  const isKey = side === "key";
  // Four bytes of an id are both registries'; the name of a message behind them is Apicurio's alone.
  const framedBy = framing === "confluent" && line.chosen?.message.kind === "name" ? "apicurio" : framing;
  return {
    file,
    name,
    record,
    schemas: meaning === null || schemaId === null ? [] : [{ id: schemaId, schemaType: meaning.schemaType, schema: meaning.schema }],
    options: tolerant ? { topics: { [record.topic]: { value: { messageIndexes: "tolerant" } } } } : {},
    formats: isKey ? [] : [framedBy, ...(encoding === undefined ? [] : [encoding, "none"])],
    keyFormats: isKey ? [framing, ...(encoding === undefined ? [] : [encoding])] : [],
    events: eventsOf(line, isFile, encoding, meaning?.row),
    error,
    writtenBy: line.writtenBy ?? null,
    publishedIn: null,
  };
}

function eventsOf({ side, payloads = [] }: Line, isFile: boolean, encoding: string | undefined, row: unknown): Sample["events"] {
  if (isFile) {
    const count = payloads.reduce((sum, payload) => sum + payload.count, 0);
    return Array.from({ length: count }, () => ({ kind: "row" }));
  }
  if (row === undefined) {
    return encoding === undefined ? null : [{}];
  }
  return side === "key" ? [{ kind: "tombstone", key: expected(row) }] : [{ kind: "row", row: expected(row) }];
}
