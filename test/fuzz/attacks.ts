import type { RecordHeaders, RegisteredSchema, SchemaSource } from "@cdckit/decode";

/** A message of about a MiB that is made to cost as much as it can. */
export interface Attack {
  readonly name: string;
  readonly value: Buffer;
  /**
   * Its key.
   * @default none
   */
  readonly key?: Buffer;
  /**
   * Its headers, which count as its bytes.
   * @default none
   */
  readonly headers?: RecordHeaders;
  readonly schemas: SchemaSource | null;
  /** A message of its schema that says nothing: decoding it makes the reader, which is done once a schema and not once a message. */
  readonly greeting?: Buffer;
}

const mib = 2 ** 20;

const wal2jsonChange = '{"kind":"insert","schema":"s","table":"t","columnnames":["a"],"columntypes":["integer"],"columnvalues":[1]}';

/** The attacks that are known on JSON and Avro readers. */
export function attacks(): readonly Attack[] {
  return [...jsonAttacks(), ...avroAttacks()];
}

function jsonAttacks(): Attack[] {
  const names = (count: number): string => Array.from({ length: count }, (_, i) => `"k${i}":1`).join();
  const fields = Array.from({ length: 19_000 }, (_, i) => `{"type":"int32","optional":true,"field":"f${i}"}`).join();
  const list = (item: string, count: number): string => `[${Array.from({ length: count }, () => item).join()}]`;
  const items = (item: string, part = 1): string => `{"a":${list(item, Math.floor((part * mib) / (Buffer.byteLength(item) + 1)))}}`;
  const others = (count: number): string => `{"a":[${Array.from({ length: count }, (_, i) => `{"${i.toString(36)}":1}`).join()}]}`;
  const flatRows = `"database":"d","table":"t","isDdl":false,"type":"INSERT","es":1,"ts":1,"sql":"","mysqlType":null,"old":null`;
  const connect = (items: string, payload: string): string => `{"schema":{"type":"array","items":{${items}}},"payload":${payload}}`;
  const texts: Record<string, string> = {
    "an integer of a MiB": `{"a":${"9".repeat(mib)}}`,
    "a fraction of a MiB": `{"a":0.${"9".repeat(mib)}}`,
    "integers of a thousand digits": items("9".repeat(1_000)),
    "100,000 columns": `{${names(100_000)}}`,
    "100,000 columns in an envelope": `{"before":null,"after":{${names(100_000)}},"source":{"connector":"c"},"op":"c"}`,
    "100,000 names in a column": `{"a":{${names(100_000)}}}`,
    "a name of a MiB": `{"${"a".repeat(mib)}":1}`,
    "a string of a MiB": `{"a":"${"x".repeat(mib)}"}`,
    "a MiB of escapes": `{"a":"${"\\u0041".repeat(mib / 6)}"}`,
    "empty arrays": items("[]"),
    "empty objects": items("{}"),
    "small objects": items('{"a":1}'),
    "objects of other names each": others(75_000),
    "as many columns as are read": `{${names(18_500)}}`,
    "as many columns in an envelope as are read": `{"before":null,"after":{${names(18_500)}},"source":{"connector":"c"},"op":"c"}`,
    "as many names in a column as are read": `{"a":{${names(18_500)}}}`,
    "as many empty objects as are read": items("{}", 0.29),
    "as many small objects as are read": items('{"a":1}', 0.64),
    "as many objects of other names as are read": others(16_000),
    "objects in objects": items('{"a":{"a":{"a":{"a":{}}}}}', 0.48),
    "arrays in arrays": items("[[[[[[[[]]]]]]]]", 0.55),
    "texts of an escape": items('"\\n"', 0.42),
    "texts of an umlaut": items('"\u00e4"', 0.65),
    "texts of two letters": items('"ab"'),
    "fractions of many digits": items("0.1234567890123456789"),
    "Canal: 105,000 rows of one column": `{"data":${list('{"a":"1"}', 105_000)},${flatRows}}`,
    "Canal: rows of one column": `{"data":${list('{"a":"1"}', 27_000)},${flatRows}}`,
    "Canal: empty rows": `{"data":${list("{}", 104_000)},${flatRows}}`,
    "wal2json: changes of one column": `{"change":${list(wal2jsonChange, 9_500)}}`,
    "Connect: timestamps of one digit": connect('"type":"int64","name":"io.debezium.time.Timestamp"', list("1", mib / 2)),
    "Connect: zoned times": connect('"type":"string","name":"io.debezium.time.ZonedTimestamp"', list('"2026-01-01T00:00:00Z"', 45_000)),
    "Connect: decimals of one byte": connect(
      '"type":"bytes","name":"org.apache.kafka.connect.data.Decimal","parameters":{"scale":"2"}',
      list('"AQ=="', 149_000),
    ),
    "Connect: byte strings of one byte": connect('"type":"bytes"', list('"AQ=="', 149_000)),
    doubles: items("1.5"),
    integers: items("1"),
    bigints: items("9007199254740993"),
    "empty strings": items('""'),
    nulls: items("null"),
    "depth beyond the limit": "[".repeat(mib),
    "objects beyond the limit": '{"a":'.repeat(mib / 5),
    "a string that never ends": `{"a":"${"x".repeat(mib)}`,
    "a Connect schema of 19,000 fields": `{"schema":{"type":"struct","fields":[${fields}]},"payload":{}}`,
    "a Connect schema of a MiB of text": `{"schema":{"type":"string","doc":"${"x".repeat(mib)}"},"payload":"a"}`,
    "a payload that is no payload": `{"schema":{"type":"string"},"payload":[${"1,".repeat(mib / 2)}1],"more":1}`,
  };
  return Object.entries(texts).map(([name, text]) => ({ name, value: Buffer.from(text), schemas: null }));
}

function avroAttacks(): Attack[] {
  const framed = (payload: Buffer): Buffer => Buffer.concat([Buffer.from([0, 0, 0, 0, 1]), payload]);
  const holding = (type: unknown): unknown => recordOf("R", { a: type });
  const count = (n: number): Buffer => Buffer.from(varint(n * 2));
  const full = (n: number, item: Buffer): Buffer => Buffer.concat([count(n), Buffer.alloc(n * item.length, item), Buffer.from([0])]);
  const bytes = (...values: number[]): Buffer => Buffer.from(values);
  /** What reads most: as many items as are still below the limit, by a share of a MiB. */
  const share = (part: number): number => Math.floor(part * mib);
  const entry = recordOf("io.confluent.connect.avro.MapEntry", { key: "int", value: "int" });
  const key = (i: number): Buffer => Buffer.concat([bytes(8), Buffer.from(i.toString(36).padStart(4, "0")), bytes(0)]);
  const decimal = { type: "bytes", logicalType: "decimal", precision: 1_000, scale: 2 };
  const cases: readonly (readonly [string, unknown, Buffer])[] = [
    ["Avro: two million nulls", { type: "array", items: "null" }, Buffer.concat([count(2_000_000), Buffer.from([0])])],
    ["Avro: 65,536 nulls", { type: "array", items: "null" }, Buffer.concat([count(65_536), Buffer.from([0])])],
    ["Avro: a count beyond the bytes", { type: "array", items: "long" }, count(2 ** 40)],
    ["Avro: a MiB of small longs", { type: "array", items: "long" }, full(mib, Buffer.from([2]))],
    ["Avro: a MiB of empty strings", { type: "array", items: "string" }, full(mib, Buffer.from([0]))],
    ["Avro: empty arrays", { type: "array", items: { type: "array", items: "int" } }, full(mib, Buffer.from([0]))],
    ["Avro: as many empty arrays as are read", { type: "array", items: { type: "array", items: "int" } }, full(share(0.29), bytes(0))],
    ["Avro: arrays of one int", { type: "array", items: { type: "array", items: "int" } }, full(share(0.12), bytes(2, 2, 0))],
    ["Avro: blocks of one int", { type: "array", items: "int" }, Buffer.concat([Buffer.alloc(mib, bytes(2, 2)), bytes(0)])],
    [
      "Avro: as many blocks of one int as are read",
      { type: "array", items: "int" },
      Buffer.concat([Buffer.alloc(2 * share(0.38), bytes(2, 2)), bytes(0)]),
    ],
    ["Avro: records of one long", { type: "array", items: recordOf("I", { x: "long" }) }, full(mib, bytes(2))],
    ["Avro: as many records of one long as are read", { type: "array", items: recordOf("I", { x: "long" }) }, full(share(0.37), bytes(2))],
    [
      "Avro: records in records",
      { type: "array", items: recordOf("I", { x: recordOf("J", { y: recordOf("K", { z: "long" }) }) }) },
      full(share(0.13), bytes(2)),
    ],
    ["Avro: a tree of records", recordOf("T", { kids: { type: "array", items: "T" } }), full(share(0.17), bytes(0))],
    ["Avro: strings of two letters", { type: "array", items: "string" }, full(share(0.175), bytes(4, 0x61, 0x62))],
    ["Avro: strings of an umlaut", { type: "array", items: "string" }, full(share(0.175), bytes(4, 0xc3, 0xa4))],
    ["Avro: byte strings of one byte", { type: "array", items: "bytes" }, full(share(0.2), bytes(2, 1))],
    ["Avro: dates of one byte", { type: "array", items: { type: "int", logicalType: "date" } }, full(share(0.27), bytes(2))],
    [
      "Avro: timestamps of one byte",
      { type: "array", items: { type: "long", logicalType: "timestamp-millis" } },
      full(share(0.125), bytes(2)),
    ],
    ["Avro: decimals of one byte", { type: "array", items: decimal }, full(share(0.055), bytes(2, 1))],
    [
      "Avro: decimals of a thousand digits",
      { type: "array", items: decimal },
      full(share(1 / 417), Buffer.concat([Buffer.from(varint(830)), Buffer.alloc(415, 0x5a)])),
    ],
    [
      "Avro: a map of other keys each",
      { type: "map", values: "int" },
      Buffer.concat([count(31_000), ...Array.from({ length: 31_000 }, (_, i) => key(i)), bytes(0)]),
    ],
    ["Avro: maps of one key", { type: "array", items: { type: "map", values: "int" } }, full(share(0.045), bytes(2, 2, 0x61, 2, 0))],
    ["Avro: maps of integers, of nothing", { type: "array", items: { type: "array", items: entry } }, full(share(0.055), bytes(0))],
    ["Avro: empty byte strings", { type: "array", items: "bytes" }, full(mib, Buffer.from([0]))],
    ["Avro: maps of nothing", { type: "array", items: { type: "map", values: "int" } }, full(mib, Buffer.from([0]))],
    [
      "Avro: as many maps of nothing as are read",
      { type: "array", items: { type: "map", values: "int" } },
      full(share(0.055), Buffer.from([0])),
    ],
  ];
  return cases.map(([name, type, payload]) => ({
    name,
    value: framed(payload),
    schemas: sourceOf(holding(type)),
    greeting: framed(bytes(0)),
  }));
}

function recordOf(name: string, fields: Readonly<Record<string, unknown>>): unknown {
  return { type: "record", name, fields: Object.entries(fields).map(([field, type]) => ({ name: field, type })) };
}

function varint(n: number): number[] {
  const bytes: number[] = [];
  let rest = BigInt(n);
  while (rest > 127n) {
    bytes.push(Number(rest & 127n) | 128);
    rest >>= 7n;
  }
  return [...bytes, Number(rest)];
}

function sourceOf(schema: unknown): SchemaSource {
  const registered: RegisteredSchema = { id: 1, schemaType: "AVRO", schema: JSON.stringify(schema) };
  return { peek: () => registered, load: () => Promise.resolve(registered) };
}
