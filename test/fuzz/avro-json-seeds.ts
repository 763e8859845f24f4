import type { KafkaRecord } from "@cdckit/decode";
import avsc from "avsc";
import type { Seeds } from "./corpus.ts";
import { record } from "./vector-seeds.ts";

/** avsc's JSON has no bigints: longs go through it as marked text. */
const markedLong = avsc.types.LongType.__with({
  fromBuffer: (bytes: Buffer) => bytes.readBigInt64LE(),
  toBuffer: (value: bigint) => {
    const bytes = Buffer.alloc(8);
    bytes.writeBigInt64LE(value);
    return bytes;
  },
  fromJSON: (json: unknown) => BigInt(String(json)),
  toJSON: (value: bigint) => `@long ${value}@`,
  isValid: (value: unknown) => typeof value === "bigint",
  compare: (a: bigint, b: bigint) => (a < b ? -1 : a > b ? 1 : 0),
});

const topic = "avro-json";
const framed = "postgres-debezium-3.5/tav.inv.alltypes";

/** A recorded row in Avro's JSON, as avsc writes it: every column type of a table. The topic's schema is stated. */
export function avroJsonSeeds(recorded: readonly Seeds[]): Seeds {
  const { records, options } = recorded.find(({ name }) => name === framed) as Seeds;
  const schemaOf = ({ value }: KafkaRecord): string => options.schemas?.peek(Buffer.from(value ?? []).readInt32BE(1))?.schema ?? "";
  const schema = schemaOf(records[0] as KafkaRecord);
  const type = avsc.Type.forSchema(
    JSON.parse(schema) as never,
    {
      wrapUnions: "never",
      typeHook: (part: unknown) => (part === "long" || (part as { type?: unknown }).type === "long" ? markedLong : undefined),
    } as never,
  );
  const texts = records.map(({ value }) => type.toString(type.fromBuffer(Buffer.from((value as Buffer).subarray(5)))));
  return {
    name: topic,
    records: texts.map((text, i) => record(topic, i, Buffer.from(text.replaceAll(/"@long (-?\d+)@"/g, "$1")))),
    options: { topics: { [topic]: { schemaIdentity: "trust", value: { encoding: "avro-json", schema: { schemaType: "AVRO", schema } } } } },
  };
}
