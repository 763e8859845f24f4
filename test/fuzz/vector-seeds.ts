import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { DecoderOptions, KafkaRecord, RegisteredSchema, SchemaId, SchemaReference, SchemaSource } from "@cdckit/decode";
import { bytesOf, recordOf, type WrittenBytes } from "@cdckit/testkit";
import { optionsOf, vectorRecord, type Vector } from "../vectors/vector.ts";
import type { Seeds } from "./corpus.ts";

/** The encodings that are read only where the user names them. */
export type PlainName = "msgpack" | "cbor";

/** Vectors of whole records, each with the options that it states. */
export function vectorSeeds(): Seeds[] {
  return ["decode", "envelope"].flatMap((folder) =>
    filesOf(folder).flatMap((file) => grouped(`${folder}/${file}`, linesOf<Vector>(`${folder}/${file}`))),
  );
}

/** Vectors that are written for one decoder stay together, so that its memory has something to remember. */
function grouped(name: string, vectors: readonly Vector[]): Seeds[] {
  const groups = new Map<string, Vector[]>();
  for (const vector of vectors) {
    const key = JSON.stringify([vector.schemas ?? null, vector.options ?? null]);
    groups.set(key, [...(groups.get(key) ?? []), vector]);
  }
  return [...groups.values()].map((group) => ({
    name,
    records: group.flatMap((vector) => [vector.value, ...(vector.seenBefore ?? [])].map((value) => vectorRecord(vector, value))),
    options: optionsOf(group[0] as Vector),
  }));
}

interface FramingLine {
  readonly name: string;
  readonly side?: string;
  readonly headers?: readonly (readonly [string, WrittenBytes | null])[];
  readonly value: WrittenBytes;
}

/** Of which schema the messages of a file are, by the beginnings of their names. */
interface Meaning extends Omit<RegisteredSchema, "id"> {
  readonly file: string;
  readonly names: string;
}

const oneInteger: Omit<RegisteredSchema, "id"> = { schemaType: "AVRO", schema: '"int"' };

/** Vectors of framings, with the schema that their writers were given for whatever id they name. */
export function framingSeeds(): Seeds[] {
  const meanings = linesOf<Meaning>("framing-meanings.ndjson");
  return filesOf("framing").flatMap((file) => {
    const bySchema = new Map<Omit<RegisteredSchema, "id">, KafkaRecord[]>();
    for (const [i, line] of linesOf<FramingLine>(`framing/${file}`).entries()) {
      const schema = meanings.find((meaning) => meaning.file === file && line.name.startsWith(meaning.names)) ?? oneInteger;
      bySchema.set(schema, [...(bySchema.get(schema) ?? []), framedRecord(i, line)]);
    }
    return [...bySchema].map(([schema, records]) => ({
      name: `framing/${file}`,
      records,
      options: { schemas: sourceOf((id) => ({ ...schema, id })) },
    }));
  });
}

function framedRecord(i: number, { side, headers = [], value }: FramingLine): KafkaRecord {
  const fields = { topic: "framing", offset: i, timestamp: 1_700_000_000_000n, headers };
  return side === "key" ? recordOf(null, { ...fields, key: value }) : recordOf(value, fields);
}

interface ProtobufLine {
  readonly textId: number;
  readonly value: string;
}

/** What Confluent's serializer wrote: by the descriptors that it registers, and by the texts that they came from. */
export function protobufSeeds(): Seeds[] {
  const schemas = new Map(linesOf<RegisteredSchema>("protobuf/schemas.ndjson").map((schema) => [schema.id, schema]));
  const messages = linesOf<ProtobufLine>("protobuf/messages.ndjson");
  const options: DecoderOptions = { schemas: sourceOf((id) => schemas.get(Number(id))) };
  const byText = ({ textId, value }: ProtobufLine): Buffer => {
    const bytes = Buffer.from(value, "base64");
    bytes.writeUInt32BE(textId, 1);
    return bytes;
  };
  const records = messages.map(({ value }, i) => record("protobuf", i, Buffer.from(value, "base64")));
  const texts = messages.map((line, i) => record("protobuf-texts", i, byText(line)));
  return [
    { name: "protobuf", records, options },
    { name: "protobuf, by text", records: texts, options },
  ];
}

interface JsonSchemaLine {
  readonly schemaId: number;
  readonly message: WrittenBytes;
  readonly schema: string;
  readonly references: readonly SchemaReference[];
}

/** What Confluent's serializer wrote by JSON Schemas. */
export function jsonSchemaSeeds(): Seeds {
  const lines = linesOf<JsonSchemaLine>("json-schema/confluent.ndjson");
  const schemas = new Map(lines.map(({ schemaId, schema, references }) => [schemaId, { schema, references }]));
  const found = (id: SchemaId): RegisteredSchema | undefined => {
    const schema = schemas.get(Number(id));
    return schema === undefined ? undefined : { id, schemaType: "JSON", ...schema };
  };
  return {
    name: "json-schema",
    records: lines.map(({ message }, i) => record("json-schema", i, bytesOf(message))),
    options: { schemas: sourceOf(found) },
  };
}

/** What other libraries wrote in MessagePack or CBOR, each by itself and as the columns of rows. */
export function plainSeeds(encoding: PlainName): Seeds {
  const lines = linesOf<{ readonly base64: string }>(`${encoding}/${encoding}.ndjson`);
  return {
    name: encoding,
    records: lines.map(({ base64 }, i) => record(encoding, i, Buffer.from(base64, "base64"))),
    options: plainTopics(encoding, encoding),
  };
}

/** The option that makes a topic one of this encoding. */
export function plainTopics(topic: string, encoding: PlainName): Pick<DecoderOptions, "topics"> {
  return { topics: { [topic]: { value: { encoding } } } };
}

/** Schemas that are at hand; no other is to be had. */
export function sourceOf(peek: (id: SchemaId) => RegisteredSchema | undefined): SchemaSource {
  return { peek, load: () => Promise.reject(Object.assign(new Error("there is no such schema"), { code: "not-found" })) };
}

/** A record without a key. */
export function record(topic: string, offset: number, value: Buffer | null): KafkaRecord {
  return recordOf(value, { topic, offset: BigInt(offset), timestamp: 1_700_000_000_000n });
}

/** The vectors stand beside the sources, also when this is run as it was built. */
const vectors = ["../vectors", "../../vectors"]
  .map((path) => join(import.meta.dirname, path))
  .find((path) => existsSync(join(path, "decode"))) as string;

function filesOf(folder: string): string[] {
  return readdirSync(join(vectors, folder))
    .filter((file) => file.endsWith(".ndjson"))
    .sort();
}

function linesOf<Line>(path: string): Line[] {
  return readFileSync(join(vectors, path), "utf8")
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as Line);
}
