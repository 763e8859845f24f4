import type { RegisteredSchema, SchemaSource } from "@cdckit/decode";

/** A message of about a MiB that is made to cost as much as it can. */
export interface Attack {
  readonly name: string;
  readonly value: Buffer;
  readonly schemas: SchemaSource | null;
}

const mib = 2 ** 20;

/** The attacks that are known on JSON and Avro readers. */
export function attacks(): readonly Attack[] {
  return [...jsonAttacks(), ...avroAttacks()];
}

function jsonAttacks(): Attack[] {
  const names = (count: number): string => Array.from({ length: count }, (_, i) => `"k${i}":1`).join();
  const fields = Array.from({ length: 19_000 }, (_, i) => `{"type":"int32","optional":true,"field":"f${i}"}`).join();
  const items = (item: string): string => `{"a":[${`${item},`.repeat(Math.floor(mib / (item.length + 1)))}1]}`;
  const texts: Record<string, string> = {
    "an integer of a MiB": `{"a":${"9".repeat(mib)}}`,
    "a fraction of a MiB": `{"a":0.${"9".repeat(mib)}}`,
    "integers of a thousand digits": items("9".repeat(1_000)),
    "100,000 columns": `{${names(100_000)}}`,
    "100,000 columns in an envelope": `{"before":null,"after":{${names(100_000)}},"source":{},"op":"c"}`,
    "100,000 names in a column": `{"a":{${names(100_000)}}}`,
    "a name of a MiB": `{"${"a".repeat(mib)}":1}`,
    "a string of a MiB": `{"a":"${"x".repeat(mib)}"}`,
    "a MiB of escapes": `{"a":"${"\\u0041".repeat(mib / 6)}"}`,
    "empty arrays": items("[]"),
    "empty objects": items("{}"),
    "small objects": items('{"a":1}'),
    "objects of other names each": `{"a":[${Array.from({ length: 75_000 }, (_, i) => `{"${i.toString(36)}":1}`).join()}]}`,
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
  const record = (type: unknown): unknown => ({ type: "record", name: "R", fields: [{ name: "a", type }] });
  const count = (n: number): Buffer => Buffer.from(varint(n * 2));
  const full = (n: number, item: Buffer): Buffer => Buffer.concat([count(n), Buffer.alloc(n * item.length, item), Buffer.from([0])]);
  const cases: readonly (readonly [string, unknown, Buffer])[] = [
    ["Avro: two million nulls", { type: "array", items: "null" }, Buffer.concat([count(2_000_000), Buffer.from([0])])],
    ["Avro: 65,536 nulls", { type: "array", items: "null" }, Buffer.concat([count(65_536), Buffer.from([0])])],
    ["Avro: a count beyond the bytes", { type: "array", items: "long" }, count(2 ** 40)],
    ["Avro: a MiB of small longs", { type: "array", items: "long" }, full(mib, Buffer.from([2]))],
    ["Avro: a MiB of empty strings", { type: "array", items: "string" }, full(mib, Buffer.from([0]))],
    ["Avro: empty arrays", { type: "array", items: { type: "array", items: "int" } }, full(mib, Buffer.from([0]))],
    [
      "Avro: records of one long",
      { type: "array", items: { type: "record", name: "I", fields: [{ name: "x", type: "long" }] } },
      full(mib, Buffer.from([2])),
    ],
    ["Avro: empty byte strings", { type: "array", items: "bytes" }, full(mib, Buffer.from([0]))],
    ["Avro: maps of nothing", { type: "array", items: { type: "map", values: "int" } }, full(mib, Buffer.from([0]))],
  ];
  return cases.map(([name, type, payload]) => ({ name, value: framed(payload), schemas: sourceOf(record(type)) }));
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
