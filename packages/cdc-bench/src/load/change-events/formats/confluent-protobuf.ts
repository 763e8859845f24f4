import protobuf from "protobufjs";
import { type ChangeFormat, confluentPrefix, idsFor, type NeededSchema, type TakeBytes } from "../change-format.ts";
import type { Envelope, EnvelopeSource } from "../envelope.ts";
import type { SalesOrderRow } from "../sales-order-row.ts";

const decimalFile =
  'syntax = "proto3"; package confluent.type; message Decimal { bytes value = 1; uint32 precision = 2; int32 scale = 3; }';
const decimalField = (name: string, number: number, precision: number, scale: number): string =>
  `    confluent.type.Decimal ${name} = ${number} [(confluent.field_meta) = {
      params: [
        {
          key: "precision",
          value: "${precision}"
        },
        {
          key: "scale",
          value: "${scale}"
        }
      ]
    }];`;

/** Every registry of Confluent's has them. */
const confluentFiles = ["confluent/meta.proto", "confluent/type/decimal.proto"];

const keyFile = `syntax = "proto3";

message Key {
  int64 id = 1;
}
`;

/** As Confluent's converter makes it of Debezium's schema with `optional.for.nullables=true`: without it a null column would be 0. */
const valueFile = `syntax = "proto3";

${confluentFiles.map((file) => `import "${file}";`).join("\n")}

message Envelope {
  Value before = 1;
  Value after = 2;
  Source source = 3;
  block transaction = 4;
  string op = 5;
  optional int64 ts_ms = 6;
  optional int64 ts_us = 7;
  optional int64 ts_ns = 8;

  message Value {
    int64 id = 1;
    int32 salesorderid = 2;
    int32 salesorderdetailid = 3;
    optional string carriertrackingnumber = 4;
    int32 orderqty = 5 [(confluent.field_meta) = {
      params: [
        {
          key: "connect.type",
          value: "int16"
        }
      ]
    }];
    int32 productid = 6;
    int32 specialofferid = 7;
${decimalField("unitprice", 8, 19, 4)}
${decimalField("unitpricediscount", 9, 19, 4)}
${decimalField("linetotal", 10, 38, 6)}
    string rowguid = 11;
    int64 modifieddate = 12;
  }
  message Source {
    string version = 1;
    string connector = 2;
    string name = 3;
    int64 ts_ms = 4;
    optional string snapshot = 5;
    string db = 6;
    optional string sequence = 7;
    optional int64 ts_us = 8;
    optional int64 ts_ns = 9;
    string schema = 10;
    string table = 11;
    optional int64 txId = 12;
    optional int64 lsn = 13;
    optional int64 xmin = 14;
    optional string origin = 15;
    optional int64 origin_lsn = 16;
  }
  message block {
    string id = 1;
    int64 total_order = 2;
    int64 data_collection_order = 3;
  }
}
`;

/**
 * Confluent's Protobuf converter, by protobufjs. No converter was recorded: schema and bytes follow the converter's source (semantic names are
 * dropped, decimals are `confluent.type.Decimal`).
 */
export const confluentProtobuf: ChangeFormat = {
  name: "confluent-protobuf",
  title: "Confluent Protobuf",
  schemas: (): readonly NeededSchema[] => [
    { part: "key", schemaType: "PROTOBUF", schema: keyFile },
    { part: "value", schemaType: "PROTOBUF", schema: valueFile },
  ],
  createEncoder(_source, ids, takeBytes = Buffer.allocUnsafe) {
    const found = idsFor("confluent-protobuf", ids);
    const root = new protobuf.Root();
    for (const file of [decimalFile, keyFile, valueFile]) {
      protobuf.parse(file, root, { keepCase: true });
    }
    const key = writerOf(root.lookupType("Key"), found.key, takeBytes);
    const value = writerOf(root.lookupType("Envelope"), found.value, takeBytes);
    return { key, value: (envelope) => value(messageOf(envelope)) };
  },
};

/** A zero, the id, and a zero: the message is the first of its file. */
function writerOf(type: protobuf.Type, id: number, takeBytes: TakeBytes): (message: object) => Buffer {
  const prefix = Buffer.concat([confluentPrefix(id), Buffer.from([0])]);
  return (message) => {
    const content = type.encode(message).finish();
    const bytes = takeBytes(prefix.length + content.length);
    bytes.set(prefix);
    bytes.set(content, prefix.length);
    return bytes;
  };
}

/** What is null is absent, as the encoder has it by itself. Nanoseconds are given in two halves. Copies by spreading cost twice as much. */
function messageOf({ before, after, source, transaction, op, ts_ms, ts_us, ts_ns }: Envelope): object {
  return {
    before: rowMessage(before),
    after: rowMessage(after),
    source: sourceMessage(source),
    transaction,
    op,
    ts_ms,
    ts_us,
    ts_ns: halves(ts_ns),
  };
}

function sourceMessage(source: EnvelopeSource): object {
  const { version, connector, name, ts_ms, snapshot, db, sequence, ts_us, ts_ns, schema, table, txId, lsn, xmin, origin, origin_lsn } =
    source;
  return {
    version,
    connector,
    name,
    ts_ms,
    snapshot,
    db,
    sequence,
    ts_us,
    ts_ns: halves(ts_ns),
    schema,
    table,
    txId,
    lsn,
    xmin,
    origin,
    origin_lsn,
  };
}

function rowMessage(row: SalesOrderRow | null): object | null {
  if (row === null) {
    return null;
  }
  const { id, salesorderid, salesorderdetailid, carriertrackingnumber, orderqty, productid, specialofferid, rowguid, modifieddate } = row;
  return {
    id,
    salesorderid,
    salesorderdetailid,
    carriertrackingnumber,
    orderqty,
    productid,
    specialofferid,
    unitprice: decimalMessage(row.unitprice, 4),
    unitpricediscount: decimalMessage(row.unitpricediscount, 4),
    linetotal: decimalMessage(row.linetotal, 6),
    rowguid,
    modifieddate,
  };
}

const maxNumberBytes = 6;

/** The converter writes how many digits the value has, whatever the column allows. */
function decimalMessage(value: Buffer, scale: number): object {
  return { value, precision: digitsOf(value), scale };
}

function digitsOf(value: Buffer): number {
  if (value.length > maxNumberBytes) {
    const unscaled = BigInt.asIntN(value.length * 8, BigInt(`0x${value.toString("hex")}`));
    return String(unscaled).replace("-", "").length;
  }
  let digits = 1;
  for (let rest = Math.abs(value.readIntBE(0, value.length)); rest >= 10; rest = Math.floor(rest / 10)) {
    digits++;
  }
  return digits;
}

function halves(value: bigint | null): { readonly low: number; readonly high: number; readonly unsigned: false } | null {
  return value === null ? null : { low: Number(BigInt.asIntN(32, value)), high: Number(value >> 32n), unsigned: false };
}
