import { expect, test } from "vitest";
import { DriverError } from "./errors.ts";
import { OptionChecks } from "./option-checks.ts";

const checks: OptionChecks = new OptionChecks("client", (code, detail) => new DriverError(code, detail));

/** What is refused, or null. */
function refusalOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

test.each([
  ["localhost:9092", '[invalid-option] client({ brokers }) expects a list of addresses, such as ["localhost:9092"]'],
  [[], '[invalid-option] client({ brokers }) expects a list of addresses, such as ["localhost:9092"]'],
  [["b:1", null], "brokers[1] must be", "it is null"],
  [[""], "it is empty"],
  [["https://me:secret@b:1"], "it looks like a URL"],
  [["a,b:1"], "it holds several addresses: make each an item of the list"],
  [["b:65536"], 'the port of "b:65536" cannot be read'],
  [["b"], '"b" has no port'],
  [["::1:9092"], 'an IPv6 address, and nothing else, stands in brackets before the port, such as "[::1]:9092", found "::1:9092"'],
  [["fe80::1"], "stands in brackets before the port"],
  [["[localhost]:9092"], "an IPv6 address, and nothing else, stands in brackets"],
  [["[::1]"], '"[::1]" has no port'],
  [["[::1]:port"], 'the port of "[::1]:port" cannot be read'],
])("brokers that are %j are refused, with the reason", (brokers, ...texts) => {
  const refusal = refusalOf(() => checks.brokers(brokers));
  texts.forEach((text) => expect(refusal).toContain(text));
  expect(refusal).not.toContain("secret");
});

test("addresses with ports are taken", () => {
  expect(refusalOf(() => checks.brokers(["localhost:9092", "b-1.example.com:65535", "[::1]:9092", "[fe80::1%eth0]:1"]))).toBeNull();
});

test("a name that is no option is refused, with one that is like it, or with all, or with the reason why it is not taken", () => {
  const names = (given: object) =>
    refusalOf(() => checks.names("", given as never, ["brokers", "ssl"], ["maxBytes"], { logLevel: "it is set" }));
  expect(names({ brokers: 1, ssl: 2, sasl: undefined })).toBeNull();
  expect(names({ broker: 1 })).toMatch(/broker is no option.*brokers/);
  expect(names({ other: 1 })).toBe("[invalid-option] other is no option; there are brokers, ssl, maxBytes");
  expect(names({ logLevel: 1 })).toBe("[invalid-option] logLevel is not taken: it is set");
});

test("a credential is a text, or a function where one may be, and is never shown", () => {
  const credential = (value: unknown, mayBeFunction?: boolean) => refusalOf(() => checks.credential("password", value, mayBeFunction));
  expect([credential("secret"), credential(() => "secret", true)]).toEqual([null, null]);
  expect(credential("")).toContain("expected sasl.password to be a text that is not empty, found an empty text");
  expect(credential(() => "secret")).toContain("found function");
  expect(credential(["secret"], true)).toContain("expected sasl.password to be a function, or a text that is not empty, found object");
  expect(refusalOf(() => checks.login("secret"))).toBe("[invalid-option] expected sasl to be an object with a mechanism, found string");
});
