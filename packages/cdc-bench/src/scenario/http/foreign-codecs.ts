import avro from "avsc";
import { BenchError } from "../../bench-error.ts";
import type { Codec } from "../../codec/codec.ts";
import { avroContainerCodec } from "../../codec/codecs/avro.ts";
import { jsonCodec } from "../../codec/codecs/json.ts";
import type { Row } from "../../codec/data-sets.ts";
import { record } from "../../codec/shape.ts";
import type { FormatName } from "./body-formats.ts";

/** Readers of an API that is not ours: a container file has its schema, `avro/binary` needs one. */
export function foreignCodecs(schema: unknown): Readonly<Partial<Record<FormatName, Codec<readonly Row[]>>>> {
  // Only the reading half is used, and it takes the schema from the file.
  const container = avroContainerCodec<Row>(record("Unused", {}), "null");
  return {
    json: jsonCodec<readonly Row[]>(),
    avro: container,
    ...(schema === null ? {} : { "avro-headless": headless(schema) }),
  };
}

function headless(schema: unknown): Codec<readonly Row[]> {
  let type: avro.Type;
  try {
    type = avro.Type.forSchema(schema as avro.Schema);
  } catch (cause) {
    throw new BenchError("usage", "the file of --schema holds no Avro schema.", { cause });
  }
  return {
    name: "avro, headless (avsc)",
    serialize: (rows) => type.toBuffer(rows),
    deserialize: (bytes) => type.fromBuffer(Buffer.from(bytes)) as readonly Row[],
  };
}
