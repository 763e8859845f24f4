import { qualifiedName } from "./change-format.ts";
import type { ChangeSource } from "./change-stream.ts";

/** A schema of Kafka Connect as its JSON converter writes it, properties in that order. */
export interface ConnectSchema {
  readonly type: string;
  readonly fields?: readonly ConnectSchema[];
  readonly optional: boolean;
  readonly name?: string;
  readonly version?: number;
  readonly parameters?: Readonly<Record<string, string>>;
  readonly default?: string | number;
  readonly field?: string;
}

const decimal = (field: string, scale: number, precision: number, fallback?: string): ConnectSchema => ({
  type: "bytes",
  optional: false,
  name: "org.apache.kafka.connect.data.Decimal",
  version: 1,
  parameters: { scale: String(scale), "connect.decimal.precision": String(precision) },
  ...(fallback !== undefined && { default: fallback }),
  field,
});

const required = (type: string, field: string): ConnectSchema => ({ type, optional: false, field });
const optional = (type: string, field: string): ConnectSchema => ({ type, optional: true, field });

/** The columns of the published table as Debezium describes them. */
const columns: readonly ConnectSchema[] = [
  { type: "int64", optional: false, default: 0, field: "id" },
  required("int32", "salesorderid"),
  required("int32", "salesorderdetailid"),
  optional("string", "carriertrackingnumber"),
  required("int16", "orderqty"),
  required("int32", "productid"),
  required("int32", "specialofferid"),
  decimal("unitprice", 4, 19),
  decimal("unitpricediscount", 4, 19, "AA=="),
  decimal("linetotal", 6, 38),
  {
    type: "string",
    optional: false,
    name: "io.debezium.data.Uuid",
    version: 1,
    default: "00000000-0000-0000-0000-000000000000",
    field: "rowguid",
  },
  { type: "int64", optional: false, name: "io.debezium.time.MicroTimestamp", version: 1, field: "modifieddate" },
];

const sourceFields: readonly ConnectSchema[] = [
  required("string", "version"),
  required("string", "connector"),
  required("string", "name"),
  required("int64", "ts_ms"),
  {
    type: "string",
    optional: true,
    name: "io.debezium.data.Enum",
    version: 1,
    parameters: { allowed: "true,first,first_in_data_collection,last_in_data_collection,last,false,incremental" },
    default: "false",
    field: "snapshot",
  },
  required("string", "db"),
  optional("string", "sequence"),
  optional("int64", "ts_us"),
  optional("int64", "ts_ns"),
  required("string", "schema"),
  required("string", "table"),
  optional("int64", "txId"),
  optional("int64", "lsn"),
  optional("int64", "xmin"),
  optional("string", "origin"),
  optional("int64", "origin_lsn"),
];

const transactionFields: readonly ConnectSchema[] = [
  required("string", "id"),
  required("int64", "total_order"),
  required("int64", "data_collection_order"),
];

export function connectKeySchema(source: ChangeSource): ConnectSchema {
  return { type: "struct", fields: columns.slice(0, 1), optional: false, name: `${qualifiedName(source)}.Key` };
}

export function connectEnvelopeSchema(source: ChangeSource): ConnectSchema {
  const name = qualifiedName(source);
  const row = (field: string): ConnectSchema => ({ type: "struct", fields: columns, optional: true, name: `${name}.Value`, field });
  return {
    type: "struct",
    fields: [
      row("before"),
      row("after"),
      {
        type: "struct",
        fields: sourceFields,
        optional: false,
        name: "io.debezium.connector.postgresql.Source",
        version: 1,
        field: "source",
      },
      { type: "struct", fields: transactionFields, optional: true, name: "event.block", version: 1, field: "transaction" },
      required("string", "op"),
      optional("int64", "ts_ms"),
      optional("int64", "ts_us"),
      optional("int64", "ts_ns"),
    ],
    optional: false,
    name: `${name}.Envelope`,
    version: 2,
  };
}
