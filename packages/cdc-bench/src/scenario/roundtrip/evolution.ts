import avro from "avsc";
import type { Codec } from "../../codec/codec.ts";
import type { Row } from "../../codec/data-sets.ts";
import { areSameValues } from "../../codec/same-values.ts";
import { avroSchemaOf, type RecordShape, string } from "../../codec/shape.ts";

/** Which of two schemas: the one before a field was added, or the one after. */
export type SchemaVersion = "old" | "new";

/** The rows' shape with one more field of text at its end, whose name no other field has. */
export function withAddedField(shape: RecordShape): { readonly shape: RecordShape; readonly field: string } {
  const names = new Set(shape.fields.map(({ name }) => name));
  let field = "note";
  for (let count = 2; names.has(field); count++) {
    field = `note${count}`;
  }
  return { shape: { ...shape, fields: [...shape.fields, { name: field, shape: string, nullable: false }] }, field };
}

/** The row as a producer writes it that knows the new field. */
export function withFieldValue(row: Row, field: string): Row {
  return { ...row, [field]: "added on the way" };
}

const magicByte = 0;
const headerBytes = 5;
const schemaIds: Readonly<Record<SchemaVersion, number>> = { old: 1, new: 2 };

/**
 * Avro with the id of its writer's schema in front, as schema registries frame it. The reader has both schemas, and resolves the writer's
 * against its own: this is how Avro copes with a schema that changes.
 */
export function avroFramedCodec(shapes: Readonly<Record<SchemaVersion, RecordShape>>, version: SchemaVersion, field: string): Codec<Row> {
  const schemaOf = (shape: RecordShape): avro.Schema => {
    const schema = avroSchemaOf(shape) as { readonly fields: readonly { readonly name: string }[] };
    const fields = schema.fields.map((each) => (each.name === field ? { ...each, default: "" } : each));
    return { ...schema, fields } as unknown as avro.Schema;
  };
  const types = { old: avro.Type.forSchema(schemaOf(shapes.old)), new: avro.Type.forSchema(schemaOf(shapes.new)) };
  const type = types[version];
  const resolvers = new Map([
    [schemaIds.old, type.createResolver(types.old)],
    [schemaIds.new, type.createResolver(types.new)],
  ]);
  return {
    name: "avro, schema id (avsc)",
    serialize(row) {
      const header = Buffer.alloc(headerBytes, magicByte);
      header.writeUInt32BE(schemaIds[version], 1);
      return Buffer.concat([header, type.toBuffer(row)]);
    },
    deserialize(bytes) {
      const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      const resolver = buffer.length >= headerBytes && buffer[0] === magicByte ? resolvers.get(buffer.readUInt32BE(1)) : undefined;
      if (resolver === undefined) {
        throw new Error("the message names no schema that this reader has");
      }
      const own = buffer.readUInt32BE(1) === schemaIds[version];
      return (own ? type.fromBuffer(buffer.subarray(headerBytes)) : type.fromBuffer(buffer.subarray(headerBytes), resolver)) as Row;
    },
  };
}

/** What a reader made of a row that a producer with the same or the other schema wrote. */
export type Coping = "same" | "default" | "absent" | "dropped" | "kept" | "wrong";

/**
 * How the reader coped: `same`, both have the field or both lack it; `default` or `absent`, the reader knows a field that was not written;
 * `dropped` or `kept`, it does not know a field that was. `wrong`: other values than those written.
 */
export function copingOf(written: Row, read: Row, field: string, reader: SchemaVersion): Coping {
  const wasWritten = Object.hasOwn(written, field);
  const { [field]: readField, ...readRest } = Object(read) as Record<string, unknown>;
  const { [field]: writtenField, ...writtenRest } = written as Record<string, unknown>;
  if (!areSameValues(readRest, writtenRest)) {
    return "wrong";
  }
  if (wasWritten) {
    return readField === writtenField
      ? reader === "new"
        ? "same"
        : "kept"
      : readField === undefined && reader === "old"
        ? "dropped"
        : "wrong";
  }
  if (reader === "old") {
    return readField === undefined ? "same" : "wrong";
  }
  return readField === undefined ? "absent" : readField === "" || readField === null ? "default" : "wrong";
}
