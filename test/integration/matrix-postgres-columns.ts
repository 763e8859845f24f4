import { asClock, asDecimal, asDouble, asFloat, type MatrixColumn, type Mode, type Phase, shown, withoutZeros } from "./matrix-column.ts";

const json = (name: string): string => `to_json(${name})::text`;

/** The year of ISO text counts from 1 BC, which is 0. */
function withYear(text: string): string {
  const match = /^(\d+)(-.*) BC$/.exec(text);
  if (match === null) return text.replace(/^(\d{5,})-/, "+$1-");
  const year = Number(match[1]) - 1;
  return (year === 0 ? "0000" : `-${String(year).padStart(4, "0")}`) + match[2];
}

/** In a snapshot, dates before Christ lose their era, and timestamps are told by the Julian calendar: Java's old classes do that. */
const asDate = (text: string, _: Mode, phase: Phase): string => withYear(phase === "snapshot" ? text.replace(" BC", "") : text);
const julian = (text: string, phase: Phase): string => (phase === "snapshot" ? text.replace("-0043-03-15", "-0043-03-13") : text);

function asTimestamp(text: string, mode: Mode, phase: Phase): string {
  return julian(asClock(withYear(text), mode), phase);
}

function asInstant(text: string, _: Mode, phase: Phase): string {
  if (text.endsWith("infinity")) return text;
  const local = withoutZeros(withYear(text.replace("+00", ""))).replace(" ", "T");
  return `${julian(local, phase)}Z`;
}

/** ISO text of Java's has no hour 24. */
const asTime = (text: string, mode: Mode): string =>
  mode.time === "isostring" ? asClock(text, mode).replace("24:", "00:") : asClock(text, mode);

/** Debezium leaves trailing zeros out where the column has no scale of its own. */
function asFreeDecimal(text: string, mode: Mode): string {
  return mode.decimal === "precise" ? text.replace(/(\.\d*?)0+$/, "$1") : asDecimal(text, mode);
}

/** What is no number has no decimal: null when precise, and a word of Debezium's own in text. */
function asNan(text: string, mode: Mode): string | null {
  if (text !== "NaN") return asDecimal(text, mode);
  return { precise: null, string: "NAN", double: "NaN" }[mode.decimal];
}

/** Debezium's month has 30.4375 days. */
function micros(name: string): string {
  const months = `(extract(year from ${name}) * 12 + extract(month from ${name}))`;
  const rest = `extract(epoch from ${name} - make_interval(months => ${months}::int))`;
  return `(${months} * 2629800000000 + ${rest} * 1000000)::bigint::text`;
}

/** Types that Debezium does not know arrive as the bytes of their text, where it is told to include them. */
const asUnknown = (value: unknown): string | null => (value === null ? null : Buffer.from(value as Uint8Array).toString());

const showInstant = (value: unknown): string | null => (value === null ? null : withoutZeros(String(value)));

export const postgresColumns: readonly MatrixColumn[] = [
  { name: "a_boolean", type: "boolean", values: ["true", "false"] },
  { name: "a_smallint", type: "smallint", values: ["-32768", "32767"] },
  { name: "an_integer", type: "integer", values: ["-2147483648", "2147483647"] },
  { name: "a_bigint", type: "bigint", values: ["-9223372036854775808", "9223372036854775807", "9007199254740993"] },
  { name: "an_oid", type: "oid", values: ["4294967295", "0"] },
  { name: "a_real", type: "real", values: ["0.1", "'-Infinity'", "'NaN'", "1e-45"], expected: asFloat },
  { name: "a_double", type: "double precision", values: ["0.1", "'Infinity'", "'NaN'", "5e-324", "'-0'"], expected: asDouble },
  { name: "a_numeric", type: "numeric(20,6)", values: ["1234.5", "-12345678901234.567891", "0"], expected: asDecimal },
  { name: "a_whole_numeric", type: "numeric(38,0)", values: ["99999999999999999999999999999999999999", "-1"], expected: asDecimal },
  {
    name: "a_free_numeric",
    type: "numeric",
    values: ["0.00000000000000000012345678901234567890", "99999999999999999999999999999999999999", "-1.50"],
    expected: asFreeDecimal,
  },
  { name: "a_nan", type: "numeric", values: ["'NaN'", "1"], expected: asNan },
  { name: "a_money", type: "money", values: ["1234.56", "'-$0.01'"], truth: "a_money::numeric(20,2)::text", expected: asDecimal },
  { name: "a_char", type: "char(5)", values: ["'ab'", "''"], truth: "rpad(a_char::text, 5)" },
  { name: "a_varchar", type: "varchar(40)", values: ["'Grüße'", "''"] },
  { name: "a_text", type: "text", values: [`'😀 "quoted" \\ and a tab\t'`, "repeat('x', 5000)"] },
  { name: "a_name", type: "name", values: ["'a name'"] },
  { name: "a_bytea", type: "bytea", values: ["'\\x00ff10'", "''"], truth: "encode(a_bytea, 'hex')" },
  {
    name: "a_date",
    type: "date",
    values: ["'2024-02-29'", "'infinity'", "'-infinity'", "'0044-03-15 BC'", "'5874897-12-31'", "'0001-01-01 BC'"],
    expected: asDate,
  },
  { name: "a_time", type: "time", values: ["'23:59:59.999999'", "'00:00:00.000001'", "'24:00:00'"], expected: asTime },
  { name: "a_time3", type: "time(3)", values: ["'23:59:59.999'", "'00:00:00'"], expected: asClock },
  { name: "a_time0", type: "time(0)", values: ["'23:59:59'"], expected: asClock },
  {
    name: "a_timetz",
    type: "timetz",
    values: ["'10:15:30+05'", "'23:59:59.999999-11'", "'00:00:00-12'"],
    truth: "(a_timetz at time zone 'UTC')::text",
    expected: (text) => text.replace("+00", "Z"),
  },
  {
    name: "a_timestamp",
    type: "timestamp",
    values: [
      "'2038-01-19 03:14:07.999999'",
      "'infinity'",
      "'-infinity'",
      "'1969-12-31 23:59:59.999999'",
      "'0044-03-15 01:02:03 BC'",
      "'99999-12-31 23:59:59.999999'",
    ],
    expected: asTimestamp,
  },
  {
    name: "a_timestamp3",
    type: "timestamp(3)",
    values: ["'2024-02-29 12:34:56.789'", "'infinity'", "'1969-12-31 23:59:59.999'"],
    expected: asTimestamp,
  },
  { name: "a_timestamp0", type: "timestamp(0)", values: ["'2024-02-29 12:34:56'"], expected: asTimestamp },
  {
    name: "a_timestamptz",
    type: "timestamptz",
    values: ["'2024-06-01 12:00:00.5+02'", "'infinity'", "'-infinity'", "'0044-03-15 01:02:03+00 BC'", "'294276-12-31 23:59:59.999999+00'"],
    expected: asInstant,
    show: showInstant,
  },
  { name: "an_interval", type: "interval", values: ["'1 day 02:03:04.5'", "'-1 day'", "'-00:00:00.000001'"], truth: micros("an_interval") },
  { name: "a_long_interval", type: "interval", values: ["'1 year 2 months'", "'-1 mon'"], truth: micros("a_long_interval") },
  { name: "a_uuid", type: "uuid", values: ["'3f2504e0-4f89-11d3-9a0c-0305e82c3301'"] },
  { name: "a_json", type: "json", values: [`'{"a": 1.10,  "b": [9007199254740993]}'`, "'null'"] },
  { name: "a_jsonb", type: "jsonb", values: [`'{"a": {"b": null}, "c": 1.10}'`, "'1'"] },
  { name: "an_xml", type: "xml", values: ["'<a>x</a>'"] },
  {
    name: "an_inet",
    type: "inet",
    values: ["'192.168.1.5'", "'::1'", "'10.1.2.3/8'"],
    truth: "case when an_inet is not null then format('%s', an_inet) end",
  },
  { name: "a_cidr", type: "cidr", values: ["'10.0.0.0/8'", "'2001:db8::/32'"] },
  { name: "a_macaddr", type: "macaddr", values: ["'08:00:2b:01:02:03'"] },
  { name: "a_macaddr8", type: "macaddr8", values: ["'08:00:2b:01:02:03:04:05'"] },
  { name: "a_bit", type: "bit(1)", values: ["B'1'", "B'0'"], truth: "(a_bit::int = 1)::text" },
  { name: "bits_10", type: "bit(10)", values: ["B'1010101011'", "B'0000000001'"] },
  { name: "bits_64", type: "bit(64)", values: ["B'1000000000000000000000000000000000000000000000000000000000000001'"] },
  {
    name: "up_to_16_bits",
    type: "bit varying(16)",
    values: ["B'101'", "B''", "B'1111111111111111'"],
    truth: "lpad(up_to_16_bits::text, 16, '0')",
  },
  { name: "a_mood", type: "matrix.mood", values: ["'happy'", "'so, so'"] },
  { name: "a_domain", type: "matrix.percentage", values: ["12.50", "100"], expected: asDecimal },
  {
    name: "a_point",
    type: "point",
    values: ["'(1.5,-2.25)'", "'(1e10,1e-10)'"],
    truth: "case when a_point is not null then format('%s %s', a_point[0], a_point[1]) end",
    show: showPoint,
  },
  {
    name: "an_hstore",
    type: "hstore",
    values: [`'a=>1, "b c"=>NULL'`, "''"],
    truth: "hstore_to_json(an_hstore)::text",
    expected: compact,
    show: (value) => (value === null ? null : compact(String(value))),
  },
  { name: "a_citext", type: "citext", values: ["'CaseLess'"] },
  { name: "an_ltree", type: "ltree", values: ["'Top.Science'", "''"] },
  { name: "an_int4range", type: "int4range", values: ["'[1,10)'", "'empty'", "'(,5)'"] },
  { name: "an_int8range", type: "int8range", values: ["'[1,9223372036854775807)'"] },
  { name: "a_numrange", type: "numrange", values: ["'[1.5,2.50]'"] },
  { name: "a_tsrange", type: "tsrange", values: ["'[2024-01-01,2024-02-01)'"] },
  { name: "a_tstzrange", type: "tstzrange", values: ["'[2024-01-01,infinity)'"] },
  { name: "a_daterange", type: "daterange", values: ["'[2024-01-01,2024-02-01)'"] },
  { name: "a_tsvector", type: "tsvector", values: ["'a:1 cat:2'::tsvector", "to_tsvector('simple', 'the fat cat')"] },
  { name: "a_lseg", type: "lseg", values: ["'[(0.5,0.25),(1.5,-1.5)]'"], show: asUnknown },
  { name: "a_box", type: "box", values: ["'(1.5,1.5),(0.5,0.5)'"], show: asUnknown },
  { name: "a_path", type: "path", values: ["'[(0.5,0.25),(1.5,-1.5)]'"], show: asUnknown },
  { name: "a_polygon", type: "polygon", values: ["'((0.5,0.5),(1.5,0.5),(1.5,1.5))'"], show: asUnknown },
  { name: "a_circle", type: "circle", values: ["'<(1.5,2.5),3.5>'"], show: asUnknown },
  { name: "a_line", type: "line", values: ["'{1.5,2.5,3.5}'"], show: asUnknown },
  { name: "an_lsn", type: "pg_lsn", values: ["'16/B374D848'"], show: asUnknown },
  { name: "a_tsquery", type: "tsquery", values: ["'fat & rat'"], show: asUnknown },
  { name: "a_multirange", type: "int4multirange", values: ["'{[1,3),[5,7)}'"], show: asUnknown },
  { name: "a_composite", type: "matrix.pair", values: ["'(1,a)'"], show: asUnknown },
  { name: "some_booleans", type: "boolean[]", values: ["'{t,f,NULL}'", "'{}'"], truth: json("some_booleans") },
  { name: "some_smallints", type: "smallint[]", values: ["'{1,-2}'"], truth: json("some_smallints") },
  { name: "some_integers", type: "integer[]", values: ["'{1,2,-3}'", "'{}'", "'{NULL}'"], truth: json("some_integers") },
  {
    name: "some_bigints",
    type: "bigint[]",
    values: ["'{9007199254740993,-1}'"],
    truth: "to_json(some_bigints::text[])::text",
    show: showTexts,
  },
  { name: "some_reals", type: "real[]", values: ["'{0.5,-1}'"], truth: json("some_reals") },
  { name: "some_doubles", type: "double precision[]", values: ["'{0.1,-1e300}'"], truth: json("some_doubles"), expected: compact },
  {
    name: "some_numerics",
    type: "numeric(10,2)[]",
    values: ["'{1.50,-2}'"],
    truth: "to_json(some_numerics::text[])::text",
    expected: decimals,
    show: showTexts,
  },
  { name: "some_texts", type: "text[]", values: [`'{a,"b c","",NULL}'`, "'{}'"], truth: json("some_texts") },
  { name: "some_varchars", type: "varchar(9)[]", values: ["'{ä}'"], truth: json("some_varchars") },
  { name: "some_uuids", type: "uuid[]", values: ["'{3f2504e0-4f89-11d3-9a0c-0305e82c3301}'"], truth: json("some_uuids") },
  { name: "some_dates", type: "date[]", values: ["'{2024-02-29,1969-12-31}'"], truth: json("some_dates") },
  {
    name: "some_timestamps",
    type: "timestamp[]",
    values: ["'{2024-02-29 12:34:56.789012}'"],
    truth: json("some_timestamps"),
    expected: asClock,
  },
  {
    name: "some_timestamptzs",
    type: "timestamptz[]",
    values: ["'{2024-02-29 12:34:56.789+00}'"],
    truth: json("some_timestamptzs"),
    expected: (text) => text.replace(".789+00:00", ".789000Z"),
  },
  {
    name: "some_times",
    type: "time[]",
    values: ["'{12:34:56.789012}'"],
    truth: json("some_times"),
    // Debezium has milliseconds in lists, whatever the mode.
    expected: (text) => text.replace("012", ""),
  },
  { name: "some_inets", type: "inet[]", values: ["'{10.0.0.1}'"], truth: json("some_inets") },
  { name: "some_jsons", type: "json[]", values: [`array['{"a": 1}']::json[]`], truth: "to_json(some_jsons::text[])::text" },
  { name: "some_jsonbs", type: "jsonb[]", values: [`array['{"a": 1}']::jsonb[]`], truth: "to_json(some_jsonbs::text[])::text" },
  {
    name: "some_byteas",
    type: "bytea[]",
    values: ["array['\\x00ff']::bytea[]"],
    truth: "case when some_byteas is not null then to_json(array(select encode(b, 'hex') from unnest(some_byteas) b))::text end",
  },
  { name: "some_moods", type: "matrix.mood[]", values: ["'{sad,happy}'"], truth: json("some_moods") },
  { name: "some_citexts", type: "citext[]", values: ["'{A,b}'"], truth: json("some_citexts") },
  { name: "some_ranges", type: "int4range[]", values: [`'{"[1,3)"}'`], truth: json("some_ranges") },
];

function showPoint(value: unknown): string | null {
  if (value === null) return null;
  const { x, y } = value as { x: number; y: number };
  return `${x} ${y}`;
}
function compact(text: string): string {
  return JSON.stringify(JSON.parse(text));
}
function showTexts(value: unknown): string | null {
  return value === null ? null : JSON.stringify((value as unknown[]).map((item) => (item === null ? null : shown(item))));
}
function decimals(text: string, mode: Mode): string {
  return JSON.stringify((JSON.parse(text) as string[]).map((item) => asDecimal(item, mode)));
}
