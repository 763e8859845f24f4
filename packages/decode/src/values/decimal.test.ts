import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { resolveValueOptions, type ValueOptions } from "../options.ts";
import type { Conversion } from "./conversion.ts";
import { conversionFor } from "./conversion-for.ts";

function decimal(scale: string | undefined, options: ValueOptions = {}, name = "org.apache.kafka.connect.data.Decimal"): Conversion {
  const parameters = scale === undefined ? {} : { scale };
  return conversionFor({ name, parameters }, resolveValueOptions(options), JSON.parse) as Conversion;
}

function ofBytes(conversion: Conversion, bytes: Uint8Array): unknown {
  const framed = Buffer.concat([Buffer.from([0xee]), bytes, Buffer.from([0xee])]);
  return conversion.bytes?.(framed, 1, framed.length - 1);
}

/** Two's complement made with BigInt only, padded with `padding` sign bytes. */
function bytesOf(unscaled: bigint, padding = 0): Buffer {
  let length = 1;
  while (BigInt.asIntN(length * 8, unscaled) !== unscaled) {
    length++;
  }
  const width = length + padding;
  return Buffer.from(
    BigInt.asUintN(width * 8, unscaled)
      .toString(16)
      .padStart(width * 2, "0"),
    "hex",
  );
}

/** The plain notation, made by BigInt division. */
function plainText(unscaled: bigint, scale: number): string {
  const magnitude = unscaled < 0n ? -unscaled : unscaled;
  const sign = unscaled < 0n ? "-" : "";
  if (scale <= 0) {
    return sign + (magnitude * 10n ** BigInt(-scale)).toString();
  }
  const power = 10n ** BigInt(scale);
  return `${sign}${magnitude / power}.${(magnitude % power).toString().padStart(scale, "0")}`;
}

describe("a decimal's bytes", () => {
  test.each([
    [0n, "AA==", 0, "0"],
    [0n, "AA==", 2, "0.00"],
    [12345n, "MDk=", 2, "123.45"],
    [-12345n, "z8c=", 2, "-123.45"],
    [127n, "fw==", 0, "127"],
    [128n, "AIA=", 0, "128"],
    [-128n, "gA==", 0, "-128"],
    [-129n, "/38=", 0, "-129"],
    [123456789012345678901234567890n, "AY7pD/bDc+DuTj8K0g==", 10, "12345678901234567890.1234567890"],
    [18446744073709551615n, "AP//////////", 0, "18446744073709551615"],
    [12340n, "MDQ=", 2, "123.40"],
    [-5n, "+w==", 2, "-0.05"],
    [5n, "BQ==", -3, "5000"],
    [0n, "AA==", -3, "0"],
  ])("%d as %s with scale %d reads %s", (unscaled, base64, scale, text) => {
    const bytes = Buffer.from(base64, "base64");
    expect(bytes).toEqual(bytesOf(unscaled));
    expect(ofBytes(decimal(String(scale)), bytes)).toBe(text);
  });

  test.each([
    ["AKtUqYzrHwrT", 6],
    ["SztMqFqGxHoJiiI//////w==", 0],
    ["AeJA", 2],
  ])("a recorded value %s reads the same as with BigInt", (base64, scale) => {
    const bytes = Buffer.from(base64, "base64");
    const unscaled = BigInt.asIntN(bytes.length * 8, BigInt(`0x${bytes.toString("hex")}`));
    expect(ofBytes(decimal(String(scale)), bytes)).toBe(plainText(unscaled, scale));
  });

  test("read the same as with BigInt arithmetic, for any length, scale and sign", () => {
    const lengths = fc
      .oneof({ weight: 5, arbitrary: fc.integer({ min: 1, max: 160 }) }, fc.integer({ min: 160, max: 3_250 }))
      .chain((bits) => fc.bigInt({ min: -(2n ** BigInt(bits)), max: 2n ** BigInt(bits) }));
    fc.assert(
      fc.property(lengths, fc.integer({ min: -20, max: 40 }), fc.nat(9), (unscaled, scale, padding) => {
        expect(ofBytes(decimal(String(scale)), bytesOf(unscaled, padding))).toBe(plainText(unscaled, scale));
      }),
      { numRuns: 3000 },
    );
  });

  test("read the same if very many digits are made in parts", () => {
    for (const digits of [249n, 250n, 251n, 299n, 300n, 301n, 499n, 500n, 501n, 550n, 750n, 751n, 800n, 1_000n]) {
      for (const unscaled of [10n ** digits - 1n, 10n ** digits, 10n ** digits + 7n, -(10n ** digits), 10n ** digits + 10n ** 260n]) {
        expect(ofBytes(decimal("3"), bytesOf(unscaled))).toBe(plainText(unscaled, 3));
      }
    }
  });

  test("read the same at every edge between lengths", () => {
    for (let bits = 1n; bits <= 140n; bits++) {
      for (const near of [-1n, 0n, 1n]) {
        for (const sign of [1n, -1n]) {
          const unscaled = sign * 2n ** bits + near;
          expect(ofBytes(decimal("5"), bytesOf(unscaled))).toBe(plainText(unscaled, 5));
          expect(ofBytes(decimal("5"), bytesOf(sign * 10n ** (bits / 4n) + near))).toBe(plainText(sign * 10n ** (bits / 4n) + near, 5));
        }
      }
    }
  });

  test("become the nearest double if the options ask for numbers", () => {
    fc.assert(
      fc.property(fc.bigInt({ min: -(2n ** 80n), max: 2n ** 80n }), fc.integer({ min: -10, max: 30 }), (unscaled, scale) => {
        expect(ofBytes(decimal(String(scale), { decimal: "number" }), bytesOf(unscaled))).toBe(Number(plainText(unscaled, scale)));
      }),
    );
  });

  test("reach the user's function as unscaled value and scale", () => {
    const conversion = decimal("3", { decimal: (unscaled, scale) => [unscaled, scale] });
    for (const unscaled of [-12345n, 0n, 2n ** 60n, -(2n ** 100n), 2n ** 200n]) {
      expect(ofBytes(conversion, bytesOf(unscaled))).toEqual([unscaled, 3]);
    }
    expect(conversion.numberText?.("1.5")).toEqual([1500n, 3]);
    expect(conversion.int?.(-7)).toEqual([-7000n, 3]);
  });

  test("are refused if there are none", () => {
    expect(() => ofBytes(decimal("2"), Buffer.alloc(0))).toThrow(/^\[value-invalid\] .*at least one byte/);
  });

  test("are refused if they are longer than the limit", () => {
    expect(() => ofBytes(decimal("2"), Buffer.alloc(417, 1))).toThrow(/^\[limit-exceeded\]/);
    expect(ofBytes(decimal("0"), bytesOf(10n ** 1000n - 1n))).toBe("9".repeat(1000));
    expect(ofBytes(decimal("0"), Buffer.alloc(100_000))).toBe("0");
  });

  test.each([undefined, "", "two", "99999", "-1001", "1e3"])("mean nothing with a scale of %s", (scale) => {
    expect(() => ofBytes(decimal(scale), Buffer.from([1]))).toThrow(/^\[value-invalid\]/);
  });
});

describe("a decimal that JSON carries as a number", () => {
  test.each([
    ["1.10", "2", "1.10"],
    ["1.1", "4", "1.1000"],
    ["1.100", "1", "1.1"],
    ["1e-7", "7", "0.0000001"],
    ["-1.5E+3", "2", "-1500.00"],
    ["12345678901234567890.123456789012345678", "18", "12345678901234567890.123456789012345678"],
    ["0.00", "0", "0"],
    ["1e3", undefined, "1000"],
    ["1.50", undefined, "1.50"],
    ["1500e0", "-2", "1500"],
    ["-0.00", "2", "0.00"],
    ["-0.05", "2", "-0.05"],
    ["-12.50", "2", "-12.50"],
  ])("%s at scale %s reads %s", (text, scale, expected) => {
    expect(decimal(scale).numberText?.(text)).toBe(expected);
  });

  test("takes the scale of its schema if it is an integer", () => {
    expect(decimal("2").int?.(-12)).toBe("-12.00");
    expect(decimal("2").int?.(-0)).toBe("0.00");
    expect(decimal("2").int?.(Number.MAX_SAFE_INTEGER)).toBe("9007199254740991.00");
    expect(decimal("-2").int?.(1500)).toBe("1500");
    expect(decimal(undefined).int?.(-7)).toBe("-7");
    expect(() => decimal("-2").int?.(1550)).toThrow(/^\[value-invalid\]/);
    expect(decimal("1").bigint?.(12345678901234567890n)).toBe("12345678901234567890.0");
  });

  test.each(["1.001", "1e-3", "1e-999999999", "1e999999999", "1e99999999999", "x", ""])("%s does not fit scale 2", (text) => {
    expect(() => decimal("2").numberText?.(text)).toThrow(/^\[value-invalid\]/);
  });

  test("is rescaled without loss, or refused", () => {
    fc.assert(
      fc.property(fc.bigInt(), fc.integer({ min: 0, max: 12 }), fc.integer({ min: 0, max: 12 }), (unscaled, from, to) => {
        const fits = to >= from || unscaled % 10n ** BigInt(from - to) === 0n;
        const rescale = (): unknown => decimal(String(to)).numberText?.(plainText(unscaled, from));
        if (fits) {
          expect(rescale()).toBe(plainText((unscaled * 10n ** BigInt(to)) / 10n ** BigInt(from), to));
        } else {
          expect(rescale).toThrow(/value-invalid/);
        }
      }),
    );
  });
});

describe("a decimal that arrives as text", () => {
  test("is kept", () => {
    expect(decimal("2").text?.("-0.100000")).toBe("-0.100000");
    expect(decimal("2").text?.("NaN")).toBe("NaN");
    expect(decimal("2").text?.("1E+3")).toBe("1000");
  });

  test("becomes a number if the options ask for numbers, including NaN and infinities", () => {
    const conversion = decimal("2", { decimal: "number" });
    expect(conversion.text?.("0.10")).toBe(0.1);
    expect(conversion.text?.("NAN")).toBeNaN();
    expect(conversion.text?.("-Infinity")).toBe(Number.NEGATIVE_INFINITY);
    expect(conversion.text?.("POSITIVE_INFINITY")).toBe(Number.POSITIVE_INFINITY);
    expect(conversion.text?.("NEGATIVE_INFINITY")).toBe(Number.NEGATIVE_INFINITY);
  });

  test("is refused if it is not a decimal, and the error does not quote it", () => {
    expect(() => decimal("2").text?.("secret")).toThrow(/^\[value-invalid\](?!.*secret)/);
  });
});

describe("a VariableScaleDecimal", () => {
  const conversion = decimal(undefined, {}, "io.debezium.data.VariableScaleDecimal");

  test("has its own scale in each value", () => {
    expect(conversion.struct?.({ scale: 3, value: bytesOf(-1234n) })).toBe("-1.234");
    expect(conversion.struct?.({ scale: -2, value: bytesOf(7n) })).toBe("700");
    expect(conversion.struct?.({ scale: 35, value: Buffer.from("PIE/ZjbZhPJZW2o3KlPQ", "base64") })).toBe(
      plainText(BigInt(`0x${Buffer.from("PIE/ZjbZhPJZW2o3KlPQ", "base64").toString("hex")}`), 35),
    );
  });

  test.each([{ scale: 2 ** 31 - 1 }, { scale: 1.5 }, { scale: "2" }, {}])("is refused with %o", (fields) => {
    expect(() => conversion.struct?.({ value: bytesOf(1n), ...fields })).toThrow(/^\[value-invalid\]/);
  });

  test("is refused without bytes", () => {
    expect(() => conversion.struct?.({ scale: 2, value: null })).toThrow(/^\[value-invalid\]/);
    expect(() => conversion.struct?.({ scale: 2, value: Buffer.alloc(0) })).toThrow(/^\[value-invalid\]/);
  });
});

describe("Avro's decimals", () => {
  test("have scale 0 if the schema states none", () => {
    expect(ofBytes(decimal(undefined, {}, "avro.decimal"), bytesOf(-300n, 13))).toBe("-300");
  });

  test("a big-decimal has its scale after its bytes", () => {
    const conversion = decimal(undefined, {}, "avro.big-decimal");
    expect(ofBytes(conversion, Buffer.from([0x04, 0x30, 0x39, 0x04]))).toBe("123.45");
    expect(ofBytes(conversion, Buffer.from([0x02, 0x05, 0x05]))).toBe("5000");
    for (const bad of [[], [0x04, 0x30, 0x39], [0x04, 0x30], [0x04, 0x30, 0x39, 0x04, 0x00], [0x01, 0x30], [0x00, 0x00]]) {
      expect(() => ofBytes(conversion, Buffer.from(bad))).toThrow(/^\[value-invalid\]/);
    }
  });
});
