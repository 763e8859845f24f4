import { existsSync } from "node:fs";
import process from "node:process";
import { describe, expect, test } from "vitest";
import { withKafka } from "../integration/stack.ts";
import { runChaos } from "./chaos.ts";
import { runPipeChaos } from "./pipe-chaos.ts";
import { runRecreatedChaos } from "./recreated-chaos.ts";

const isAsked = process.env["CHAOS_PLANTED"] === "1";
const isBuilt = existsSync(new URL("../../packages/kafkajs/dist/index.js", import.meta.url));
const seed = Number(process.env["CHAOS_SEED"] ?? 1);
const log = process.env["CHAOS_VERBOSE"] === undefined ? {} : { log: (line: string) => console.error(line) };

const skipReason = isAsked ? await whyNot() : "takes minutes: CHAOS_PLANTED=1 runs it";
const meta = skipReason === null ? {} : { skipReason };

interface Planted {
  readonly bug: string;
  /** What the chaos says of it. */
  readonly says: RegExp;
  readonly run: (bug: string) => Promise<{ readonly violations: readonly string[] }>;
}

/** Each is put around the driver of the members, or its client, by `planted-bugs.mjs`. */
const planted: readonly Planted[] = [
  {
    bug: "holds every partition while one is at work",
    says: /a record of partition \d begins to wait .* did not go on/,
    run: (bug) => runChaos({ seed, minutes: 0.5, faults: ["hold"], bug, ...log }),
  },
  {
    bug: "keeps connections that do not answer",
    says: /not every partition was at work \d+ ms after connections had died/,
    run: (bug) => runChaos({ seed, minutes: 0.1, faults: ["dead connections"], bug, ...log }),
  },
  {
    bug: "ignores its lease",
    says: /started \d+ records in \d+ turns, from \S+ on, after their partitions had been assigned to another member/,
    run: (bug) => runChaos({ seed, minutes: 1, faults: ["freeze"], bug, ...log }),
  },
  {
    bug: "takes a recreated topic for the one before",
    says: /were never handled|nothing moved|is at/,
    run: (bug) => runRecreatedChaos({ seed, bug, ...log }),
  },
  {
    bug: "commits behind a transaction what was handled before it",
    says: /went back|in the output twice/,
    run: (bug) => runPipeChaos({ seed, seconds: 30, bug, ...log }),
  },
];

describe.skipIf(skipReason !== null)("a bug that the consumer has had is found by the chaos", () => {
  test.for(planted)("$bug", { timeout: 400_000, meta }, async ({ bug, says, run }, { task }) => {
    const violations = await run(bug).then(
      (report) => report.violations,
      (error: unknown) => [error instanceof Error ? error.message : String(error)],
    );
    log.log?.(violations.join("\n"));
    task.meta.summary = `${bug}: ${violations.find((violation) => says.test(violation)) ?? "not found"}`;
    expect(violations.join("\n")).toMatch(says);
  });
});

async function whyNot(): Promise<string | null> {
  const found = await withKafka();
  return found.skip === false ? (isBuilt ? null : "the packages are not built: npm run build") : found.skip;
}
