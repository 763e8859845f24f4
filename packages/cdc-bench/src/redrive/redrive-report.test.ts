import { expect, test } from "vitest";
import { redriveJson, redrivePhase, redriveText } from "./redrive-report.ts";
import { RedriveTally } from "./redrive-tally.ts";

test("the progress of a dry run does not say that anything was written", () => {
  const tally = new RedriveTally();
  tally.redriven = 2_970;
  expect(redrivePhase({ deadLetterTopic: "orders.dead", dryRun: false, tally })).toBe("redriving orders.dead: 2,970 written");
  expect(redrivePhase({ deadLetterTopic: "orders.dead", dryRun: true, tally })).toBe("reading orders.dead: 2,970 would be redriven");
});

test("offsets of which nothing came are named: they may be records", () => {
  const tally = new RedriveTally();
  tally.unseen = 2;
  const report = { aborted: false, failure: null, dryRun: false, deadLetterTopic: "orders.dead", groupId: "g", to: null, tally };
  expect(redriveText(report)).toContain(
    "  2 offsets gave nothing: markers of transactions, or records that did not come; the same command looks again\n",
  );
  expect(redriveJson(report)).toMatchObject({ unseen: 2 });
});

test("a redrive that failed says what it has written, and that the same command goes on", () => {
  const tally = new RedriveTally();
  tally.redriven = 30;
  const report = { aborted: false, dryRun: false, deadLetterTopic: "orders.dead", groupId: "g", to: null, tally };
  const failed = { ...report, failure: new Error("the brokers are away") };
  expect(redriveText(failed)).toBe(
    "orders.dead: 30 of 30 records redriven\nprogress is kept by group g\nfailed: the same command goes on from here\n",
  );
  expect(redriveText({ ...failed, dryRun: true })).toContain("failed: the same command begins again\n");
  expect(redriveText({ ...report, failure: null })).not.toContain("the same command");
  expect([redriveJson(failed)["aborted"], redriveJson({ ...report, failure: null })["aborted"]]).toEqual([true, false]);
});
