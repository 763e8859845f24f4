import type { SchemaSource } from "@cdckit/decode";
import avsc from "avsc";

/**
 * avsc as one must set it up to read Debezium's Avro at all: its own long type throws on ts_ns, which exceeds 2^53. The hook is needed for
 * `{"type":"long", ...}` too, which the `registry` option does not see.
 */
export function avscTypes(schemas: SchemaSource, ids: readonly number[]): ReadonlyMap<number, avsc.Type> {
  return new Map(
    ids.map((id) => {
      const registered = schemas.peek(id);
      if (registered === undefined) {
        throw new Error(`the corpus has no schema ${id}`);
      }
      return [id, avsc.Type.forSchema(JSON.parse(registered.schema) as avsc.Schema, { typeHook: bigintLongs })];
    }),
  );
}

const bigintLong = avsc.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(value);
    return bytes;
  },
  fromJSON: BigInt,
  toJSON: Number,
  isValid: (value: unknown) => typeof value === "bigint",
  compare: (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0),
});

export function bigintLongs(schema: unknown): avsc.Type | undefined {
  const isLong = schema === "long" || (typeof schema === "object" && schema !== null && "type" in schema && schema.type === "long");
  return isLong ? bigintLong : undefined;
}
