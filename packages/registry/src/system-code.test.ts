import { runInNewContext } from "node:vm";
import { expect, test } from "vitest";
import { errorChain, systemCode } from "./system-code.ts";

test.each<[string, unknown, string]>([
  ["a cause", new TypeError("fetch failed", { cause: Object.assign(new Error("no"), { code: "ECONNREFUSED" }) }), "ECONNREFUSED"],
  [
    "a cause, in another realm, as in Jest",
    runInNewContext("new TypeError('fetch failed', { cause: Object.assign(new Error('no'), { code: 'ECONNREFUSED' }) })"),
    "ECONNREFUSED",
  ],
  ["the name of an error of another realm", runInNewContext("new TypeError('bad port')"), "TypeError"],
  ["a time-out", new DOMException("no answer", "TimeoutError"), "TimeoutError"],
  ["what is no error", "text", "string"],
])("the code of a failure is found in %s", (_, error, code) => {
  expect(systemCode(error)).toBe(code);
});

test("an error of another realm is in the chain, with its causes", () => {
  const error: unknown = runInNewContext("new TypeError('fetch failed', { cause: new Error('bad port') })");
  expect(errorChain(error).map(({ message }) => message)).toEqual(["fetch failed", "bad port"]);
});
