import type { IHeaders } from "kafkajs";
import { describe, expect, test } from "vitest";
import { headerNamesOf, toRecordHeaders } from "./headers.ts";

/** As kafkajs gathers headers: a spread of what came before, and the next one. */
function gathered(...list: readonly (readonly [string, Buffer | null])[]): IHeaders {
  return list.reduce<Record<string, unknown>>((headers, [name, value]) => {
    const before = headers[name];
    const next = before === undefined ? value : Array.isArray(before) ? [...(before as unknown[]), value] : [before, value];
    return { ...headers, [name]: next };
  }, {}) as IHeaders;
}

const one = Buffer.from("1");
const two = Buffer.from("2");

describe("headers from kafkajs", () => {
  test("no headers are an empty list, also in messages of the old format", () => {
    expect(toRecordHeaders(undefined)).toEqual([]);
    expect(toRecordHeaders({})).toEqual([]);
    expect(headerNamesOf(undefined, [])).toBe(true);
    expect(headerNamesOf(undefined, ["a"])).toBe(false);
  });

  test("names and values come in their order, repeated names side by side, null as null", () => {
    const headers = gathered(["b", one], ["a", null], ["b", two]);
    expect(toRecordHeaders(headers)).toEqual([
      ["b", one],
      ["b", two],
      ["a", null],
    ]);
    expect(headerNamesOf(headers, ["b", "b", "a"])).toBe(true);
    expect(headerNamesOf(headers, ["b", "a"])).toBe(false);
    expect(headerNamesOf(headers, ["b", "b", "a", "c"])).toBe(false);
    expect(headerNamesOf(headers, ["a", "b", "b"])).toBe(false);
  });

  test("headers called like properties of every object keep their own value alone", () => {
    for (const name of ["constructor", "toString", "__proto__"]) {
      const headers = gathered([name, one]);
      expect(toRecordHeaders(headers)).toEqual([[name, one]]);
      expect(headerNamesOf(headers, [name])).toBe(true);
    }
  });

  test("text is bytes", () => {
    expect(toRecordHeaders({ a: "1", b: ["1", two] })).toEqual([
      ["a", one],
      ["b", one],
      ["b", two],
    ]);
  });
});
