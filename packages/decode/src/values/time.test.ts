import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { resolveValueOptions, type TemporalLike, type ValueOptions } from "../options.ts";
import type { Conversion } from "./conversion.ts";
import { conversionFor } from "./conversion-for.ts";

/** A Temporal that returns the ISO text that it was given. */
const temporal: TemporalLike = {
  PlainDate: { from: (text) => `PlainDate ${text}` },
  PlainTime: { from: (text) => `PlainTime ${text}` },
  PlainDateTime: { from: (text) => `PlainDateTime ${text}` },
  Instant: { from: (text) => `Instant ${text}` },
  Duration: { from: (text) => `Duration ${text}` },
};

function find(name: string, options: ValueOptions = {}): Conversion | null {
  const full = name.includes(".") ? name : `io.debezium.time.${name}`;
  return conversionFor({ name: full, parameters: {} }, resolveValueOptions(options), JSON.parse);
}

function of(name: string, value: unknown, options: ValueOptions = {}): unknown {
  const conversion = find(name, options);
  switch (typeof value) {
    case "bigint":
      return conversion?.bigint?.(value);
    case "number":
      return conversion?.int?.(value);
    case "string":
      return conversion?.text === undefined ? value : conversion.text(value);
    default:
      return conversion?.struct?.(value as Record<string, unknown>);
  }
}

/** The form in which encodings pass integers: a number if a double holds it exactly, or a bigint. */
function handed(value: bigint): number | bigint {
  return Number.isSafeInteger(Number(value)) ? Number(value) : value;
}

/** ISO text by `Date`, without its zone and its trailing zeros. */
function oracle(nanos: bigint): string {
  const floored = nanos - (((nanos % 1_000_000_000n) + 1_000_000_000n) % 1_000_000_000n);
  const text = new Date(Number(floored / 1_000_000n)).toISOString().replace(/\.\d+Z$/, "");
  const year = text.replace(/^([+-])0{1,2}(\d{4,})/, "$1$2");
  const fraction = (nanos - floored).toString().padStart(9, "0").replace(/0+$/, "");
  return fraction === "" ? year : `${year}.${fraction}`;
}

const units = [
  ["Timestamp", 1_000_000n],
  ["MicroTimestamp", 1_000n],
  ["NanoTimestamp", 1n],
] as const;

describe("a timestamp without a zone", () => {
  test.each([
    ["MicroTimestamp", 1529507596945104, "2018-06-20T15:13:16.945104"],
    ["MicroTimestamp", 2147483647999999, "2038-01-19T03:14:07.999999"],
    ["MicroTimestamp", -1, "1969-12-31T23:59:59.999999"],
    ["MicroTimestamp", 0, "1970-01-01T00:00:00"],
    ["MicroTimestamp", -0, "1970-01-01T00:00:00"],
    ["MicroTimestamp", 100000, "1970-01-01T00:00:00.1"],
    ["MicroTimestamp", 8796093022208000001n, "280707-02-04T04:50:08.000001"],
    ["Timestamp", 1709210096789, "2024-02-29T12:34:56.789"],
    ["Timestamp", -1, "1969-12-31T23:59:59.999"],
    ["NanoTimestamp", 1723115239782690123n, "2024-08-08T11:07:19.782690123"],
    ["NanoTimestamp", -1, "1969-12-31T23:59:59.999999999"],
    ["org.apache.kafka.connect.data.Timestamp", 1709210096000, "2024-02-29T12:34:56"],
    ["avro.local-timestamp-millis", 1, "1970-01-01T00:00:00.001"],
    ["avro.local-timestamp-micros", 10, "1970-01-01T00:00:00.00001"],
    ["avro.local-timestamp-nanos", 1, "1970-01-01T00:00:00.000000001"],
  ])("%s %s reads %s", (name, value, text) => {
    expect(of(name, value)).toBe(text.replace(/^(\d{5,})/, "+$1"));
  });

  test.each(units)("%s agrees with Date for all times that Date supports", (name, nanosPerUnit) => {
    const far = 8_640_000_000_000_000n * 1_000_000n;
    const max = nanosPerUnit === 1n ? 2n ** 63n - 2n : far / nanosPerUnit - 1n;
    fc.assert(
      fc.property(
        fc.oneof(fc.bigInt({ min: -max, max: max }), fc.bigInt({ min: 0n, max: 4_000_000_000_000_000_000n / nanosPerUnit })),
        (value) => {
          const bounded = value > max ? max : value;
          expect(of(name, handed(bounded))).toBe(oracle(bounded * nanosPerUnit));
          expect(of(name, bounded)).toBe(oracle(bounded * nanosPerUnit));
        },
      ),
      { numRuns: 3000 },
    );
  });

  test("agrees with Date around every second, day and year that may round", () => {
    const edges = [
      0n,
      1n,
      59n,
      86_400n,
      68_169_600n,
      -62_167_219_200n,
      -62_162_035_200n,
      253_402_300_800n,
      9_007_199_254n,
      -9_007_199_254n,
      9_223_372_036n,
    ];
    for (const second of edges) {
      for (const off of [-1_000_001n, -1_000n, -1n, 0n, 1n, 1_000n, 999_999_999n]) {
        const nanos = second * 1_000_000_000n + off;
        expect(of("MicroTimestamp", handed(nanos / 1000n))).toBe(oracle((nanos / 1000n) * 1000n));
        if (BigInt.asIntN(64, nanos) === nanos) {
          expect(of("NanoTimestamp", nanos)).toBe(oracle(nanos));
        }
      }
    }
  });

  test.each([
    ["MicroTimestamp", 9223372036825200000n, "infinity"],
    ["MicroTimestamp", -9223372036832400000n, "-infinity"],
    ["Timestamp", 9223372036825200000n, "infinity"],
    ["Timestamp", -9223372036832400000n, "-infinity"],
    ["Timestamp", 9223372036825200n, "infinity"],
    ["Timestamp", -9223372036832400n, "-infinity"],
    ["org.apache.kafka.connect.data.Timestamp", 9223372036825200n, "infinity"],
    ["NanoTimestamp", 9223372036854775807n, "infinity"],
    ["NanoTimestamp", -9223372036854775808n, "-infinity"],
    ["Date", -2147472692, "infinity"],
    ["Date", -2147472691, "-infinity"],
    ["Date", -622191234, "infinity"], // these four are from a snapshot, by a Java on UTC and by one east of it
    ["Date", -622191233, "infinity"],
    ["Date", -625821272, "-infinity"],
    ["Date", -625821271, "-infinity"],
    ["org.apache.kafka.connect.data.Date", -622191234, "infinity"],
    ["org.apache.kafka.connect.data.Date", -625821272, "-infinity"],
    ["ZonedTimestamp", "infinity", "infinity"],
    ["ZonedTimestamp", "-infinity", "-infinity"],
    ["IsoDate", "-5877611-06-21Z", "infinity"],
    ["IsoDate", "-5877611-06-22Z", "-infinity"],
    ["IsoDate", "+292278994-08-16Z", "infinity"],
    ["IsoDate", "+292278994-08-17Z", "infinity"],
    ["IsoDate", "+292269055-12-02Z", "-infinity"],
    ["IsoDate", "+292269055-12-03Z", "-infinity"],
    ["IsoTimestamp", "+294247-01-10T04:00:25.2Z", "infinity"],
    ["IsoTimestamp", "-290308-12-21T19:59:27.6Z", "-infinity"],
  ])("%s %s is %s in every mode", (name, value, text) => {
    expect(of(name, value)).toBe(text);
    expect(of(name, value, { time: "temporal", temporal })).toBe(text);
    expect(of(name, value, { time: "date" })).toBe(text);
  });

  test("the infinities of isostring are the texts of those in the other modes", () => {
    expect(of("MicroTimestamp", 9223372036825199999n)).toBe("+294247-01-10T04:00:25.199999");
    expect(of("MicroTimestamp", -9223372036832399999n)).toBe("-290308-12-21T19:59:27.600001");
    expect(of("Date", -2147472693)).toBe("-5877611-06-20");
    expect(of("Date", -2147472690)).toBe("-5877611-06-23");
  });

  test("the far years of an int64 of milliseconds are read as text", () => {
    expect(of("Timestamp", 2n ** 63n - 1n)).toBe("+292278994-08-17T07:12:55.807");
    expect(of("Timestamp", -(2n ** 63n))).toBe("-292275055-05-16T16:47:04.192");
  });
});

describe("a count of time without a schema", () => {
  test.each(["Timestamp", "MicroTimestamp", "NanoTimestamp", "Time", "MicroTime", "NanoTime", "avro.timestamp-nanos", "avro.time-millis"])(
    "%s refuses one that 64 bits do not hold",
    (name) => {
      for (const value of [2n ** 63n, -(2n ** 63n) - 1n, 2n ** 64n, 10n ** 30n, 10n ** 1_000n]) {
        expect(() => of(name, value)).toThrow(/^\[value-invalid\]/);
      }
      expect(
        [of(name, 2n ** 63n - 1n), of(name, -(2n ** 63n))].every((text) => typeof text === "string" && !text.includes("undefined")),
      ).toBe(true);
    },
  );
});

describe("a date", () => {
  test.each([
    [0, "1970-01-01"],
    [19782, "2024-02-29"],
    [-719528, "0000-01-01"],
    [-719529, "-0001-12-31"],
    [-735160, "-0043-03-15"],
    [2932896, "9999-12-31"],
    [2932897, "+10000-01-01"],
    [3672148, "+12024-01-01"],
    [2147483647, "+5881580-07-11"],
    [-2147483648, "-5877641-06-23"],
  ])("%d reads %s", (days, text) => {
    for (const name of ["Date", "org.apache.kafka.connect.data.Date", "avro.date"]) {
      expect(of(name, days)).toBe(text);
    }
  });

  test("agrees with Date on every day of a thousand years, and beyond", () => {
    const read = find("Date")?.int as (days: number) => string;
    let differing = 0;
    for (let days = -1_000; days < 366_000; days++) {
      differing += read(days) === new Date(days * 86_400_000).toISOString().slice(0, 10) ? 0 : 1;
    }
    expect(differing).toBe(0);
    fc.assert(
      fc.property(fc.integer({ min: -99_999_999, max: 99_999_999 }), (days) => {
        expect(of("Date", days)).toBe(oracle(BigInt(days) * 86_400_000_000_000n).slice(0, -9));
      }),
    );
  });

  test("refuses a count that 32 bits do not hold", () => {
    expect(() => of("Date", 2n ** 60n)).toThrow(/^\[value-invalid\]/);
  });
});

describe("a time of day", () => {
  test.each([
    ["Time", 86399999, "23:59:59.999"],
    ["MicroTime", 86399999999, "23:59:59.999999"],
    ["MicroTime", 0, "00:00:00"],
    ["MicroTime", 500000, "00:00:00.5"],
    ["MicroTime", 86400000000, "24:00:00"],
    ["NanoTime", 86399999999999, "23:59:59.999999999"],
    ["NanoTime", 1000, "00:00:00.000001"],
    ["MicroTime", -3020399000000, "-838:59:59"],
    ["MicroTime", 3020399000000, "838:59:59"],
    ["MicroTime", -1, "-00:00:00.000001"],
    ["Time", -43200500, "-12:00:00.5"],
    ["NanoTime", -3020399000000001000n, "-838999:43:20.000001"],
    ["org.apache.kafka.connect.data.Time", 1, "00:00:00.001"],
    ["avro.time-millis", 1, "00:00:00.001"],
    ["avro.time-micros", 1, "00:00:00.000001"],
  ])("%s %s reads %s", (name, value, text) => {
    expect(of(name, value)).toBe(text);
  });

  test("agrees with Date within the day", () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 86_399_999_999 }), (micros) => {
        expect(of("MicroTime", micros)).toBe(oracle(BigInt(micros) * 1000n).slice(11));
      }),
    );
  });
});

describe("Avro's instants", () => {
  test.each([
    ["avro.timestamp-millis", 1709210096789, "2024-02-29T12:34:56.789Z"],
    ["avro.timestamp-micros", 1709210096789001, "2024-02-29T12:34:56.789001Z"],
    ["avro.timestamp-nanos", 1709210096789001002n, "2024-02-29T12:34:56.789001002Z"],
    ["avro.timestamp-micros", 9223372036825200000n, "+294247-01-10T04:00:25.2Z"],
  ])("%s %s reads %s", (name, value, text) => {
    expect(of(name, value)).toBe(text);
  });
});

describe("the texts of isostring", () => {
  test.each([
    ["IsoDate", "2017-09-15Z", "2017-09-15"],
    ["IsoTime", "04:05:11.789Z", "04:05:11.789"],
    ["IsoTimestamp", "2011-12-03T10:15:30Z", "2011-12-03T10:15:30"],
    ["IsoTimestamp", "2011-12-03T10:15:30", "2011-12-03T10:15:30"],
    ["IsoTimestamp", "-0043-03-15T10:15:30Z", "-0043-03-15T10:15:30"],
  ])("%s %s is read without the suffix Z", (name, value, text) => {
    expect(of(name, value)).toBe(text);
  });
});

describe("structured times", () => {
  const date = { year: 2024, month: 2, day: 29 };
  const clock = { hour: 12, minute: 34, second: 56, nanos: 789_000_000 };

  test.each([
    ["StructuredDate", date, "2024-02-29"],
    ["StructuredDate", { year: 0, month: 0, day: 0 }, "0000-00-00"],
    ["StructuredDate", { year: -43, month: 3, day: 15 }, "-0043-03-15"],
    ["StructuredTime", clock, "12:34:56.789"],
    ["StructuredTime", { hour: 24, minute: 0, second: 0, nanos: 0 }, "24:00:00"],
    ["StructuredTime", { hour: 1, minute: 2, second: 3, picoseconds: 1n }, "01:02:03.000000000001"],
    ["StructuredTimestamp", { ...date, ...clock }, "2024-02-29T12:34:56.789"],
    ["StructuredTimestamp", { ...date, hour: 24 }, "2024-03-01T00:00:00"],
    ["StructuredTimestamp", { ...date, ...clock, nanos: undefined, picoseconds: 789_123_456_789 }, "2024-02-29T12:34:56.789123456789"],
    ["StructuredZonedTime", { ...clock, offsetSeconds: 3600 }, "12:34:56.789+01:00"],
    ["StructuredZonedTimestamp", { ...date, ...clock, offsetSeconds: -19_800, zoneId: "X/Y" }, "2024-02-29T12:34:56.789-05:30"],
    ["StructuredZonedTimestamp", { ...date, ...clock, offsetSeconds: 1172 }, "2024-02-29T12:34:56.789+00:19:32"],
    ["StructuredZonedTimestamp", { ...date, ...clock, offsetSeconds: null }, "2024-02-29T12:34:56.789Z"],
    ["StructuredDate", { specialValue: "POSITIVE_INFINITY" }, "infinity"],
    ["StructuredTimestamp", { specialValue: "NEGATIVE_INFINITY", year: null }, "-infinity"],
    ["StructuredZonedTimestamp", { specialValue: "POSITIVE_INFINITY" }, "infinity"],
    ["StructuredDuration", { years: 1, months: 2, days: 3, hours: 4, minutes: 5, seconds: 6n, nanos: 780_000_000 }, "P1Y2M3DT4H5M6.78S"],
    ["StructuredDuration", { days: -3, seconds: 0, picoseconds: -500_000_000_000n }, "P0Y0M-3DT0H0M-0.5S"],
  ])("%s %o reads %s", (name, value, text) => {
    expect(of(name, value)).toBe(text);
  });

  test.each([
    ["StructuredDate", { ...date, month: 13 }],
    ["StructuredDate", { ...date, day: 1.5 }],
    ["StructuredTime", { hour: 24, minute: 1 }],
    ["StructuredTime", { hour: -1 }],
    ["StructuredTime", { nanos: 1_000_000_000 }],
    ["StructuredTime", { minute: "1" }],
    ["StructuredZonedTime", { offsetSeconds: 100_000 }],
    ["StructuredDuration", { seconds: 2n ** 62n }],
  ])("%s %o is refused", (name, value) => {
    expect(() => of(name, value)).toThrow(/^\[value-invalid\]/);
  });

  test("an inherited field is ignored", () => {
    expect(of("StructuredDate", Object.create({ specialValue: "POSITIVE_INFINITY" }, {}))).toBe("0000-00-00");
  });
});

describe("the other time modes", () => {
  test.each([
    ["Date", 19782, "PlainDate 2024-02-29"],
    ["Date", -735160, "PlainDate -000043-03-15"],
    ["Date", 200_000_000, "+549551-05-28"],
    ["MicroTime", 1, "PlainTime 00:00:00.000001"],
    ["MicroTime", -3020399000000, "Duration -PT838H59M59S"],
    ["MicroTime", 86400000000, "Duration PT24H00M00S"],
    ["MicroTimestamp", 1529507596945104, "PlainDateTime 2018-06-20T15:13:16.945104"],
    ["avro.timestamp-millis", 0, "Instant 1970-01-01T00:00:00Z"],
    ["ZonedTimestamp", "+12024-01-01T00:00:00+01:00", "Instant +012023-12-31T23:00:00Z"],
    ["ZonedTime", "10:15:30+01:00", "10:15:30+01:00"],
    ["IsoDate", "2017-09-15Z", "PlainDate 2017-09-15"],
    ["IsoTime", "04:05:11.789Z", "PlainTime 04:05:11.789"],
    ["IsoTimestamp", "2011-12-03T10:15:30Z", "PlainDateTime 2011-12-03T10:15:30"],
    ["StructuredTimestamp", { year: 2024, month: 2, day: 29, hour: 24 }, "PlainDateTime 2024-03-01T00:00:00"],
    ["StructuredZonedTimestamp", { year: 2024, month: 1, day: 1, offsetSeconds: 3600 }, "Instant 2023-12-31T23:00:00Z"],
    ["StructuredDate", { year: 2024, month: 0, day: 0 }, "2024-00-00"],
  ])("temporal: %s %o gives %s", (name, value, text) => {
    expect(of(name, value, { time: "temporal", temporal })).toBe(text);
  });

  test.each([
    ["Date", 19782, "2024-02-29T00:00:00.000Z"],
    ["MicroTimestamp", -1, "1969-12-31T23:59:59.999Z"],
    ["NanoTimestamp", 1723115239782690123n, "2024-08-08T11:07:19.782Z"],
    ["avro.timestamp-micros", 1529507596945104, "2018-06-20T15:13:16.945Z"],
    ["ZonedTimestamp", "2024-02-29T10:34:56.789012+02:30", "2024-02-29T08:04:56.789Z"],
    ["ZonedTimestamp", "-0043-03-15T00:00:00-01:00", "-000043-03-15T01:00:00.000Z"],
    ["IsoTimestamp", "2011-12-03T10:15:30.5Z", "2011-12-03T10:15:30.500Z"],
    ["StructuredDate", { year: 2024, month: 2, day: 29 }, "2024-02-29T00:00:00.000Z"],
  ])("date: %s %o gives %s", (name, value, text) => {
    const date = of(name, value, { time: "date" });
    expect(date).toBeInstanceOf(Date);
    expect((date as Date).toISOString()).toBe(text);
  });

  test("date: a time that Date cannot hold stays text", () => {
    expect(of("MicroTimestamp", 9223372036825199999n, { time: "date" })).toBe("+294247-01-10T04:00:25.199999");
    expect(of("ZonedTimestamp", "+294247-01-10T04:00:25Z", { time: "date" })).toBe("+294247-01-10T04:00:25Z");
    expect(of("MicroTime", 1, { time: "date" })).toBe("00:00:00.000001");
  });

  test("date: a zoned text agrees with Date's own parser", () => {
    fc.assert(
      fc.property(
        fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(253_402_300_799_000) }),
        fc.integer({ min: -1080, max: 1080 }),
        (date, offset) => {
          const sign = offset < 0 ? "-" : "+";
          const [h, m] = [Math.trunc(Math.abs(offset) / 60), Math.abs(offset) % 60];
          const text = date.toISOString().replace("Z", `${sign}${String(h).padStart(2, "0")}:${String(m).padStart(2, "0")}`);
          expect(of("ZonedTimestamp", text, { time: "date" })).toEqual(new Date(text));
        },
      ),
    );
  });

  test.each([["ZonedTimestamp"], ["IsoDate"], ["IsoTime"], ["IsoTimestamp"]])(
    "%s refuses text that is no time, without showing it",
    (name) => {
      for (const time of ["temporal", "date"] as const) {
        if (name !== "IsoTime" || time === "temporal") {
          expect(() => of(name, "secret", { time, temporal })).toThrow(/^\[value-invalid\](?!.*secret)/);
        }
      }
    },
  );

  test.each([
    ["ZonedTimestamp", "2024-13-45T10:00:00Z"],
    ["ZonedTimestamp", "2023-02-29T10:00:00Z"],
    ["ZonedTimestamp", "2024-02-29T24:00:00Z"],
    ["ZonedTimestamp", "2024-02-29T10:00:00+99:00"],
    ["IsoDate", "2023-02-29Z"],
    ["IsoTimestamp", "2024-00-10T10:00:00Z"],
  ])("%s refuses %s, which is not in the calendar or on the clock, and does not turn it into another day", (name, text) => {
    const strict = { ...temporal, Instant: { from: () => expect.unreachable("Temporal's own error would quote the column") } };
    for (const time of ["temporal", "date"] as const) {
      expect(() => of(name, text, { time, temporal: strict })).toThrow(/^\[value-invalid\](?!.*20)/);
    }
  });

  test("a structured day that is not in the calendar stays text", () => {
    expect(of("StructuredDate", { year: 2023, month: 2, day: 31 }, { time: "date" })).toBe("2023-02-31");
  });

  test("raw passes on every time as it arrived", () => {
    for (const name of ["Date", "MicroTime", "MicroTimestamp", "ZonedTimestamp", "IsoDate", "StructuredDate", "avro.timestamp-millis"]) {
      expect(find(name, { time: "raw" })).toBeNull();
    }
  });
});
