import type { RecordHeaders } from "@cdckit/decode";
import type { Attack } from "./attacks.ts";
import { sourceOf } from "./vector-seeds.ts";

/** What must be learned or compiled anew for every part of a message, or of its schema: each document, column, table or message is another. */
export function shapeAttacks(): readonly Attack[] {
  return [...packedAttacks(1_024), ...packedAttacks(8_000), ...columnAttacks(), ...headerAttacks(), ...schemaAttacks()];
}

const version = Buffer.from("0000000000000001", "hex");

function packedAttacks(count: number): Attack[] {
  const each = (document: (i: number) => string): string[] => Array.from({ length: count }, (_, i) => document(i));
  const lengthPrefixed = (documents: readonly string[]): Buffer =>
    Buffer.concat(documents.flatMap((text) => [length(text), Buffer.from(text)]));
  const row = (column: string): string => `{"database":"d","table":"t","type":"insert","ts":1,"data":{"${column}":1}}`;
  const connect = (name: string): string =>
    `{"schema":{"type":"struct","fields":[{"type":"int32","field":"${name}"}]},"payload":{"${name}":1}}`;
  const openKey = Buffer.concat([version, lengthPrefixed(each(() => '{"ts":1,"scm":"s","tbl":"t","t":1}'))]);
  const attack = (name: string, value: Buffer, key?: Buffer): Attack => ({
    name: `${count} shapes: ${name}`,
    value,
    schemas: null,
    ...(key === undefined ? {} : { key }),
  });
  return [
    attack("TiCDC's open protocol", lengthPrefixed(each((i) => `{"u":{"c${i}":{"t":3,"f":1,"v":1}}}`)), openKey),
    attack("Maxwell's rows", Buffer.from(each((i) => row(`c${i}`)).join("")), version),
    attack("Maxwell's rows, each shape three times", Buffer.from(each((i) => row(`c${Math.floor(i / 3)}`)).join("")), version),
    attack("Maxwell's rows, two shapes in turn", Buffer.from(each((i) => row(`c${i - (i % 8) + (i % 2)}`)).join("")), version),
    attack("documents with their Connect schemas", lengthPrefixed(each((i) => connect(`c${i}`)))),
    attack("plain documents", lengthPrefixed(each((i) => `{"c${i}":1,"d":{"a":1}}`))),
  ];
}

function length(text: string): Buffer {
  const bytes = Buffer.alloc(8);
  bytes.writeUInt32BE(Buffer.byteLength(text), 4);
  return bytes;
}

function columnAttacks(): Attack[] {
  const list = <Item>(count: number, item: (i: number) => Item): Item[] => Array.from({ length: count }, (_, i) => item(i));
  const wal2json = (change: readonly object[]): string => JSON.stringify({ change });
  const insert = { kind: "insert", schema: "s" };
  const types = (type: (i: number) => string): string =>
    wal2json([
      {
        ...insert,
        table: "t",
        columnnames: list(30_000, (i) => `c${i}`),
        columntypes: list(30_000, type),
        columnvalues: list(30_000, () => 1),
      },
    ]);
  const tables = list(17_000, (i) => ({ kind: "insert", table: `t${i}`, columnnames: [], columntypes: [], columnvalues: [] }));
  const filled = { columnnames: ["a"], columntypes: ["integer"], columnvalues: [1] };
  const tablesOfColumns = list(10_000, (i) => ({ kind: "insert", schema: "public", table: `table${i}`, ...filled }));
  const cloudEvent = (fields: number): string => {
    const schema = { type: "struct", fields: list(fields, (i) => ({ type: "int32", optional: true, field: `f${i}` })) };
    const data = { schema, payload: {} };
    return JSON.stringify({
      id: "1",
      source: "/debezium/postgresql/s",
      specversion: "1.0",
      type: "x",
      datacontenttype: "application/json",
      data,
    });
  };
  const texts: Readonly<Record<string, string>> = {
    "wal2json: 30,000 types of a length each": types((i) => `numeric(${(i % 1_000) + 1},${i % 7})`),
    "wal2json: 30,000 types that nobody knows": types((i) => `type${i}`),
    "wal2json: 17,000 tables": wal2json(tables),
    "wal2json: 10,000 tables of one column": wal2json(tablesOfColumns),
    "CloudEvents: an inner schema of 9,000 fields": cloudEvent(9_000),
    "CloudEvents: an inner schema of as many fields as are read": cloudEvent(8_380),
  };
  return Object.entries(texts).map(([name, text]) => ({ name, value: Buffer.from(text), schemas: null }));
}

/** Of which the headers are what costs: each of them is a few bytes on the wire. */
function headerAttacks(): Attack[] {
  const value = Buffer.from('{"__op":"c","id":1}');
  const times = (count: number, name: string, bytes: Buffer | null): RecordHeaders => Array.from({ length: count }, () => [name, bytes]);
  const last: RecordHeaders[number] = ["__db", Buffer.from(`"${"x".repeat(500_000)}"`)];
  return [
    { name: "headers: 170,000 of one name without a value", value, headers: times(170_000, "__db", null), schemas: null },
    { name: "headers: 80,000 of one name, and a long one", value, headers: [...times(80_000, "__db", null), last], schemas: null },
  ];
}

/** Of which the schema is what costs. */
function schemaAttacks(): Attack[] {
  const avro = (count: number): string =>
    JSON.stringify({ type: "record", name: "R", fields: Array.from({ length: count }, (_, i) => ({ name: `f${i}`, type: "null" })) });
  const messages = (count: number): string =>
    Array.from({ length: count }, (_, i) => `message M${i} { ${i + 1 < count ? `M${i + 1} a = 1;` : ""} }`).join();
  const protobuf = (count: number): string => `syntax = "proto3"; ${messages(count).replaceAll(",", "")}`;
  const schemas: readonly (readonly [string, string, string, string])[] = [
    ["Avro: a schema of 90,000 fields", "AVRO", avro(90_000), "0000000001"],
    ["Avro: a schema of as many fields as are read", "AVRO", avro(19_900), "0000000001"],
    ["Protobuf: a schema of 20,000 messages", "PROTOBUF", protobuf(20_000), "000000000100"],
    ["Protobuf: a schema of as many messages as are read", "PROTOBUF", protobuf(9_000), "000000000100"],
  ];
  return schemas.map(([name, schemaType, schema, prefix]) => {
    const value = Buffer.from(prefix, "hex");
    return { name, value, greeting: value, schemas: sourceOf((id) => ({ id, schemaType, schema })) };
  });
}
