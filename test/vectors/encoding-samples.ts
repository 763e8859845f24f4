import type { RegisteredSchema } from "@cdckit/decode";
import { bytesOf, type WrittenBytes } from "@cdckit/testkit";
import { linesOf } from "./lines.ts";
import { type Sample, valueRecord } from "./sample.ts";
import { expected } from "./vector.ts";

/** The vectors of single encodings as records. */
export function encodingSamples(): readonly Sample[] {
  return [...plain("cbor"), ...plain("msgpack"), ...jsonSchema(), ...protobuf()];
}

interface PlainLine {
  readonly name: string;
  readonly writtenBy?: string;
  readonly base64: string;
  readonly value: unknown;
}

function plain(encoding: "cbor" | "msgpack"): readonly Sample[] {
  const file = `${encoding}/${encoding}.ndjson`;
  return linesOf<PlainLine>(file).map(({ name, writtenBy, base64, value }) => {
    const record = valueRecord(Buffer.from(base64, "base64"));
    return {
      ...unsaid,
      file,
      name,
      record,
      options: { topics: { [record.topic]: { value: { encoding } } } },
      formats: ["none", encoding, "none"],
      events: [isRow(value) ? { kind: "row", row: expected(value) } : {}],
      writtenBy: writtenBy ?? null,
    };
  });
}

/** Whether a value is a record by what its line says, and all of it can be compared. */
function isRow(value: unknown): boolean {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !/"\$\w+":/.test(JSON.stringify(value));
}

interface JsonSchemaLine extends Omit<PlainLine, "base64"> {
  readonly message: WrittenBytes;
  readonly schemaId: number;
  readonly schema: string;
  readonly references: RegisteredSchema["references"];
}

function jsonSchema(): readonly Sample[] {
  const file = "json-schema/confluent.ndjson";
  return linesOf<JsonSchemaLine>(file).map(({ name, writtenBy, schemaId, message, schema, references = [], value }) => ({
    ...unsaid,
    file,
    name,
    record: valueRecord(bytesOf(message)),
    schemas: [{ id: schemaId, schemaType: "JSON", schema, references }],
    formats: ["confluent", "json-schema", "none"],
    events: [isRow(value) ? { kind: "row", row: value } : {}],
    writtenBy: writtenBy ?? null,
  }));
}

interface ProtobufLine {
  readonly name: string;
  readonly writtenBy?: string;
  readonly schemaId: number;
  readonly textId: number;
  readonly message: string;
  readonly value: string;
}

/** Each by the descriptor that its serializer registered, and by the text that protoc read. What the messages say is checked beside the reader. */
function protobuf(): readonly Sample[] {
  const file = "protobuf/messages.ndjson";
  const schemas = new Map(linesOf<RegisteredSchema>("protobuf/schemas.ndjson").map((schema) => [schema.id, schema]));
  return linesOf<ProtobufLine>(file).flatMap(({ name, writtenBy, schemaId, textId, message, value }) =>
    [schemaId, textId].map((id) => ({
      ...unsaid,
      file,
      name: `${name}, by ${id === textId ? "the text of its schema" : "its descriptor"}`,
      record: valueRecord(Buffer.from(value, "base64"), { topic: "orders" }),
      schemas: [{ ...(schemas.get(id) as RegisteredSchema), id: schemaId }],
      formats: ["confluent", "protobuf", message === "Envelope" ? "debezium" : "none"],
      events: [{ kind: message === "Envelope" ? "change" : "row" }],
      writtenBy: writtenBy ?? null,
    })),
  );
}

const unsaid = { schemas: [], options: {}, keyFormats: [], error: null, publishedIn: null };
