import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { applyTo, UNAVAILABLE, unavailableTests } from "./unavailable.ts";

const placeholder = "__debezium_unavailable_value";
const base64 = "X19kZWJleml1bV91bmF2YWlsYWJsZV92YWx1ZQ==";
const integers = [
  95, 95, 100, 101, 98, 101, 122, 105, 117, 109, 95, 117, 110, 97, 118, 97, 105, 108, 97, 98, 108, 101, 95, 118, 97, 108, 117, 101,
];
const tests = unavailableTests(placeholder);

function ofBytes(bytes: Uint8Array): boolean {
  const framed = Buffer.concat([Buffer.from("xx"), bytes, Buffer.from("x")]);
  return tests.bytes(framed, 2, framed.length - 1);
}

describe("the placeholder of an unavailable column is known", () => {
  test("as text", () => {
    expect(tests.text(placeholder)).toBe(true);
    expect(tests.text(`${placeholder} `)).toBe(false);
    expect(tests.text(placeholder.toUpperCase())).toBe(false);
    expect(tests.text("")).toBe(false);
  });

  test("as the JSON text of an hstore", () => {
    expect(tests.text(`{"${placeholder}":"${placeholder}"}`)).toBe(true);
    expect(tests.text(`{"${placeholder}":"other"}`)).toBe(false);
  });

  test("as the base64 or hex text that a binary column becomes, in place too", () => {
    const hex = Buffer.from(placeholder).toString("hex");
    for (const text of [placeholder, `{"${placeholder}":"${placeholder}"}`, base64, hex]) {
      const bytes = Buffer.from(`x${text}x`);
      expect([tests.text(text), tests.textBytes.test(bytes, 1, bytes.length - 1)]).toEqual([true, true]);
      expect(tests.textBytes.lengths).toContain(text.length);
      expect(tests.textBytes.test(bytes, 1, bytes.length)).toBe(false);
    }
    expect(unavailableTests("???>").text("Pz8_Pg==")).toBe(true); // Java's alphabet for URLs keeps its padding
  });

  test("as the text that a truncated column has (column.truncate.to.20.chars), in place too", () => {
    for (let length = 8; length < placeholder.length; length++) {
      const text = placeholder.slice(0, length);
      const bytes = Buffer.from(`x${text}x`);
      expect([tests.text(text), tests.textBytes.test(bytes, 1, bytes.length - 1)]).toEqual([true, true]);
      expect(tests.textBytes.lengths).toContain(length);
      expect([tests.text(`${text}!`), tests.textBytes.test(Buffer.from(`${text}!`), 0, length + 1)]).toEqual([false, false]);
    }
    expect(["__debez", "_debezium", "__debezium2"].filter(tests.text)).toEqual([]);
    expect(unavailableTests("UNCHANGED_TOAST").text("UNCHANGED")).toBe(false); // it may be a value of the user's own
  });

  test("as bytes in place, and as their base64 text", () => {
    expect(ofBytes(Buffer.from(base64, "base64"))).toBe(true);
    expect(ofBytes(Buffer.from(placeholder.slice(1)))).toBe(false);
    expect(ofBytes(Buffer.from(placeholder.toUpperCase()))).toBe(false);
    expect(tests.base64(base64)).toBe(true);
    expect(tests.base64(placeholder)).toBe(false);
  });

  test("as a list of integers, as numbers, bigints or text", () => {
    expect(tests.array(integers)).toBe(true);
    expect(tests.array(integers.map(BigInt))).toBe(true);
    expect(tests.array(integers.map(String))).toBe(true);
    expect(tests.array([...integers.slice(0, 27), 102])).toBe(false);
    expect(tests.array(integers.slice(1))).toBe(false);
    expect(tests.array(integers.map(() => null))).toBe(false);
    expect(tests.array(integers.map(() => Object.create(null)))).toBe(false);
  });

  test("as a list of dates that were converted", () => {
    const dates = integers.map((day) => new Date(day * 86_400_000));
    class PlainDate {
      readonly #text: string;
      constructor(text: string) {
        this.#text = text;
      }
      toJSON(): string {
        return this.#text;
      }
      toString(): string {
        return this.#text;
      }
    }
    const texts = dates.map((date) => date.toISOString().slice(0, 10));
    expect([texts, dates, texts.map((text) => new PlainDate(text))].map(tests.array)).toEqual([true, true, true]);
    const others = [dates.toReversed(), texts.toReversed().map((text) => new PlainDate(text)), dates.map(() => new Date(Number.NaN))];
    expect(others.map(tests.array)).toEqual([false, false, false]);
    expect(tests.array(texts.map((toString) => ({ toString, toJSON: 1 })))).toBe(false);
  });

  test("as a list of one text, one bytes value or one UUID", () => {
    expect(tests.array([placeholder])).toBe(true);
    expect(tests.array([Buffer.from(placeholder)])).toBe(true);
    expect(tests.array([base64])).toBe(true);
    expect(tests.array(["b68a35a7-17ad-35b3-af2a-ae46edb4545a"])).toBe(true);
    expect(tests.array([placeholder, placeholder])).toBe(false);
    expect(tests.array([null])).toBe(false);
    expect(tests.array([])).toBe(false);
  });

  test("as a map of itself to itself", () => {
    expect(tests.map({ [placeholder]: placeholder })).toBe(true);
    expect(tests.map(Object.assign(Object.create(null), { [placeholder]: placeholder }))).toBe(true);
    expect(tests.map(new Map([[placeholder, placeholder]]))).toBe(true);
    expect(tests.map({ [placeholder]: "other" })).toBe(false);
    expect(tests.map({ [placeholder]: placeholder, more: 1 })).toBe(false);
    expect(tests.map(Object.create({ [placeholder]: placeholder }))).toBe(false);
    expect(tests.map({})).toBe(false);
    expect(tests.map(null)).toBe(false);
    expect(tests.map("text")).toBe(false);
  });

  test("as any other text that was configured, with signed bytes too", () => {
    const other = unavailableTests("nicht da: ü");
    expect(other.text("nicht da: ü")).toBe(true);
    expect(other.text(placeholder)).toBe(false);
    expect(other.array([...new Int8Array(Buffer.from("nicht da: ü"))])).toBe(true);
  });

  test("never if it was configured to be empty", () => {
    const none = unavailableTests("");
    expect([
      none.text(""),
      none.textBytes.test(Buffer.alloc(0), 0, 0),
      none.base64(""),
      none.bytes(Buffer.alloc(0), 0, 0),
      none.array([]),
      none.array([""]),
      none.map({}),
    ]).not.toContain(true);
  });

  test("and no other value is taken for it", () => {
    fc.assert(
      fc.property(fc.string(), fc.array(fc.anything()), (text, list) => {
        expect(tests.text(text)).toBe(false);
        expect(tests.array(list)).toBe(false);
        expect(ofBytes(Buffer.from(text))).toBe(false);
      }),
    );
  });
});

describe("applyTo", () => {
  test("takes unavailable columns from the previous row", () => {
    const row = { id: 1, note: UNAVAILABLE, price: "2.00" };
    expect(applyTo<Record<string, unknown>>(row, { id: 1, note: "long", price: "1.00" })).toEqual({ id: 1, note: "long", price: "2.00" });
    expect(row.note).toBe(UNAVAILABLE);
  });

  test("treats null and undefined as values", () => {
    expect(applyTo<Record<string, unknown>>({ a: UNAVAILABLE }, { a: null })).toEqual({ a: null });
  });

  test("leaves a column unavailable if the previous row lacks it, or has it unavailable too", () => {
    expect(applyTo<Record<string, unknown>>({ a: UNAVAILABLE, toString: UNAVAILABLE }, { b: 1 })).toEqual({
      a: UNAVAILABLE,
      toString: UNAVAILABLE,
    });
    expect(applyTo<Record<string, unknown>>({ a: UNAVAILABLE }, { a: UNAVAILABLE })).toEqual({ a: UNAVAILABLE });
    expect(applyTo<Record<string, unknown>>({ a: UNAVAILABLE }, null)).toEqual({ a: UNAVAILABLE });
  });

  test("gives null for no row, and the row itself if nothing is missing", () => {
    expect(applyTo(null, { a: 1 })).toBeNull();
    const row = { a: 1 };
    expect(applyTo<Record<string, unknown>>(row, { a: 2 })).toBe(row);
  });

  test("a column named __proto__ is treated like any other column", () => {
    const row = JSON.parse('{"__proto__":null,"a":1}') as Record<string, unknown>;
    Object.defineProperty(row, "__proto__", { value: UNAVAILABLE, enumerable: true, writable: true, configurable: true });
    const merged = applyTo(row, JSON.parse('{"__proto__":{"polluted":true}}') as Record<string, unknown>) as Record<string, unknown>;
    expect(Object.getPrototypeOf(merged)).toBe(Object.prototype);
    expect(Object.getOwnPropertyDescriptor(merged, "__proto__")?.value).toEqual({ polluted: true });
    expect(merged["polluted"]).toBeUndefined();
    expect(applyTo(row, {})).toBe(row);
  });
});

test("UNAVAILABLE is one symbol in every copy of the package", () => {
  expect(UNAVAILABLE).toBe(Symbol.for("cdckit.unavailable"));
});
