import { expect, test } from "vitest";
import { exitCodes } from "../exit-codes.ts";
import { type Check, checkText, doctorExitCode, doctorJson } from "./doctor-report.ts";

const ok: Check = { name: "node", status: "ok", detail: "Node v20.19.0" };
const unreachable: Check = {
  name: "brokers",
  status: "problem",
  detail: "nobody there",
  advice: "start it",
  exitCode: exitCodes.connection,
};
const missing: Check = { name: "topic", status: "problem", detail: "no topic", advice: "name another", exitCode: exitCodes.tooFewMessages };

test("a check is a line, and one more with what to do if something is wrong", () => {
  expect(checkText(ok)).toBe("ok       node          Node v20.19.0\n");
  expect(checkText(unreachable)).toBe("PROBLEM  brokers       nobody there\n                       -> start it\n");
});

test("the first problem decides how the process ends", () => {
  expect(doctorExitCode([ok])).toBe(exitCodes.ok);
  expect(doctorExitCode([ok, unreachable, missing])).toBe(exitCodes.connection);
});

test("JSON says whether all is well, and what to do about each problem", () => {
  expect(doctorJson([ok, { name: "registry", status: "skipped", detail: "none given" }])).toMatchObject({ healthy: true });
  expect(doctorJson([unreachable])).toEqual({
    schemaVersion: 1,
    command: "doctor",
    healthy: false,
    checks: [{ name: "brokers", status: "problem", detail: "nobody there", advice: "start it" }],
  });
});
