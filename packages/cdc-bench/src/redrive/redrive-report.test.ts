import { expect, test } from "vitest";
import { redrivePhase } from "./redrive-report.ts";
import { RedriveTally } from "./redrive-tally.ts";

test("the progress of a dry run does not say that anything was written", () => {
  const tally = new RedriveTally();
  tally.redriven = 2_970;
  expect(redrivePhase({ deadLetterTopic: "orders.dead", dryRun: false, tally })).toBe("redriving orders.dead: 2,970 written");
  expect(redrivePhase({ deadLetterTopic: "orders.dead", dryRun: true, tally })).toBe("reading orders.dead: 2,970 would be redriven");
});
