import { asClock, asDecimal, asDouble, asFloat, type MatrixColumn, type Mode, type Phase, withoutZeros } from "./matrix-column.ts";

const wkb = (name: string): string => `concat(lower(hex(st_aswkb(${name}))), ' ', st_srid(${name}))`;
const wkbOf = (value: unknown): string | null => {
  if (value === null) return null;
  const { wkb: bytes, srid } = value as { wkb: Uint8Array; srid: number | null };
  return `${Buffer.from(bytes).toString("hex")} ${srid ?? 0}`;
};
const hex = (name: string): string => `lower(hex(${name}))`;

/** TIME reaches from -838 to 838 hours; only the adaptive modes have room for what is not a time of day. */
function asTime(text: string, mode: Mode): string | null {
  const isOfDay = !text.startsWith("-") && Number(text.slice(0, text.indexOf(":"))) < 24;
  return isOfDay || isRoomy(mode) ? asClock(text, mode) : null;
}

const isRoomy = ({ time }: Mode): boolean => time !== "connect" && time !== "isostring";

const zeroDate = "0000-00-00";

/** Dates of zeros are null, as no calendar has them. */
const asDate = (text: string): string | null => (text === zeroDate ? null : text);
const asDateTime = (text: string, mode: Mode): string | null => (text.startsWith(zeroDate) ? null : asClock(text, mode));

/** A string with an offset in every mode; the log has the zero one as 0 seconds after the epoch. */
function asInstant(text: string, _: Mode, phase: Phase): string | null {
  if (text.startsWith(zeroDate)) return phase === "snapshot" ? null : "1970-01-01T00:00:00Z";
  return `${withoutZeros(text).replace(" ", "T")}Z`;
}
const showInstant = (value: unknown): string | null => (value === null ? null : withoutZeros(String(value)));

const showSet = (value: unknown): string | null => (value === null ? null : (value as string[]).join(","));

export const mariadbColumns: readonly MatrixColumn[] = [
  { name: "a_tinyint", type: "tinyint", values: ["-128", "127", "0"] },
  { name: "a_utinyint", type: "tinyint unsigned", values: ["255", "0"] },
  { name: "a_tinyint1", type: "tinyint(1)", values: ["1", "0", "-7"] },
  { name: "a_boolean", type: "boolean", values: ["true", "false"] },
  { name: "a_smallint", type: "smallint", values: ["-32768", "32767"] },
  { name: "a_usmallint", type: "smallint unsigned", values: ["65535", "0"] },
  { name: "a_mediumint", type: "mediumint", values: ["-8388608", "8388607"] },
  { name: "a_umediumint", type: "mediumint unsigned", values: ["16777215", "0"] },
  { name: "an_int", type: "int", values: ["-2147483648", "2147483647"] },
  { name: "a_uint", type: "int unsigned", values: ["4294967295", "0", "2147483648"] },
  { name: "a_zerofill", type: "int(8) unsigned zerofill", values: ["42"], truth: "a_zerofill + 0" },
  { name: "a_bigint", type: "bigint", values: ["-9223372036854775808", "9223372036854775807", "9007199254740993"] },
  { name: "a_ubigint", type: "bigint unsigned", values: ["18446744073709551615", "9223372036854775808", "0", "9007199254740993"] },
  { name: "a_float", type: "float", values: ["0.1", "-3.40282e38", "1e-38", "0"], truth: "cast(a_float as double)", expected: asFloat },
  { name: "a_double", type: "double", values: ["0.1", "-1.7976931348623157e308", "5e-324", "0"], expected: asDouble },
  { name: "a_decimal", type: "decimal(10,2)", values: ["1.50", "-99999999.99", "0"], expected: asDecimal },
  {
    name: "a_wide_decimal",
    type: "decimal(65,30)",
    values: ["12345678901234567890123456789012345.000000000000000000000000000001", "-0.000000000000000000000000000001", "0"],
    expected: asDecimal,
  },
  { name: "a_whole_decimal", type: "decimal(38,0)", values: ["99999999999999999999999999999999999999", "-1"], expected: asDecimal },
  { name: "an_unsigned_decimal", type: "decimal(5,1) unsigned", values: ["9999.9", "0.1"], expected: asDecimal },
  { name: "a_bit1", type: "bit(1)", values: ["b'1'", "b'0'"], truth: "if(a_bit1 is null, null, if(a_bit1, 'true', 'false'))" },
  { name: "bits_8", type: "bit(8)", values: ["b'10000001'", "b'0'"], truth: "lpad(bin(bits_8), 8, '0')" },
  { name: "bits_13", type: "bit(13)", values: ["b'1000000000001'", "b'11'"], truth: "lpad(bin(bits_13), 13, '0')" },
  {
    name: "bits_64",
    type: "bit(64)",
    values: ["b'1000000000000000000000000000000000000000000000000000000000000001'", "b'10'"],
    truth: "lpad(bin(bits_64), 64, '0')",
  },
  { name: "a_char", type: "char(5)", values: ["'ab'", "''", "'Grüße'"] },
  { name: "a_varchar", type: "varchar(40)", values: ["'Grüße'", "''", "'a \"quoted\" \\\\ and 😀'"] },
  { name: "an_nvarchar", type: "nvarchar(40)", values: ["'Ω'"] },
  { name: "a_latin1", type: "varchar(40) character set latin1", values: ["'Grüße'"], truth: "convert(a_latin1 using utf8mb4)" },
  { name: "a_utf16", type: "varchar(40) character set utf16", values: ["'😀Ω'"], truth: "convert(a_utf16 using utf8mb4)" },
  { name: "a_tinytext", type: "tinytext", values: ["'t'"] },
  { name: "a_text", type: "text", values: ["'line\\nand tab\\t'", "repeat('x', 5000)"] },
  { name: "a_mediumtext", type: "mediumtext", values: ["'m'"] },
  { name: "a_longtext", type: "longtext", values: ["'l'"] },
  { name: "a_binary", type: "binary(5)", values: ["x'00ff'", "x'0102030405'"], truth: hex("a_binary") },
  { name: "a_varbinary", type: "varbinary(20)", values: ["x'00ff10'", "''"], truth: hex("a_varbinary") },
  { name: "a_tinyblob", type: "tinyblob", values: ["x'80'"], truth: hex("a_tinyblob") },
  { name: "a_blob", type: "blob", values: ["x'00ff10'", "''"], truth: hex("a_blob") },
  { name: "a_mediumblob", type: "mediumblob", values: ["x'ff'"], truth: hex("a_mediumblob") },
  { name: "a_longblob", type: "longblob", values: ["x'fe'"], truth: hex("a_longblob") },
  { name: "an_enum", type: "enum('sad','ok','happy, very')", values: ["'ok'", "'happy, very'"] },
  { name: "a_set", type: "set('a','b','c d')", values: ["'a,c d'", "''", "'b'"], show: showSet },
  { name: "a_date", type: "date", values: ["'2024-02-29'", "'0000-00-00'", "'1000-01-01'", "'9999-12-31'"], expected: asDate },
  {
    name: "a_required_date",
    type: "date not null default '2000-01-01'",
    values: ["'0000-00-00'", "'1969-12-31'"],
    // The column's default stands in where null may not.
    expected: (text) => asDate(text) ?? "2000-01-01",
  },
  { name: "a_time", type: "time", values: ["'12:34:56'", "'-01:02:03'", "'838:59:59'", "'-838:59:59'", "'00:00:00'"], expected: asTime },
  { name: "a_time3", type: "time(3)", values: ["'12:34:56.789'", "'-00:00:00.001'", "'25:00:00.5'"], expected: asTime },
  {
    name: "a_time6",
    type: "time(6)",
    values: ["'12:34:56.789012'", "'-838:59:58.999999'", "'100:00:00.000001'", "'-00:00:00.000001'"],
    expected: asTime,
  },
  {
    name: "a_datetime",
    type: "datetime",
    values: ["'2024-02-29 12:34:56'", "'0000-00-00 00:00:00'", "'1000-01-01 00:00:00'", "'9999-12-31 23:59:59'"],
    expected: asDateTime,
  },
  { name: "a_datetime3", type: "datetime(3)", values: ["'2024-02-29 12:34:56.789'", "'1969-12-31 23:59:59.999'"], expected: asDateTime },
  {
    name: "a_datetime6",
    type: "datetime(6)",
    values: ["'2024-02-29 12:34:56.789012'", "'9999-12-31 23:59:59.999999'", "'1969-12-31 23:59:59.999999'"],
    expected: asDateTime,
  },
  {
    name: "a_timestamp",
    type: "timestamp null",
    values: ["'2038-01-19 03:14:07'", "'1970-01-01 00:00:01'", "'0000-00-00 00:00:00'"],
    expected: asInstant,
    show: showInstant,
  },
  { name: "a_timestamp3", type: "timestamp(3) null", values: ["'2024-02-29 12:34:56.789'"], expected: asInstant, show: showInstant },
  {
    name: "a_timestamp6",
    type: "timestamp(6) null",
    values: ["'2024-02-29 12:34:56.789012'", "'2024-02-29 12:34:56.100000'"],
    expected: asInstant,
    show: showInstant,
  },
  { name: "a_year", type: "year", values: ["1901", "2155"] },
  { name: "a_json", type: "json", values: ['\'{"a": 1.10, "b": [9007199254740993]}\'', "'null'"] },
  { name: "a_uuid", type: "uuid", values: ["'3f2504e0-4f89-11d3-9a0c-0305e82c3301'"] },
  {
    name: "a_geometry",
    type: "geometry",
    values: ["st_geomfromtext('POINT(1 2)')", "st_geomfromtext('LINESTRING(0 0,1 1)', 4326)"],
    truth: wkb("a_geometry"),
    show: wkbOf,
  },
  {
    name: "a_point",
    type: "point",
    values: ["point(1.5, -2.25)", "st_geomfromtext('POINT(1e10 1e-10)')"],
    truth: wkb("a_point"),
    show: wkbOf,
  },
  { name: "a_linestring", type: "linestring", values: ["st_geomfromtext('LINESTRING(0 0,1 1)')"], truth: wkb("a_linestring"), show: wkbOf },
  { name: "a_polygon", type: "polygon", values: ["st_geomfromtext('POLYGON((0 0,1 0,1 1,0 0))')"], truth: wkb("a_polygon"), show: wkbOf },
  { name: "a_multipoint", type: "multipoint", values: ["st_geomfromtext('MULTIPOINT(0 0,1 1)')"], truth: wkb("a_multipoint"), show: wkbOf },
  {
    name: "a_multilinestring",
    type: "multilinestring",
    values: ["st_geomfromtext('MULTILINESTRING((0 0,1 1))')"],
    truth: wkb("a_multilinestring"),
    show: wkbOf,
  },
  {
    name: "a_multipolygon",
    type: "multipolygon",
    values: ["st_geomfromtext('MULTIPOLYGON(((0 0,1 0,1 1,0 0)))')"],
    truth: wkb("a_multipolygon"),
    show: wkbOf,
  },
  {
    name: "a_collection",
    type: "geometrycollection",
    values: ["st_geomfromtext('GEOMETRYCOLLECTION(POINT(1 2))')"],
    truth: wkb("a_collection"),
    show: wkbOf,
  },
];
