import { type DecoderOptions, SchemaChangeLearner } from "@cdckit/decode";
import { recordOf, type WrittenBytes } from "@cdckit/testkit";

/** The row of `CREATE TABLE orders (id int PRIMARY KEY, big bigint, price decimal(10,2), name text, note text, born date, at timestamp(6))`. */
export type Row = Readonly<Record<"id" | "big" | "price" | "name" | "note" | "born" | "at", unknown>>;

/** The three changes that every envelope writes: the row comes, its price and name change, and it goes. */
export const inserted: Row = {
  id: 7,
  big: 9_007_199_254_740_993n,
  price: "12.30",
  name: "Łódź",
  note: null,
  born: "2024-02-29",
  at: "2024-02-29T12:00:00.5",
};
export const updated: Row = { ...inserted, price: "12.50", name: "Łódź II" };

/** The three messages, as the system writes them. */
export interface Written {
  readonly key: WrittenBytes | null;
  readonly value: WrittenBytes | null;
  readonly headers?: readonly (readonly [string, WrittenBytes])[];
}

export interface Messages {
  readonly create: Written;
  readonly update: Written;
  readonly delete: Written;
}

/** What an envelope cannot carry, and therefore gives in its place. */
export interface Exemption {
  readonly why: string;
  /** Columns as they are found instead. */
  readonly columns?: Partial<Row>;
  /** Fields of the events, by operation, as they are found instead. */
  readonly fields?: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

export interface EnvelopeCase {
  readonly envelope: string;
  readonly messages: Messages;
  /** Records of the topic that come before. */
  readonly before?: readonly Written[];
  readonly options?: DecoderOptions;
  readonly exempt?: readonly Exemption[];
}

/** JSON with the integer beyond doubles and the decimal as they are written. */
function json(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) => (typeof item === "bigint" ? `#${item}#` : item)).replaceAll(/"#([0-9.]+)#"/g, "$1");
}

/** Values as text, as Canal and TiCDC have them. */
const texts = (row: Row): Row => ({ ...sqlRow(row), id: "7", big: "9007199254740993" });
/** Values as JSON, times as SQL prints them. */
const sqlRow = (row: Row): Row => ({ ...row, at: "2024-02-29 12:00:00.500000" });
/** The same with the decimal as a number. */
const numbers = (row: Row): Row => ({ ...sqlRow(row), price: `#${String(row.price)}#` });

const idKey = '{"id":7}';
const exact: DecoderOptions = { values: { numbers: "exact" } };
const noTypes: Exemption = {
  why: "it states no types: a timestamp is the text that the database prints",
  columns: { at: "2024-02-29 12:00:00.500000" },
};

const mysqlType = { id: "int", big: "bigint", price: "decimal(10,2)", name: "text", note: "text", born: "date", at: "datetime(6)" };
const pgTypes = {
  id: "integer",
  big: "bigint",
  price: "numeric(10,2)",
  name: "text",
  note: "text",
  born: "date",
  at: "timestamp(6) without time zone",
};

const connectFields = [
  { field: "id", type: "int32", optional: false },
  { field: "big", type: "int64", optional: true },
  { field: "price", type: "bytes", optional: true, name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "2" } },
  { field: "name", type: "string", optional: true },
  { field: "note", type: "string", optional: true },
  { field: "born", type: "int32", optional: true, name: "io.debezium.time.Date" },
  { field: "at", type: "int64", optional: true, name: "io.debezium.time.MicroTimestamp" },
];
const connectRow = (field: string): object => ({
  field,
  type: "struct",
  optional: true,
  name: "p.inv.orders.Value",
  fields: connectFields,
});
const connectValues = (row: Row | null): unknown =>
  row === null ? null : { ...row, price: unscaled(row), born: 19_782, at: 1_709_208_000_500_000 };

/** Two bytes, big-endian, as base64. */
function unscaled({ price }: Row): string {
  const cents = Math.round(Number(price) * 100);
  return Buffer.from([cents >> 8, cents & 255]).toString("base64");
}

const images: Readonly<Record<keyof Messages, readonly [before: Row | null, after: Row | null]>> = {
  create: [null, inserted],
  update: [inserted, updated],
  delete: [updated, null],
};

function each(write: (op: keyof Messages, before: Row | null, after: Row | null) => Written): Messages {
  return {
    create: write("create", ...images.create),
    update: write("update", ...images.update),
    delete: write("delete", ...images.delete),
  };
}

const letters = { create: "c", update: "u", delete: "d" } as const;
const words = { create: "insert", update: "update", delete: "delete" } as const;

const debeziumSource = {
  field: "source",
  type: "struct",
  optional: false,
  fields: ["connector", "db", "table"].map((field) => ({ field, type: "string", optional: true })),
};

const debezium: EnvelopeCase = {
  envelope: "debezium",
  messages: each((op, before, after) => ({
    key: idKey,
    value: json({
      schema: {
        type: "struct",
        name: "p.inv.orders.Envelope",
        fields: [connectRow("before"), connectRow("after"), debeziumSource, { field: "op", type: "string", optional: false }],
      },
      payload: {
        before: connectValues(before),
        after: connectValues(after),
        source: { connector: "mysql", db: "inv", table: "orders" },
        op: letters[op],
      },
    }),
  })),
};

const cloudevents: EnvelopeCase = {
  envelope: "cloudevents",
  messages: each((op, before, after) => ({
    key: idKey,
    value: json({
      id: "name:p;file:f;pos:1",
      source: "/debezium/mysql/p",
      specversion: "1.0",
      type: "io.debezium.connector.mysql.DataChangeEvent",
      datacontenttype: "application/json",
      iodebeziumop: letters[op],
      iodebeziumdb: "inv",
      iodebeziumtable: "orders",
      data: {
        schema: { type: "struct", name: "p.inv.orders.Data", fields: [connectRow("before"), connectRow("after")] },
        payload: { before: connectValues(before), after: connectValues(after) },
      },
    }),
  })),
};

/** Columns of one row that another does not have. */
function changedColumns(before: Row, after: Row): object {
  return Object.fromEntries(Object.entries(before).filter(([name, value]) => value !== after[name as keyof Row]));
}

const maxwell: EnvelopeCase = {
  envelope: "maxwell",
  options: exact,
  exempt: [noTypes],
  messages: each((op, before, after) => ({
    key: '{"database":"inv","table":"orders","pk.id":7}',
    value: json({
      database: "inv",
      table: "orders",
      type: words[op],
      ts: 1_709_208_000,
      xid: 1,
      commit: true,
      data: numbers((after ?? before) as Row),
      ...(op === "update" ? { old: changedColumns(numbers(inserted), numbers(updated)) } : {}),
    }),
  })),
};

function canalMessage(op: keyof Messages, before: Row | null, after: Row | null, types: object, more: object): string {
  const old = op === "update" ? [changedColumns(texts(inserted), texts(updated))] : null;
  const names = { database: "inv", table: "orders", pkNames: ["id"], isDdl: false, type: words[op].toUpperCase() };
  return json({
    id: 0,
    ...names,
    es: 1,
    ts: 2,
    sql: "",
    sqlType: {},
    mysqlType: types,
    data: [texts((after ?? before) as Row)],
    old,
    ...more,
  });
}

const canal: EnvelopeCase = {
  envelope: "canal",
  messages: each((op, before, after) => ({ key: null, value: canalMessage(op, before, after, mysqlType, {}) })),
};

const withoutParameters = Object.fromEntries(Object.entries(mysqlType).map(([name, type]) => [name, type.replace(/\(.*/, "")]));

const ticdcCanalJson: EnvelopeCase = {
  envelope: "ticdc-canal-json",
  messages: each((op, before, after) => ({
    key: null,
    value: canalMessage(op, before, after, withoutParameters, { _tidb: { commitTs: 429_918_007_904_436_226n } }),
  })),
};

const tidbCodes = { id: [3, 11], big: [8, 64], price: [246, 64], name: [252, 64], note: [252, 64], born: [10, 64], at: [12, 64] } as const;

function tidbColumns(row: Row): object {
  const values = { ...sqlRow(row), name: Buffer.from(String(row.name)).toString("base64") };
  return Object.fromEntries(
    Object.entries(tidbCodes).map(([name, [t, f]]) => [name, { t, f, h: name === "id", v: values[name as keyof Row] }]),
  );
}

/** A document behind its length, and behind the protocol's version in a key. */
function packed(document: string, version: boolean): WrittenBytes {
  const bytes = Buffer.from(document);
  const head = Buffer.alloc(version ? 16 : 8);
  head.writeBigUInt64BE(BigInt(bytes.length), head.length - 8);
  if (version) {
    head.writeBigUInt64BE(1n, 0);
  }
  return { hex: Buffer.concat([head, bytes]).toString("hex") };
}

const ticdcOpen: EnvelopeCase = {
  envelope: "ticdc-open",
  messages: each((op, before, after) => ({
    key: packed(json({ ts: 429_918_007_904_436_226n, scm: "inv", tbl: "orders", t: 1 }), true),
    value: packed(
      json(
        op === "delete"
          ? { d: tidbColumns(before as Row) }
          : { u: tidbColumns(after as Row), ...(before === null ? {} : { p: tidbColumns(before) }) },
      ),
      false,
    ),
  })),
};

const simpleTypes = { id: "int", big: "bigint", price: "decimal", name: "text", note: "text", born: "date", at: "datetime" };

const ticdcSimple: EnvelopeCase = {
  envelope: "ticdc-simple",
  options: { learn: { schemaChanges: new SchemaChangeLearner() } },
  before: [
    {
      key: null,
      value: json({
        version: 1,
        type: "BOOTSTRAP",
        commitTs: 0,
        buildTs: 1,
        tableSchema: {
          schema: "inv",
          table: "orders",
          version: 447_984_074_911_121_426n,
          columns: Object.entries(simpleTypes).map(([name, type]) => ({ name, dataType: { mysqlType: type, length: 10, decimal: 2 } })),
          indexes: [{ name: "primary", unique: true, primary: true, columns: ["id"] }],
        },
      }),
    },
  ],
  messages: each((op, before, after) => ({
    key: null,
    value: json({
      version: 1,
      database: "inv",
      table: "orders",
      type: words[op].toUpperCase(),
      commitTs: 447_984_099_186_180_098n,
      buildTs: 1,
      schemaVersion: 447_984_074_911_121_426n,
      ...(after === null ? {} : { data: texts(after) }),
      ...(before === null ? {} : { old: texts(before) }),
    }),
  })),
};

const wal2jsonColumns = (row: Row): object[] =>
  Object.entries(pgTypes).map(([name, type]) => ({ name, type, value: numbers(row)[name as keyof Row] }));

/** A table with REPLICA IDENTITY FULL: the whole row before a change is known. */
const wal2jsonTuples: EnvelopeCase = {
  envelope: "wal2json",
  messages: each((op, before, after) => ({
    key: null,
    value: json({
      action: { create: "I", update: "U", delete: "D" }[op],
      schema: "inv",
      table: "orders",
      ...(after === null ? {} : { columns: wal2jsonColumns(after) }),
      ...(before === null ? {} : { identity: wal2jsonColumns(before) }),
      pk: [{ name: "id", type: "integer" }],
    }),
  })),
};

const wal2jsonTransactions: EnvelopeCase = {
  envelope: "wal2json",
  messages: each((op, before, after) => {
    const lists = (row: Row, names: string, types: string, values: string): object => ({
      [names]: Object.keys(pgTypes),
      [types]: Object.values(pgTypes),
      [values]: Object.keys(pgTypes).map((name) => numbers(row)[name as keyof Row]),
    });
    const one = {
      kind: words[op],
      schema: "inv",
      table: "orders",
      pk: { pknames: ["id"], pktypes: ["integer"] },
      ...(after === null ? {} : lists(after, "columnnames", "columntypes", "columnvalues")),
      ...(before === null ? {} : { oldkeys: lists(before, "keynames", "keytypes", "keyvalues") }),
    };
    return { key: null, value: json({ change: [one] }) };
  }),
};

const goldengate: EnvelopeCase = {
  envelope: "goldengate",
  options: exact,
  exempt: [noTypes],
  messages: each((op, before, after) => ({
    key: "INV.orders_7",
    value: json({
      table: "INV.orders",
      op_type: { create: "I", update: "U", delete: "D" }[op],
      op_ts: "2024-02-29 12:00:01.000000",
      current_ts: "2024-02-29T12:00:02.000000",
      pos: "00000000000000000143",
      primary_keys: ["id"],
      ...(before === null ? {} : { before: numbers(before) }),
      ...(after === null ? {} : { after: numbers(after) }),
    }),
  })),
};

const oracleCdc: EnvelopeCase = {
  envelope: "oracle-cdc",
  options: exact,
  exempt: [noTypes, { why: "it has one image alone: the row after an update, and before a delete", fields: { update: { before: null } } }],
  messages: each((op, before, after) => ({
    key: idKey,
    value: json({
      ...numbers((after ?? before) as Row),
      table: "ORCL.INV.orders",
      scn: "589654",
      op_type: { create: "I", update: "U", delete: "D" }[op],
      op_ts: "1636048731469",
      current_ts: "1636049137001",
      row_id: null,
      username: null,
    }),
  })),
};

const dms: EnvelopeCase = {
  envelope: "dms",
  options: exact,
  exempt: [noTypes],
  messages: each((op, before, after) => ({
    key: idKey,
    value: json({
      data: numbers((after ?? before) as Row),
      ...(op === "update" ? { "before-image": numbers(inserted) } : {}),
      metadata: {
        timestamp: "2024-02-29T12:00:00.000000Z",
        "record-type": "data",
        operation: words[op],
        "schema-name": "inv",
        "table-name": "orders",
      },
    }),
  })),
};

const qlik: EnvelopeCase = {
  envelope: "qlik",
  options: exact,
  exempt: [noTypes],
  messages: each((op, before, after) => ({
    key: idKey,
    value: json({
      magic: "atMSG",
      type: "DT",
      headers: null,
      message: {
        data: numbers((after ?? before) as Row),
        beforeData: op === "update" ? numbers(inserted) : null,
        headers: { operation: words[op].toUpperCase(), changeSequence: "1", timestamp: "2024-02-29T12:00:00.000" },
      },
    }),
  })),
};

const flattened: EnvelopeCase = {
  envelope: "flattened",
  messages: each((op, before, after) => ({
    key: idKey,
    value: json({
      schema: {
        type: "struct",
        name: "p.inv.orders.Value",
        fields: [
          ...connectFields,
          { field: "__deleted", type: "string", optional: true },
          { field: "__op", type: "string", optional: true },
          { field: "__table", type: "string", optional: true },
        ],
      },
      payload: {
        ...(connectValues(after ?? before) as object),
        __deleted: String(after === null),
        __op: letters[op],
        __table: "orders",
      },
    }),
  })),
  exempt: [{ why: "it has the row as it is now, or as it was when it went", fields: { update: { before: null } } }],
};

const deltaforge: EnvelopeCase = {
  envelope: "deltaforge",
  messages: each((op, before, after) => ({
    key: idKey,
    value: json({
      before,
      after,
      source: { version: "deltaforge-0.1.0", connector: "mysql", name: "p", ts_ms: 1, db: "inv", table: "orders" },
      op: letters[op],
      ts_ms: 1,
      event_id: "0198e4a4-6f3c-7b6e-9f0a-1d2c3b4a5f60",
      tx_end: true,
    }),
  })),
};

/** Extended JSON. MongoDB has no timestamp without a zone. */
function document(row: Row | null): unknown {
  return row === null
    ? null
    : {
        ...row,
        id: { $numberInt: String(row.id) },
        big: { $numberLong: String(row.big) },
        price: { $numberDecimal: row.price },
        at: { $date: { $numberLong: "1709208000500" } },
      };
}
const instants: Exemption = { why: "MongoDB has instants alone", columns: { at: "2024-02-29T12:00:00.5Z" } };

const debeziumMongodb: EnvelopeCase = {
  envelope: "debezium",
  messages: each((op, before, after) => ({
    key: json({ id: "7" }),
    value: json({
      before: before === null ? null : json(document(before)),
      after: after === null ? null : json(document(after)),
      updateDescription: null,
      source: { connector: "mongodb", name: "p", db: "inv", collection: "orders", ord: 1 },
      op: letters[op],
      ts_ms: 1,
      transaction: null,
    }),
  })),
  exempt: [instants],
};

const mongodb: EnvelopeCase = {
  envelope: "mongodb",
  messages: each((op, before, after) => ({
    key: json({ _id: json({ _data: "82636D39C8" }) }),
    value: json(
      json({
        _id: { _data: "82636D39C8" },
        operationType: words[op],
        ns: { db: "inv", coll: "orders" },
        documentKey: { id: { $numberInt: "7" } },
        ...(after === null ? {} : { fullDocument: document(after) }),
        ...(before === null ? {} : { fullDocumentBeforeChange: document(before) }),
      }),
    ),
  })),
  exempt: [instants],
};

const cockroachTypes: Readonly<Record<keyof Row, object>> = {
  id: { type: "int64" },
  big: { type: "int64" },
  price: { type: "float64", name: "decimal", parameters: { precision: "10", scale: "2" } },
  name: { type: "string" },
  note: { type: "string" },
  born: { type: "string", name: "date" },
  at: { type: "string", name: "timestamp" },
};
const cockroachRow = (field: string): object => ({
  field,
  type: "struct",
  optional: true,
  name: `orders.${field}.value`,
  fields: Object.entries(cockroachTypes).map(([name, type]) => ({ field: name, optional: true, ...type })),
});

const cockroachdb: EnvelopeCase = {
  envelope: "cockroachdb",
  messages: each((op, before, after) => ({
    key: idKey,
    value: json({
      payload: { before: pricedRow(before), after: pricedRow(after), op: letters[op], ts_ns: 1_747_243_394_886_231_000n },
      schema: {
        type: "struct",
        name: "cockroachdb.envelope",
        fields: [cockroachRow("before"), cockroachRow("after"), { field: "ts_ns", type: "int64" }, { field: "op", type: "string" }],
      },
    }),
  })),
};

function pricedRow(row: Row | null): unknown {
  return row === null ? null : { ...row, price: `#${String(row.price)}#` };
}

/** Every envelope that carries changes. */
export const cases: readonly EnvelopeCase[] = [
  debezium,
  cloudevents,
  maxwell,
  canal,
  ticdcCanalJson,
  ticdcOpen,
  ticdcSimple,
  wal2jsonTuples,
  wal2jsonTransactions,
  goldengate,
  oracleCdc,
  dms,
  qlik,
  flattened,
  deltaforge,
  debeziumMongodb,
  mongodb,
  cockroachdb,
];

/** The record of a message, on a topic that names the table where the message does not. */
export function writtenRecord({ key, value, headers = [] }: Written, offset: bigint): Parameters<RecordReader>[0] {
  return recordOf(value, { topic: "p.inv.orders", offset, key, headers });
}

type RecordReader = import("@cdckit/decode").Decoder["decode"];
