import type { SchemaEncoding } from "../schema-encoding.ts";
import { compileAvroReader } from "./reader.ts";
import { parseAvroSchema } from "./schema.ts";

/** Avro's binary encoding, read with its writer's schema. */
export const avro: SchemaEncoding = {
  name: "avro",
  schemaType: "AVRO",
  parse: ({ schema, references }, limits) => {
    const type = parseAvroSchema(schema, references ?? [], limits);
    return { typeOf: () => type, compile: (_, options) => compileAvroReader(type, options) };
  },
};
