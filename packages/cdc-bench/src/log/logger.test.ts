import { PassThrough } from "node:stream";
import { describe, expect, test } from "vitest";
import type { Terminal } from "../terminal.ts";
import { createLogger, type LogLevel } from "./logger.ts";

function loggerOf(level: LogLevel, liveLine = false, env: Terminal["env"] = {}) {
  const stderr = new PassThrough();
  return { logger: createLogger({ stderr, env, liveLine }, () => level), said: () => String(stderr.read() ?? "") };
}

describe("the log", () => {
  test("is pino's lines of JSON, from the level on", () => {
    const { logger, said } = loggerOf("warn");
    logger.info({}, "not shown");
    logger.warn({ broker: "a:9092" }, "shown");
    logger.error({}, "shown, too");
    const lines = said()
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as object);
    expect(lines).toMatchObject([
      { level: 40, name: "cdc-bench", pid: process.pid, time: expect.any(Number), broker: "a:9092", msg: "shown" },
      { level: 50, msg: "shown, too" },
    ]);
  });

  test.each<[LogLevel, number]>([
    ["trace", 4],
    ["debug", 4],
    ["info", 3],
    ["warn", 2],
    ["error", 1],
    ["fatal", 0],
    ["silent", 0],
  ])("at %s there are %i of the four", (level, count) => {
    const { logger, said } = loggerOf(level);
    for (const method of ["debug", "info", "warn", "error"] as const) {
      logger[method]({}, "line");
    }
    expect(said().match(/line/g) ?? []).toHaveLength(count);
  });

  test("has no secret, wherever it stands in a line, and no user of a URL", () => {
    const { logger, said } = loggerOf("info");
    const secret = "tell-nobody";
    logger.info({ password: secret, sasl: { username: "u", password: secret }, options: { registry: { token: secret } } }, "fields");
    logger.info({ url: `https://me:${secret}@registry:8081/` }, `no answer from http://me:${secret}@registry`);
    logger.info(
      { url: `postgres://db/shop?password=${secret}` },
      `cannot reach postgres://me:at@${secret}@db/shop?user=me&password=${secret}`,
    );
    const text = said();
    expect(text).not.toContain(secret);
    expect(text).toContain("https://registry:8081/");
    expect(text).toContain("no answer from http://registry");
    expect(text).toContain("cannot reach postgres://db/shop");
  });

  test("is a line for people on a terminal, which a server's text cannot color", () => {
    const { logger, said } = loggerOf("info", true, { NO_COLOR: "1" });
    logger.warn({ broker: "a:9092" }, "the broker said \u001b[31mred\u0007");
    expect(said()).toMatch(/^\[[\d:.]+\] WARN: the broker said \?\[31mred\?\n {4}broker: "a:9092"\n$/);
  });

  test("has colors on a terminal that wants them", () => {
    const { logger, said } = loggerOf("info", true);
    logger.warn({}, "careful");
    expect(said()).toContain("\u001b[33mWARN\u001b[39m");
  });
});
