import type { TopicHints } from "@cdckit/decode";

/** How SQL and an event are brought to one form: text, or null for null. */
export interface ColumnCase {
  readonly name: string;
  /** The type in SQL. */
  readonly type: string;
  /**
   * What the event must say, in SQL.
   * @default the column cast to text
   */
  readonly truth?: string;
  /** From PostgreSQL's way of writing to that of the value table. */
  readonly fromSql?: (text: string) => string;
  /** @default String */
  readonly show?: (value: unknown) => string;
  /** What plain JSON cannot say of the column by itself. */
  readonly hint?: NonNullable<TopicHints["columns"]>[string];
  /** Set where plain JSON carries another value, and no hint changes that: how it is shown. */
  readonly showPlain?: (value: unknown) => string;
}

const isoDateTime = (text: string): string => text.replace(" ", "T");
const isoUtc = (text: string): string => isoDateTime(text).replace(/\+00$/, "Z");
const compactJson = (text: unknown): string => JSON.stringify(JSON.parse(String(text)));
const withoutZeros = (value: unknown): string =>
  String(value)
    .replace(/(\.\d*?)0+Z$/, "$1Z")
    .replace(".Z", "Z");

/** Every common column type of PostgreSQL. */
export const columnCases: readonly ColumnCase[] = [
  { name: "a_boolean", type: "boolean" },
  { name: "a_smallint", type: "smallint" },
  { name: "an_integer", type: "integer" },
  { name: "a_bigint", type: "bigint" },
  { name: "an_oid", type: "oid" },
  {
    name: "a_real",
    type: "real",
    fromSql: (text) => String(Math.fround(Number(text))),
    showPlain: (value) => String(Math.fround(Number(value))),
  },
  { name: "a_double", type: "double precision", fromSql: (text) => String(Number(text)), showPlain: String },
  { name: "a_numeric", type: "numeric(20, 6)", hint: { name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "6" } } },
  // Debezium leaves the trailing zeros out where the column has no scale of its own.
  { name: "a_free_numeric", type: "numeric", truth: "trim_scale(a_free_numeric)::text", hint: "io.debezium.data.VariableScaleDecimal" },
  {
    name: "a_money",
    type: "money",
    truth: "a_money::numeric(20, 2)::text",
    hint: { name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "2" } },
  },
  { name: "a_char", type: "char(5)", truth: "rpad(a_char::text, 5)" },
  { name: "a_varchar", type: "varchar(40)" },
  { name: "a_text", type: "text" },
  {
    name: "a_bytea",
    type: "bytea",
    truth: "encode(a_bytea, 'hex')",
    show: (value) => (value as Buffer).toString("hex"),
    showPlain: (value) => Buffer.from(String(value), "base64").toString("hex"),
  },
  { name: "a_date", type: "date", hint: "io.debezium.time.Date" },
  { name: "a_time", type: "time", hint: "io.debezium.time.MicroTime" },
  { name: "a_timetz", type: "timetz", truth: "(a_timetz at time zone 'UTC')::text", fromSql: isoUtc, hint: "io.debezium.time.ZonedTime" },
  { name: "a_timestamp", type: "timestamp", fromSql: isoDateTime, hint: "io.debezium.time.MicroTimestamp" },
  { name: "a_timestamp_ms", type: "timestamp(3)", fromSql: isoDateTime, hint: "io.debezium.time.Timestamp" },
  { name: "a_timestamptz", type: "timestamptz", fromSql: isoUtc, show: withoutZeros, hint: "io.debezium.time.ZonedTimestamp" },
  {
    name: "an_interval",
    type: "interval",
    truth: "(extract(epoch from an_interval) * 1000000)::bigint::text",
    hint: "io.debezium.time.MicroDuration",
  },
  { name: "a_uuid", type: "uuid", hint: "io.debezium.data.Uuid" },
  { name: "a_json", type: "json", hint: "io.debezium.data.Json" },
  { name: "a_jsonb", type: "jsonb", hint: "io.debezium.data.Json" },
  { name: "an_xml", type: "xml" },
  { name: "an_inet", type: "inet", truth: "case when an_inet is not null then format('%s', an_inet) end" },
  { name: "a_cidr", type: "cidr" },
  { name: "a_macaddr", type: "macaddr" },
  { name: "a_bit", type: "bit(1)", truth: "(a_bit::int = 1)::text" },
  { name: "some_bits", type: "bit(10)", hint: { name: "io.debezium.data.Bits", parameters: { length: "10" } } },
  {
    name: "up_to_16_bits",
    type: "bit varying(16)",
    truth: "lpad(up_to_16_bits::text, 16, '0')",
    hint: { name: "io.debezium.data.Bits", parameters: { length: "16" } },
  },
  { name: "some_integers", type: "integer[]", truth: "to_json(some_integers)::text", show: JSON.stringify },
  { name: "some_texts", type: "text[]", truth: "to_json(some_texts)::text", show: JSON.stringify },
  { name: "a_mood", type: "e2e.mood" },
  {
    name: "a_point",
    type: "point",
    truth: "case when a_point is not null then format('%s %s', a_point[0], a_point[1]) end",
    show: (value) => `${(value as { x: number }).x} ${(value as { y: number }).y}`,
    hint: "io.debezium.data.geometry.Point",
  },
  {
    name: "an_hstore",
    type: "hstore",
    truth: "hstore_to_json(an_hstore)::text",
    fromSql: compactJson,
    show: compactJson,
    hint: "io.debezium.data.Json",
  },
  { name: "a_citext", type: "citext" },
  { name: "an_ltree", type: "ltree" },
  { name: "a_range", type: "int4range" },
];

/** The tables, in SQL. They are made before the connectors start: a publication lists the tables that are there. */
export const endToEndDdl = `
  create extension hstore; create extension citext; create extension ltree;
  create schema e2e;
  create type e2e.mood as enum ('sad', 'ok', 'happy');
  create table e2e.alltypes (id bigint primary key, ${columnCases.map(({ name, type }) => `${name} ${type}`).join(", ")});
  alter table e2e.alltypes replica identity full;
  create table e2e.composite (tenant integer, sku text, quantity integer not null, primary key (tenant, sku));
  alter table e2e.composite replica identity full;
  create table e2e.nopk (note text, amount numeric(8, 2));
  alter table e2e.nopk replica identity full;
  create table e2e.toasted (id integer primary key, version integer, document text);
  alter table e2e.toasted alter column document set storage external;
`;

export const endToEndTables = "e2e.alltypes,e2e.composite,e2e.nopk,e2e.toasted";
