import protobuf from "protobufjs";
import { type ChangeFormat, confluentPrefix, idsFor, type NeededSchema } from "../change-format.ts";
import type { Envelope } from "../envelope.ts";
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
  createEncoder(_source, ids) {
    const found = idsFor("confluent-protobuf", ids);
    const root = new protobuf.Root();
    for (const file of [decimalFile, keyFile, valueFile]) {
      protobuf.parse(file, root, { keepCase: true });
    }
    const key = writerOf(root.lookupType("Key"), found.key);
    const value = writerOf(root.lookupType("Envelope"), found.value);
    return { key, value: (envelope) => value(messageOf(envelope)) };
  },
};

/** A zero, the id, and a zero: the message is the first of its file. */
function writerOf(type: protobuf.Type, id: number): (message: object) => Buffer {
  const prefix = Buffer.concat([confluentPrefix(id), Buffer.from([0])]);
  return (message) => Buffer.concat([prefix, type.encode(message).finish()]);
}

/** What is null is absent, as the encoder has it by itself. Nanoseconds are given in two halves. */
function messageOf({ before, after, source, ts_ns, ...rest }: Envelope): object {
  return {
    ...rest,
    before: rowMessage(before),
    after: rowMessage(after),
    source: { ...source, ts_ns: halves(source.ts_ns) },
    ts_ns: halves(ts_ns),
  };
}

function rowMessage(row: SalesOrderRow | null): object | null {
  return row === null
    ? null
    : {
        ...row,
        unitprice: decimalMessage(row.unitprice, 4),
        unitpricediscount: decimalMessage(row.unitpricediscount, 4),
        linetotal: decimalMessage(row.linetotal, 6),
      };
}

/** The converter writes how many digits the value has, whatever the column allows. */
function decimalMessage(value: Buffer, scale: number): object {
  const padding = 8 - value.length;
  const unscaled = padding >= 0 ? readSigned(value) : BigInt(`0x${value.toString("hex")}`);
  return { value, precision: String(unscaled).replace("-", "").length, scale };
}

function readSigned(value: Buffer): bigint {
  return BigInt.asIntN(value.length * 8, BigInt(`0x${value.toString("hex")}`));
}

function halves(value: bigint | null): { readonly low: number; readonly high: number; readonly unsigned: false } | null {
  return value === null ? null : { low: Number(BigInt.asIntN(32, value)), high: Number(value >> 32n), unsigned: false };
}
