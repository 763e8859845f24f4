import { hostname } from "node:os";
import process from "node:process";
import { memory } from "@cdckit/testkit";
import { expect, test } from "vitest";
import { type ConsumerOptions, resolveConsumerOptions } from "../options.ts";
import { redacting } from "./redacting-logger.ts";
import { stderrLogger } from "./stderr-logger.ts";

function lines(): { readonly written: string[]; readonly logger: ReturnType<typeof stderrLogger> } {
  const written: string[] = [];
  const write = (line: string): void => void written.push(line);
  return { written, logger: redacting(stderrLogger({ write, wallMs: () => 1_700_000_000_000, pid: 7, hostname: "host" })) };
}

test("a warning is a line in pino's format: first level, time, pid and hostname, last the message", () => {
  const { written, logger } = lines();
  logger.warn({ offset: 17n, topic: "orders" }, "a record failed");
  expect(written).toEqual([
    '{"level":40,"time":1700000000000,"pid":7,"hostname":"host","offset":"17","topic":"orders","msg":"a record failed"}\n',
  ]);
});

test("an error is under err with type, message and stack, and its cause", () => {
  const { written, logger } = lines();
  logger.error({ err: new TypeError("no", { cause: new Error("why") }) }, "gave up");
  expect(JSON.parse(written.join())).toMatchObject({
    level: 50,
    err: {
      type: "TypeError",
      message: "no",
      stack: expect.stringContaining("stderr-logger.test"),
      cause: { type: "Error", message: "why" },
    },
  });
});

test("debug and info are not written", () => {
  const { written, logger } = lines();
  logger.debug({}, "x");
  logger.info({}, "x");
  expect(written).toEqual([]);
});

test("credentials are not written, and a value that refers to itself does not stop the line", () => {
  const { written, logger } = lines();
  const own: Record<string, unknown> = { password: "secret" };
  own["own"] = own;
  logger.warn({ own }, "http://user:secret@host failed");
  expect(written.join()).toContain("http://[redacted]@host failed");
  expect(written.join()).not.toContain("secret");
});

/** What a consumer with these options writes to stderr when it warns. */
function stderrOf(options: Pick<ConsumerOptions, "logger">): string {
  const { write } = process.stderr;
  let written = "";
  process.stderr.write = ((text: string) => {
    written += text;
    return true;
  }) as typeof write; // its other parameters are not used
  try {
    const { logger } = resolveConsumerOptions({ driver: memory(), groupId: "g", topics: ["rows"], ...options });
    logger.info({}, "started");
    logger.warn({ err: new Error("not now") }, "a handler failed");
  } finally {
    process.stderr.write = write;
  }
  return written;
}

test("without a logger, warnings go to stderr in pino's format", () => {
  const [line = "", ...rest] = stderrOf({}).split("\n");
  expect(rest).toEqual([""]);
  expect(JSON.parse(line)).toMatchObject({
    level: 40,
    hostname: hostname(),
    pid: process.pid,
    time: expect.any(Number),
    msg: "a handler failed",
    err: { type: "Error", message: "not now", stack: expect.any(String) },
  });
});

test("logger: false is silent", () => {
  expect(stderrOf({ logger: false })).toBe("");
});
