import { avro } from "../avro/encoding.ts";
import { compileWriter } from "../avro/write.ts";
import { parseJson } from "../json/parse.ts";
import { convertContext } from "../json/reader.ts";
import { repeatedCost } from "../json/repeated-cost.ts";
import { checkJsonCost, type ExtraCost, minMeteredBytes } from "../json/cost.ts";
import type { CompileOptions, PayloadReader } from "../reader.ts";
import type { SchemaEncoding } from "../schema-encoding.ts";
import type { Type } from "../type.ts";

/**
 * Avro's JSON encoding: unions name their branch (`{"string":"a"}`), bytes are text of ISO-8859-1. A topic must name it, because its
 * schemas are the same as those of the binary encoding.
 * https://avro.apache.org/docs/1.12.0/specification/#json-encoding
 */
export const avroJson: SchemaEncoding = {
  name: "avro-json",
  schemaType: "AVRO",
  parse: (schema, limits, wanted) => {
    const written = avro.parse(schema, limits);
    const parsed = avro.parse(schema, limits, wanted);
    return {
      typeOf: (selected) => parsed.typeOf(selected),
      compile: (selected, options) => {
        const reader = parsed.compile(selected, { ...options, bareBytes: false });
        return compile(written.typeOf(selected), reader, options);
      },
    };
  },
};

/** Writes the value in the binary encoding, then reads that. So the binary reader alone knows the semantics and the costs of values. */
function compile(type: Type | null, reader: PayloadReader, options: CompileOptions): PayloadReader {
  const { limits } = options;
  const write = compileWriter(type ?? { kind: "null" }, "named");
  const parse = { maxDepth: limits.maxDepth * levelsOfUnion, asDoubles: true };
  let extra: ExtraCost | null = null;
  return {
    encoding: "avro-json",
    type: reader.type,
    read: (bytes, start, end) => {
      if (end - start >= minMeteredBytes) {
        extra ??= { value: rewrittenCost + repeatedCost(type ?? { kind: "null" }, convertContext(options, parse)), fraction: 0 };
        checkJsonCost(bytes, start, end, limits, extra);
      }
      const binary = write(parseJson(bytes, start, end, parse), Math.max(end - start, freeDefaultBytes));
      return reader.read(binary, 0, binary.length);
    },
  };
}

/** The cost of writing a value in the binary encoding and reading it from there, in about nanoseconds. */
const rewrittenCost = 60;

/** In a short message, the defaults of missing fields may take this many bytes; in a longer one, as many as the message has. */
const freeDefaultBytes = 65_536;

/** A value in a union stands in an object that names its branch, so it takes two levels of JSON. */
const levelsOfUnion = 2;
