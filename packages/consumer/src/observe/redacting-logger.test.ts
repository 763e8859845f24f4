import { pino } from "pino";
import { expect, test } from "vitest";
import type { Logger } from "./logger.ts";
import { redacting } from "./redacting-logger.ts";

const canary = "c4n4ry";

function logged(fields: Readonly<Record<string, unknown>>, message = ""): string {
  const lines: string[] = [];
  const keep = (...line: unknown[]): void =>
    void lines.push(JSON.stringify(line, (_, value: unknown) => (typeof value === "bigint" ? `${value}` : value)));
  const logger: Logger = { debug: keep, info: keep, warn: keep, error: keep };
  redacting(logger).warn(fields, message);
  return lines.join();
}

test.each<[string, Readonly<Record<string, unknown>>]>([
  ["a password", { config: { sasl: { password: canary } } }],
  ["a token in a list", { headers: [{ authorization: `Bearer ${canary}` }] }],
  ["a URL with a user", { url: `https://me:${canary}@registry/` }],
  ["a URL whose password has an @", { url: `https://me:p@${canary}@registry/` }],
  ["an error's message", { err: new Error(`cannot reach https://me:${canary}@registry/`) }],
  [
    "an error's cause, and its configuration",
    { err: new Error("x", { cause: Object.assign(new Error("y"), { config: { password: canary } }) }) },
  ],
  ["a record", { record: { key: Buffer.from(canary), value: Buffer.from(canary) } }],
  ["bytes", { payload: Buffer.from(canary) }],
])("%s does not reach the log", (_name, fields) => {
  expect(logged(fields, `https://me:${canary}@registry/`)).not.toContain(canary);
});

test("what helps to find the failure reaches the log", () => {
  const line = logged({ topic: "t", offset: 5n, err: Object.assign(new Error("[poison] no"), { code: "poison" }) }, "a record failed");
  expect(line).toContain('"topic":"t"');
  expect(line).toContain('"offset":"5"');
  expect(line).toContain('"message":"[poison] no"');
  expect(line).toContain('"code":"poison"');
});

/** The lines of a logger on a worker thread, as they are written on the thread that has started it. */
function fromThread(logger: Logger): Logger {
  const there = redacting(logger);
  const send = (fields: Readonly<Record<string, unknown>>, message: string): void => there.warn(structuredClone(fields), message);
  return { debug: send, info: send, warn: send, error: send };
}

test.each([
  ["", (logger: Logger) => logger],
  [" of a worker thread", fromThread],
])("pino writes the name of the class of an error%s, its code, and the text of its cause", (_, carried) => {
  const written: string[] = [];
  const logger = redacting(carried(pino({}, { write: (line: string) => void written.push(line) })));
  const cause = new TypeError("x is not a function");
  logger.warn({ err: Object.assign(new RangeError("[poison] no", { cause }), { code: "poison" }) }, "a record failed");
  const { err } = JSON.parse(written[0] ?? "{}") as { readonly err: Readonly<Record<string, unknown>> };
  expect(err).toMatchObject({ type: "RangeError", code: "poison", message: "[poison] no: x is not a function" });
  expect(err["stack"]).toContain("caused by: TypeError: x is not a function");
  expect(Object.keys(err).toSorted()).toEqual(["code", "message", "stack", "type"]);
});
