import type { OutgoingRecord } from "@cdckit/consumer";
import { expect, test } from "vitest";
import { DriverError, type MakeDriverError } from "./errors.ts";
import { refusedResource } from "./missing-right.ts";
import { WriteFailures } from "./write-failures.ts";

const makeError: MakeDriverError = (code, detail, options) => new DriverError(code, detail, options);
const codeOf = (error: unknown): unknown => (error as { readonly code?: unknown }).code;
const failures = new WriteFailures({
  makeError,
  reasonOf: (error) => (error as Error).message,
  refusedIn: (error) => refusedResource([codeOf(error)]),
  isUnreachable: (error) => codeOf(error) === -195,
  isFenced: (error) => codeOf(error) === 47,
});
const records = ["a", "b", "a"].map((topic): OutgoingRecord => ({ topic, key: null, value: null, headers: [] }));
const failure = (message: string, code?: number): Error => Object.assign(new Error(message), { code });

test("what was sent and not written has the topics, the reason and its cause", () => {
  const cause = failure("it broke");
  expect(failures.ofSend(cause, records)).toMatchObject({ message: "[send-failed] writing to a, b failed: it broke", cause });
  expect(failures.ofSend(failures.lateSend(5), records).message).toBe(
    "[send-failed] writing to a, b failed: no answer within 5 ms; it is not known whether the records were written",
  );
});

test("brokers that are away are the cause: the same records may be written once they are back", () => {
  const cause = failure("Broker transport failure", -195);
  const away = failures.ofSend(cause, records);
  expect(away).toMatchObject({ code: "send-failed", cause: { code: "brokers-unreachable", cause } });
  expect(failures.ofSend(failures.lateSend(5), records)).toMatchObject({
    cause: { code: "send-failed", cause: { code: "brokers-unreachable" } },
  });
  const unreachable = { code: "transaction-failed", cause: { code: "brokers-unreachable" } };
  expect(failures.ofTransaction(cause, records, "g")).toMatchObject({ ...unreachable, cause: { cause } });
  expect(failures.doubtfulCommit(cause)).toMatchObject({ ...unreachable, cause: { cause } });
  expect(failures.lateTransaction(records, 5)).toMatchObject(unreachable);
});

test("a right that is missing is named, once", () => {
  const refused = failures.ofSend(failure("Topic authorization failed.", 29), records);
  expect(refused.message).toBe(
    "[not-authorized] writing to a, b failed: Topic authorization failed. The user needs Describe and Write on the topics a, b",
  );
  expect(failures.ofSend(refused, records)).toBe(refused);
  expect(failures.ofTransaction(failure("no right", 53), records, "g").message).toMatch(
    /^\[not-authorized\] the transaction that writes to a, b failed and was aborted: no right\. The user needs Write on the transactional ids that begin with g$/,
  );
});

test("a transaction that another member's has ended is fenced, and every other failure is one of the transaction", () => {
  expect(failures.ofTransaction(failure("old epoch", 47), [], "g").message).toBe(
    "[fenced] another member writes for this partition now; nothing was written to no topic",
  );
  expect(failures.ofTransaction(failure("it broke"), records, "g").message).toBe(
    "[transaction-failed] the transaction that writes to a, b failed and was aborted: it broke",
  );
  const cause = failure("it broke");
  expect(failures.doubtfulCommit(cause)).toMatchObject({
    message: "[transaction-failed] the commit failed, and it is not known whether it was carried out: it broke",
    cause,
  });
  const late = failures.lateTransaction(records, 5);
  expect(failures.ofTransaction(late, records, "g")).toBe(late);
});
