import { type Logger, silentLogger } from "@cdckit/consumer";
import { expect, test } from "vitest";
import { ClientLog } from "./client-log.ts";

test("a line that repeats is left out, counted, and kept as the last failure", async () => {
  const warned: [unknown, string][] = [];
  let nowMs = 0;
  const logger: Logger = { ...silentLogger, warn: (fields, message) => warned.push([fields, message]) };
  const log = new ClientLog(logger, () => nowMs);
  for (const afterMs of [0, 1_000, 2_000, 6_000]) {
    nowMs = afterMs;
    log.line({ severity: 3, fac: "FAIL", message: `[thrd:b:1/bootstrap]: b:1: Connection refused (after ${afterMs}ms in state CONNECT)` });
  }
  expect(warned.map(([fields]) => fields)).toEqual([{ fac: "FAIL" }, { fac: "FAIL", leftOut: 2 }]);
  expect(warned[0]?.[1]).toBe("librdkafka: b:1: Connection refused (after 0ms in state CONNECT)");
  expect([log.lastFailure?.includes("Connection refused"), log.fatal]).toEqual([true, null]);
  log.line({ severity: 3, fac: "FAIL", message: "[thrd:ssl://[::1]:1/bootstrap]: ssl://[::1]:1/bootstrap: Connection refused" });
  expect(log.lastFailure).toBe("ssl://[::1]:1/bootstrap: Connection refused");
  const untilFatal = log.untilFatal();
  log.line({ severity: 0, fac: "FATAL", message: "[thrd:main]: Fatal error: Broker: it is over" });
  await untilFatal;
  expect(log.fatal).toBe("Fatal error: Broker: it is over");
});

test("why a connection has failed is known until it is made", () => {
  const log = new ClientLog(silentLogger);
  for (const name of ["ssl://[::1]:1/1", "b:2/2"]) {
    log.line({ severity: 3, fac: "FAIL", message: `[thrd:${name}]: ${name}: Connect to ipv4#127.0.0.1:1 failed: Connection refused` });
  }
  log.connectedBut(["b:2/2"]);
  expect([log.failureOf("ssl://[::1]:1/1"), log.failureOf("b:2/2")]).toEqual([
    null,
    "b:2/2: Connect to ipv4#127.0.0.1:1 failed: Connection refused",
  ]);
});
