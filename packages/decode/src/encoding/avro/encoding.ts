import { DecodeError, isDecodeError } from "../../errors.ts";
import type { ResolvedLimits } from "../../options.ts";
import type { RegisteredSchema } from "../../schema-source.ts";
import type { SchemaEncoding, WantedSchema } from "../schema-encoding.ts";
import type { Type } from "../type.ts";
import { compileAvroReader } from "./reader.ts";
import { parseAvroSchema } from "./schema.ts";

/** Avro's binary encoding, read with the writer's schema, and resolved to the reader's schema if there is one. */
export const avro: SchemaEncoding = {
  name: "avro",
  schemaType: "AVRO",
  parse: ({ schema, references }, limits, { readerSchema, unescapesNames } = asWritten) => {
    const type = parseAvroSchema(schema, references ?? [], limits, unescapesNames);
    const wanted = readerSchema === null ? type : parseReaderSchema(readerSchema, limits, unescapesNames);
    return { typeOf: () => wanted, compile: (_, options) => compileAvroReader(type, options, wanted) };
  },
};

const asWritten: WantedSchema = { readerSchema: null, unescapesNames: false };

function parseReaderSchema({ id, schema, references }: RegisteredSchema, limits: ResolvedLimits, unescapesNames: boolean): Type {
  try {
    return parseAvroSchema(schema, references ?? [], limits, unescapesNames);
  } catch (error) {
    throw isDecodeError(error) ? new DecodeError(error.code, `${error.detail} (in the reader schema ${id})`) : error;
  }
}
