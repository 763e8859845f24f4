/**
 * What each meaning gives, in Debezium's and Connect's names, whatever carried it. Raw values and their readings are those of Debezium's
 * documentation and sources, of Connect's, or of SQL.
 */
import type { TemporalLike, ValueOptions } from "@cdckit/decode";
import type { ConnectType, Raw } from "./value-writers.ts";

export interface ValueCase {
  readonly type: ConnectType;
  readonly raw: Raw;
  /** Without options; in other modes too where `modes` does not say otherwise. */
  readonly value: unknown;
  readonly modes?: readonly (readonly [ValueOptions, unknown])[];
  /** Encodings that cannot carry the value, and why. */
  readonly except?: Readonly<Partial<Record<"connect-json" | "avro" | "json-schema" | "json" | "protobuf", string>>>;
}

/** Says what was asked of it: runtimes without Temporal have none to compare with. */
const temporal: TemporalLike = {
  PlainDate: { from: (text) => `PlainDate ${text}` },
  PlainTime: { from: (text) => `PlainTime ${text}` },
  PlainDateTime: { from: (text) => `PlainDateTime ${text}` },
  Instant: { from: (text) => `Instant ${text}` },
  Duration: { from: (text) => `Duration ${text}` },
};
const asTemporal: ValueOptions = { time: "temporal", temporal };
const asDate: ValueOptions = { time: "date" };
const asRaw: ValueOptions = { time: "raw" };

const time = (name: string): string => `io.debezium.time.${name}`;
const data = (name: string): string => `io.debezium.data.${name}`;
const connect = (name: string): string => `org.apache.kafka.connect.data.${name}`;

/** A time of which every mode but `raw` makes text. */
function textual(type: ConnectType, raw: Raw, value: string): ValueCase {
  return {
    type,
    raw,
    value,
    modes: [
      [asTemporal, value],
      [asDate, value],
    ],
  }; // prettier
}

function number(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

function dates(name: string): ValueCase[] {
  const type: ConnectType = { type: "int32", name };
  return [
    {
      type,
      raw: 19_782n,
      value: "2024-02-29",
      modes: [
        [asTemporal, "PlainDate 2024-02-29"],
        [asDate, new Date("2024-02-29T00:00:00Z")],
        [asRaw, 19_782],
      ],
    },
    { type, raw: -735_160n, value: "-0043-03-15", modes: [[asTemporal, "PlainDate -000043-03-15"]] },
    { type, raw: 3_672_148n, value: "+12024-01-01", modes: [[asTemporal, "PlainDate +012024-01-01"]] },
    { ...textual(type, -2_147_472_692n, "infinity") },
    { ...textual(type, -2_147_472_691n, "-infinity") },
  ];
}

function clocks(name: string, kind: "int32" | "int64", perSecond: bigint): ValueCase[] {
  const type: ConnectType = { type: kind, name };
  const last = 86_400n * perSecond;
  return [
    {
      type,
      raw: 45_296n * perSecond + perSecond / 2n,
      value: "12:34:56.5",
      modes: [
        [asTemporal, "PlainTime 12:34:56.5"],
        [asDate, "12:34:56.5"], // a Date cannot be a time of day
        [asRaw, number(45_296n * perSecond + perSecond / 2n)],
      ],
    },
    { type, raw: 0n, value: "00:00:00", modes: [[asTemporal, "PlainTime 00:00:00"]] },
    {
      type,
      raw: last,
      value: "24:00:00",
      modes: [
        [asTemporal, "Duration PT24H00M00S"],
        [asDate, "24:00:00"],
      ],
    },
    { type, raw: -last / 2n, value: "-12:00:00", modes: [[asTemporal, "Duration -PT12H00M00S"]] },
    ...(kind === "int32"
      ? []
      : [{ type, raw: -3_020_399n * perSecond, value: "-838:59:59", modes: [[asTemporal, "Duration -PT838H59M59S"]] as const }]),
  ];
}

function timestamps(name: string, perSecond: bigint): ValueCase[] {
  const type: ConnectType = { type: "int64", name };
  const raw = 1_709_210_096n * perSecond + (789n * perSecond) / 1000n;
  return [
    {
      type,
      raw,
      value: "2024-02-29T12:34:56.789",
      modes: [
        [asTemporal, "PlainDateTime 2024-02-29T12:34:56.789"],
        [asDate, new Date("2024-02-29T12:34:56.789Z")], // asked for by name: the moment at which UTC's clocks show it
        [asRaw, number(raw)],
        [{ ...asRaw, int64: "string" }, String(raw)],
        [{ int64: "bigint" }, "2024-02-29T12:34:56.789"],
      ],
    },
    { type, raw: -perSecond / 2n, value: "1969-12-31T23:59:59.5" },
  ];
}

const dayFields = [
  { type: "int32", field: "year" },
  { type: "int8", field: "month" },
  { type: "int8", field: "day" },
] as const;
const clockFields = [
  { type: "int8", field: "hour" },
  { type: "int8", field: "minute" },
  { type: "int8", field: "second" },
  { type: "int32", field: "nanos" },
] as const;
const specialField = { type: "string", field: "specialValue" } as const;
const precisionField = { type: "int32", field: "precision" } as const;
const offsetFields = [
  { type: "int32", field: "offsetSeconds" },
  { type: "string", field: "zoneId" },
] as const;
const day = { year: 2024n, month: 2n, day: 29n };
const noon = { hour: 12n, minute: 34n, second: 56n, nanos: 789_000_000n };

const structuredDate: ConnectType = { type: "struct", name: time("StructuredDate"), fields: [...dayFields, specialField] };
const structuredTime: ConnectType = { type: "struct", name: time("StructuredTime"), fields: [...clockFields, precisionField] };
const structuredTimestamp: ConnectType = {
  type: "struct",
  name: time("StructuredTimestamp"),
  fields: [...dayFields, ...clockFields, specialField, precisionField],
};
const structuredZonedTime: ConnectType = {
  type: "struct",
  name: time("StructuredZonedTime"),
  fields: [...clockFields, offsetFields[0], precisionField],
};
const structuredZonedTimestamp: ConnectType = {
  type: "struct",
  name: time("StructuredZonedTimestamp"),
  fields: [...dayFields, ...clockFields, ...offsetFields, specialField, precisionField],
};
const structuredDuration: ConnectType = {
  type: "struct",
  name: time("StructuredDuration"),
  fields: [
    ...(["years", "months", "days", "hours", "minutes"] as const).map((field) => ({ type: "int32", field }) as const),
    { type: "int64", field: "seconds" },
    { type: "int32", field: "nanos" },
    precisionField,
  ],
};

const structured: readonly ValueCase[] = [
  {
    type: structuredDate,
    raw: day,
    value: "2024-02-29",
    modes: [
      [asTemporal, "PlainDate 2024-02-29"],
      [asDate, new Date("2024-02-29T00:00:00Z")],
    ],
  },
  textual(structuredDate, { specialValue: "POSITIVE_INFINITY" }, "infinity"),
  textual(structuredDate, { year: 0n, month: 0n, day: 0n }, "0000-00-00"), // MySQL's zero date is on no calendar
  { type: structuredTime, raw: { ...noon, precision: 3n }, value: "12:34:56.789", modes: [[asTemporal, "PlainTime 12:34:56.789"]] },
  { type: structuredTime, raw: { ...noon, hour: 24n, minute: 0n, second: 0n, nanos: 0n }, value: "24:00:00" },
  {
    type: structuredTimestamp,
    raw: { ...day, ...noon, precision: 6n },
    value: "2024-02-29T12:34:56.789",
    modes: [
      [asTemporal, "PlainDateTime 2024-02-29T12:34:56.789"],
      [asDate, new Date("2024-02-29T12:34:56.789Z")],
    ],
  },
  { type: structuredTimestamp, raw: { ...day, hour: 24n, minute: 0n, second: 0n, nanos: 0n }, value: "2024-03-01T00:00:00" },
  textual(structuredTimestamp, { specialValue: "NEGATIVE_INFINITY", precision: 6n }, "-infinity"),
  textual(structuredZonedTime, { ...noon, offsetSeconds: 3600n }, "12:34:56.789+01:00"),
  textual(structuredZonedTime, { hour: 24n, minute: 0n, second: 0n, nanos: 0n, offsetSeconds: 0n }, "24:00:00Z"),
  {
    type: structuredZonedTimestamp,
    raw: { ...day, ...noon, offsetSeconds: -19_800n, zoneId: "X/Y", precision: 3n },
    value: "2024-02-29T12:34:56.789-05:30",
    modes: [
      [asTemporal, "Instant 2024-02-29T18:04:56.789Z"],
      [asDate, new Date("2024-02-29T18:04:56.789Z")],
    ],
  },
  textual(structuredZonedTimestamp, { specialValue: "POSITIVE_INFINITY" }, "infinity"),
  textual(
    structuredDuration,
    { years: 1n, months: -2n, days: 3n, hours: 4n, minutes: 5n, seconds: 6n, nanos: 780_000_000n },
    "P1Y-2M3DT4H5M6.78S",
  ),
];

function decimal(scale: number, unscaledHex: string, text: string): ValueCase {
  const raw = Buffer.from(unscaledHex, "hex");
  const unscaled = BigInt.asIntN(raw.length * 8, BigInt(`0x${unscaledHex}`));
  return {
    type: { type: "bytes", name: connect("Decimal"), parameters: { scale: String(scale) } },
    raw,
    value: text,
    modes: [
      [{ decimal: "number" }, Number(text)],
      [{ decimal: (value: bigint, places: number) => [value, places] }, [unscaled, scale]],
    ],
  };
}

const variableScale: ConnectType = {
  type: "struct",
  name: data("VariableScaleDecimal"),
  fields: [
    { type: "int32", field: "scale" },
    { type: "bytes", field: "value" },
  ],
};

const wkb = Buffer.from("0101000000000000000000f83f00000000000004c0", "hex");
const shape = (name: string): ConnectType => ({
  type: "struct",
  name: data(`geometry.${name}`),
  fields: [
    { type: "bytes", field: "wkb" },
    { type: "int32", field: "srid" },
    { type: "map", keys: { type: "string" }, values: { type: "string" }, field: "extensions" },
  ],
});
const pointFields = [
  { type: "double", field: "x" },
  { type: "double", field: "y" },
  { type: "bytes", field: "wkb" },
  { type: "int32", field: "srid" },
] as const;
const point: ConnectType = { type: "struct", name: data("geometry.Point"), fields: pointFields };

const numbers: readonly ValueCase[] = [
  decimal(0, "00", "0"),
  decimal(2, "3039", "123.45"),
  decimal(2, "cfc7", "-123.45"),
  decimal(2, "3034", "123.40"),
  decimal(10, "018ee90ff6c373e0ee4e3f0ad2", "12345678901234567890.1234567890"),
  decimal(0, "00ffffffffffffffff", "18446744073709551615"), // MySQL's bigint unsigned, precise
  { ...decimal(-3, "05", "5000") },
  {
    type: variableScale,
    raw: { scale: 2n, value: Buffer.from("fb", "hex") },
    value: "-0.05",
    modes: [
      [{ decimal: "number" }, -0.05],
      [{ decimal: (value: bigint, places: number) => [value, places] }, [-5n, 2]],
    ],
  },
  {
    type: { type: "int64" },
    raw: 9_007_199_254_740_993n,
    value: 9_007_199_254_740_993n,
    modes: [
      [{ int64: "bigint" }, 9_007_199_254_740_993n],
      [{ int64: "string" }, "9007199254740993"],
    ],
  },
  {
    type: { type: "int64" },
    raw: -7n,
    value: -7,
    modes: [
      [{ int64: "bigint" }, -7n],
      [{ int64: "string" }, "-7"],
    ],
  },
  { type: { type: "int16" }, raw: -32_768n, value: -32_768 },
  { type: { type: "float" }, raw: Math.fround(0.1), value: Math.fround(0.1), except: { json: "nothing says that it is a float32" } },
  { type: { type: "double" }, raw: 0.1, value: 0.1 },
  { type: { type: "double" }, raw: Number.NaN, value: Number.NaN, except: { json: "nothing says that the text is a double" } },
  {
    type: { type: "double" },
    raw: Number.NEGATIVE_INFINITY,
    value: Number.NEGATIVE_INFINITY,
    except: { json: "nothing says that the text is a double" },
  },
  {
    type: { type: "bytes" },
    raw: Buffer.from([0, 255]),
    value: Buffer.from([0, 255]),
    except: { json: "nothing says that the text is base64" },
  },
  {
    type: { type: "bytes", name: data("Bits"), parameters: { length: "12" } },
    raw: Buffer.from([0x01, 0x08]),
    value: "100000000001",
    modes: [
      [{ bits: "bytes" }, Buffer.from([0x01, 0x08])],
      [{ bits: "bigint" }, 0x801n],
    ],
  },
];

const texts: readonly ValueCase[] = [
  {
    type: { type: "string", name: data("Json") },
    raw: `{"a": 12345678901234567890, "b": [1.50]}`,
    value: `{"a": 12345678901234567890, "b": [1.50]}`,
    modes: [[{ json: "parse" }, { a: 12_345_678_901_234_567_890n, b: [1.5] }]],
  },
  { type: { type: "string", name: data("EnumSet"), parameters: { allowed: "a,b,c" } }, raw: "a,c", value: ["a", "c"] },
  { type: { type: "string", name: data("EnumSet"), parameters: { allowed: "a,b,c" } }, raw: "", value: [] },
  ...[
    ["Uuid", "a0eebc99-9c0b-4ef8-bb6d-6bb9bd380a11"],
    ["Xml", "<a>1</a>"],
    ["Ltree", "Top.Science"],
    ["Tsvector", "'a':1 'cat':3"],
    ["Enum", "ok"],
    ["TiDBVectorFloat32", "[1.5,-2]"],
  ].map(([name, text]): ValueCase => ({ type: { type: "string", name: data(name ?? "") }, raw: text ?? "", value: text })),
  // What the large-value processor leaves behind is a reference, and stays the text that it is.
  { type: { type: "string" }, raw: "__debezium:s3:ref:v1:bucket|key", value: "__debezium:s3:ref:v1:bucket|key" },
];

const shapes: readonly ValueCase[] = [
  { type: point, raw: { x: 1.5, y: -2.5, wkb, srid: null }, value: { x: 1.5, y: -2.5, srid: null, wkb } },
  {
    type: shape("Geometry"),
    raw: { wkb, srid: 4326n, extensions: null },
    value: { wkb, srid: 4326 },
    except: { protobuf: "an empty map is one that was not sent" },
  },
  {
    type: shape("Geography"),
    raw: {
      wkb,
      srid: 4326n,
      extensions: new Map([
        ["type", "path"],
        ["closed", "true"],
      ]),
    }, // version 2
    value: { wkb, srid: 4326, extensions: { type: "path", closed: "true" } },
  },
  {
    type: {
      type: "struct",
      name: data("geometry.Circle"),
      fields: [
        { ...point, field: "center" },
        { type: "double", field: "radius" },
      ],
    },
    raw: { center: { x: 1, y: 2, wkb, srid: null }, radius: 3.5 },
    value: { center: { x: 1, y: 2, srid: null, wkb }, radius: 3.5 },
  },
  {
    type: { type: "struct", name: data("geometry.Line"), fields: (["a", "b", "c"] as const).map((field) => ({ type: "double", field })) },
    raw: { a: 1, b: -0.5, c: 2.25 },
    value: { a: 1, b: -0.5, c: 2.25 },
  },
  { type: { type: "array", items: { type: "double" }, name: data("DoubleVector") }, raw: [0.1, -3.5, 2], value: [0.1, -3.5, 2] },
  {
    type: { type: "array", items: { type: "float" }, name: data("FloatVector") },
    raw: [Math.fround(0.1), 2],
    value: [Math.fround(0.1), 2],
    modes: [[{ int64: "bigint" }, [Math.fround(0.1), 2]]],
  },
  {
    type: {
      type: "struct",
      name: data("SparseDoubleVector"),
      fields: [
        { type: "int16", field: "dimensions" },
        { type: "map", keys: { type: "int16" }, values: { type: "double" }, field: "vector" },
      ],
    },
    raw: {
      dimensions: 25n,
      vector: new Map([
        [1n, 0.5],
        [24n, -2],
      ]),
    },
    value: {
      dimensions: 25,
      vector: new Map([
        [1, 0.5],
        [24, -2],
      ]),
    },
  },
  {
    type: { type: "map", keys: { type: "string" }, values: { type: "string" } },
    raw: new Map([
      ["a", "1"],
      ["__proto__", "2"],
    ]),
    value: Object.assign(Object.create(null) as object, { a: "1", ["__proto__"]: "2" }),
  },
  {
    type: { type: "array", items: { type: "int32", name: time("Date") } },
    raw: [0n, 19_782n],
    value: ["1970-01-01", "2024-02-29"],
    except: { json: "a hint speaks of a column, not of its items", protobuf: "a hint speaks of a column, not of its items" },
  },
];

export const valueCases: readonly ValueCase[] = [
  ...dates(time("Date")),
  ...dates(connect("Date")),
  ...clocks(time("Time"), "int32", 1_000n),
  ...clocks(connect("Time"), "int32", 1_000n),
  ...clocks(connect("Time"), "int64", 1_000n), // as PostgreSQL's documentation has it
  ...clocks(time("MicroTime"), "int64", 1_000_000n),
  ...clocks(time("NanoTime"), "int64", 1_000_000_000n),
  ...timestamps(time("Timestamp"), 1_000n),
  ...timestamps(connect("Timestamp"), 1_000n),
  ...timestamps(time("MicroTimestamp"), 1_000_000n),
  ...timestamps(time("NanoTimestamp"), 1_000_000_000n),
  { type: { type: "int64", name: time("MicroTimestamp") }, raw: 1_529_507_596_945_104n, value: "2018-06-20T15:13:16.945104" },
  { type: { type: "int64", name: time("NanoTimestamp") }, raw: 1_723_115_239_782_690_123n, value: "2024-08-08T11:07:19.782690123" },
  ...(["Timestamp", "MicroTimestamp"] as const).flatMap((name) => [
    textual({ type: "int64", name: time(name) }, 9_223_372_036_825_200_000n, "infinity"),
    textual({ type: "int64", name: time(name) }, -9_223_372_036_832_400_000n, "-infinity"),
  ]),
  textual({ type: "int64", name: connect("Timestamp") }, 9_223_372_036_825_200n, "infinity"),
  textual({ type: "int64", name: time("NanoTimestamp") }, 9_223_372_036_854_775_807n, "infinity"),
  textual({ type: "int64", name: time("NanoTimestamp") }, -9_223_372_036_854_775_808n, "-infinity"),
  {
    type: { type: "string", name: time("ZonedTimestamp") },
    raw: "2024-02-29T12:34:56.123456789+01:00",
    value: "2024-02-29T12:34:56.123456789+01:00",
    modes: [
      [asTemporal, "Instant 2024-02-29T11:34:56.123456789Z"],
      [asDate, new Date("2024-02-29T11:34:56.123Z")],
      [asRaw, "2024-02-29T12:34:56.123456789+01:00"],
    ],
  },
  textual({ type: "string", name: time("ZonedTimestamp") }, "infinity", "infinity"),
  textual({ type: "string", name: time("ZonedTimestamp") }, "-infinity", "-infinity"),
  textual({ type: "string", name: time("ZonedTime") }, "10:15:30+01:00", "10:15:30+01:00"),
  {
    type: { type: "string", name: time("IsoDate") },
    raw: "2017-09-15Z",
    value: "2017-09-15",
    modes: [
      [asTemporal, "PlainDate 2017-09-15"],
      [asDate, new Date("2017-09-15T00:00:00Z")],
      [asRaw, "2017-09-15Z"],
    ],
  },
  {
    type: { type: "string", name: time("IsoTime") },
    raw: "04:05:11.789Z",
    value: "04:05:11.789",
    modes: [
      [asTemporal, "PlainTime 04:05:11.789"],
      [asDate, "04:05:11.789"],
    ],
  },
  {
    type: { type: "string", name: time("IsoTimestamp") },
    raw: "2011-12-03T10:15:30Z",
    value: "2011-12-03T10:15:30",
    modes: [
      [asTemporal, "PlainDateTime 2011-12-03T10:15:30"],
      [asDate, new Date("2011-12-03T10:15:30Z")],
    ],
  },
  textual({ type: "string", name: time("IsoTimestamp") }, "+294247-01-10T04:00:25.2Z", "infinity"),
  textual({ type: "string", name: time("IsoDate") }, "-5877611-06-22Z", "-infinity"),
  {
    type: { type: "int32", name: time("Year") },
    raw: 2024n,
    value: 2024,
    modes: [
      [asTemporal, 2024],
      [asDate, 2024],
    ],
  },
  textual({ type: "string", name: time("Interval") }, "P1Y2M3DT4H5M6.78S", "P1Y2M3DT4H5M6.78S"),
  {
    type: { type: "int64", name: time("MicroDuration") },
    raw: 37_091_106_000_000n,
    value: 37_091_106_000_000,
    modes: [
      [{ int64: "bigint" }, 37_091_106_000_000n],
      [asTemporal, 37_091_106_000_000],
    ],
  },
  { type: { type: "int64", name: time("NanoDuration") }, raw: 37_091_106_000_000_001n, value: 37_091_106_000_000_001n },
  ...structured,
  ...numbers,
  ...texts,
  ...shapes,
];
