import { expect, test } from "vitest";
import { headerNamesOf, toClientHeaders, toRecordHeaders } from "./headers.ts";

test("order and repeated names are kept", () => {
  const headers = [{ b: Buffer.from("1") }, { a: Buffer.from("2") }, { b: Buffer.from("3") }, { 7: Buffer.from("4") }];
  expect(toRecordHeaders(headers).map(([name, value]) => `${name}=${Buffer.from(value ?? []).toString()}`)).toEqual([
    "b=1",
    "a=2",
    "b=3",
    "7=4",
  ]);
  expect([headerNamesOf(headers, ["b", "a", "b", "7"]), headerNamesOf(headers, ["b", "a", "b"]), headerNamesOf(undefined, [])]).toEqual([
    true,
    false,
    true,
  ]);
});

test("a header that is called __proto__ is one, as the client gives it and as it is written", () => {
  const header: Record<string, unknown> = {};
  Reflect.set(header, "__proto__", Buffer.from("p")); // what the client's native part does
  expect(toRecordHeaders([header]).map(([name, value]) => [name, Buffer.from(value ?? []).toString()])).toEqual([["__proto__", "p"]]);
  expect(headerNamesOf([header], ["__proto__"])).toBe(true);
  expect(Object.getOwnPropertyNames(toClientHeaders([["__proto__", Buffer.from("p")]])[0])).toEqual(["__proto__"]);
});

test("an empty value is no missing one", () => {
  const [none, empty] = toClientHeaders([
    ["a", null],
    ["b", new Uint8Array(0)],
  ]) as [{ readonly a: Buffer }, { readonly b: Buffer }];
  // The client tells them apart by whether there is memory.
  expect([none.a.buffer.byteLength, empty.b.buffer.byteLength > 0, empty.b.length]).toEqual([0, true, 0]);
});
