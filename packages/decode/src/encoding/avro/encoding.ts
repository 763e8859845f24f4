import type { SchemaEncoding } from "../schema-encoding.ts";
import { compileAvroReader } from "./reader.ts";
import { parseAvroSchema } from "./schema.ts";

/** Avro's binary encoding, read with its writer's schema, as a value of the reader's where there is one. */
export const avro: SchemaEncoding = {
  name: "avro",
  schemaType: "AVRO",
  parse: ({ schema, references }, limits, readAs = null) => {
    const type = parseAvroSchema(schema, references ?? [], limits);
    const wanted = readAs === null ? type : parseAvroSchema(readAs.schema, readAs.references ?? [], limits);
    return { typeOf: () => wanted, compile: (_, options) => compileAvroReader(type, options, wanted) };
  },
};
