import { avro } from "../avro/encoding.ts";
import { compileWriter } from "../avro/write.ts";
import { parseJson } from "../json/parse.ts";
import { convertContext } from "../json/reader.ts";
import { repeatedCost } from "../json/repeated-cost.ts";
import { checkJsonCost, type ExtraCost, minMeteredBytes } from "../json/cost.ts";
import type { CompileOptions, PayloadReader } from "../reader.ts";
import type { SchemaEncoding } from "../schema-encoding.ts";
import { TextCache } from "../text-cache.ts";
import type { Type } from "../type.ts";

/**
 * Avro's JSON encoding: unions name their branch (`{"string":"a"}`), bytes are text of ISO-8859-1. It is asked for by name alone, as its
 * schemas are those of the binary encoding.
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

/** The value is written in the binary encoding and read from there: one reader knows what values mean, and what they may cost. */
function compile(type: Type | null, reader: PayloadReader, options: CompileOptions): PayloadReader {
  const { limits, texts = new TextCache() } = options;
  const write = compileWriter(type ?? { kind: "null" }, "named");
  const parse = { maxDepth: limits.maxDepth * levelsOfUnion, texts, asDoubles: true };
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

/** Writing a value in the binary encoding and reading it from there, in nanoseconds or so. */
const rewrittenCost = 60;

/** What defaults of left out fields may take in any message; in a longer one, as much as the message itself. */
const freeDefaultBytes = 65_536;

/** A value in a union stands in an object that names its branch. */
const levelsOfUnion = 2;
