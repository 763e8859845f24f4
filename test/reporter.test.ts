import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { pathToFileURL } from "node:url";
import { afterAll, describe, expect, test } from "vitest";

const root = join(import.meta.dirname, "..");
mkdirSync(join(root, ".cache"), { recursive: true });
const folder = mkdtempSync(join(root, ".cache", "reporter-"));

afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** Runs vitest on one test file with the reporter, as `npm test` does. */
function runWith(name: string, code: string): { readonly lines: readonly string[]; readonly failed: number } {
  writeFileSync(join(folder, `${name}.case.ts`), `import { describe, expect, test } from "vitest";\n${code}\n`);
  const reporterUrl = pathToFileURL(join(root, "scripts/vitest-reporter.mjs")).href;
  const script = `
    import { startVitest } from "vitest/node";
    import { CountingReporter } from ${JSON.stringify(reporterUrl)};
    const reporter = new CountingReporter();
    const options = { root: ${JSON.stringify(folder)}, config: false, include: ["${name}.case.ts"], watch: false, reporters: [reporter] };
    const vitest = await startVitest("test", [], options);
    await vitest.close();
    console.log([JSON.stringify(reporter.results), ...reporter.unproven, ...reporter.skippedLines, ...reporter.summaryLines, ...reporter.retriedLines, ...reporter.failedLines, reporter.failed, reporter.closingLine].join("\\n"));
    process.exit(0);`;
  const { stdout } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { cwd: root, encoding: "utf8" });
  const lines = stdout.trimEnd().split("\n");
  return { lines, failed: Number(lines.at(-2)) };
}

describe("the closing line of npm test", () => {
  test("says what had run when a signal ended the run, which is a failure", () => {
    const name = "interrupted";
    writeFileSync(
      join(folder, `${name}.case.ts`),
      `import { test } from "vitest";
      test("a", () => {}); test("no Java", (context) => context.skip("no Java")); test("waits", async ({ annotate }) => { await annotate("begun"); await new Promise(() => {}); }, 60_000); test("b", () => {});`,
    );
    const url = (file: string): string => JSON.stringify(pathToFileURL(join(root, "scripts", file)).href);
    const script = `
      import { startVitest } from "vitest/node";
      import { ClosingReport } from ${url("closing-report.mjs")};
      import { CountingReporter } from ${url("vitest-reporter.mjs")};
      class Interrupting extends CountingReporter {
        // An annotation comes after all results before it. That a test begins may be told when it ends: vitest's throttle can lose a call.
        onTestCaseAnnotate() {
          setTimeout(() => process.kill(process.pid, "SIGTERM"), 0);
        }
      }
      const report = new ClosingReport();
      const reporter = new Interrupting();
      report.begin(reporter);
      const options = { root: ${JSON.stringify(folder)}, config: false, include: ["${name}.case.ts"], watch: false, reporters: [reporter] };
      await startVitest("test", [], options);
      report.end();`;
    const { stdout, status } = spawnSync(process.execPath, ["--input-type=module", "-e", script], { cwd: root, encoding: "utf8" });
    expect(stdout.trimEnd().split("\n").slice(-3)).toEqual([
      "skipped: interrupted.case.ts > no Java: no Java",
      "failed: the run: ended by SIGTERM when 0 of 1 files were done",
      "1 passed, 1 failed, 1 skipped",
    ]);
    expect(status).toBe(143);
  });

  test("counts what passed, failed and was skipped, and stands alone at the end", () => {
    const { lines, failed } = runWith(
      "counts",
      `test("a", () => {}); test("b", () => expect(1).toBe(2)); test("c", (context) => context.skip("no Java"));`,
    );
    expect(lines.at(-1)).toBe("1 passed, 1 failed, 1 skipped");
    expect(failed).toBe(1);
  });

  test("is no pass for who asked for a file whose tests were all skipped", () => {
    const skipped = runWith("all-skipped", `test("runs on a broker", (context) => context.skip("no Java"));`);
    expect(skipped.lines.filter((line) => line.startsWith("not run"))).toEqual([
      "not run: all-skipped.case.ts: all of its tests were skipped, see above",
      "not run: no test has passed",
    ]);
    const some = runWith("some-skipped", `test("a", () => {}); test("runs on a broker", (context) => context.skip("no Java"));`);
    expect(some.lines.join("\n")).not.toContain("not run");
  });

  test("has one result for variants of one name, which is failed if one of them is", () => {
    const { lines } = runWith(
      "variants",
      `describe.each([1, 2])("of %d", (one) => test("is two", () => expect(one).toBe(2))); describe.each([2, 2])("of %d", (one) => test("is 2", () => expect(one).toBe(2)));`,
    );
    expect(lines).toContain('{"variants.case.ts: is two":"failed","variants.case.ts: is 2":"passed"}');
  });

  test("comes after each skipped test with its reason", () => {
    const { lines } = runWith("reasons", `test("runs on a broker", (context) => context.skip("no Java on this machine"));`);
    expect(lines.at(-3)).toBe("skipped: reasons.case.ts > runs on a broker: no Java on this machine");
  });

  test("comes after one line for a file whose tests are skipped for one reason, and are many", () => {
    const { lines } = runWith("many", `test.for([1, 2, 3, 4, 5, 6])("%s runs on a broker", (_, context) => context.skip("no Java"));`);
    expect(lines.at(-3)).toBe("skipped: many.case.ts > 6 tests: no Java");
    expect(lines.at(-1)).toBe("0 passed, 0 failed, 6 skipped");
  });

  test("comes after each failed test with its error", () => {
    const { lines } = runWith("failures", `describe("sums", () => { test("are right", () => expect(1).toBe(2)); });`);
    expect(lines.at(-3)).toMatch(/^failed: failures\.case\.ts > sums > are right: expected 1 to be 2/);
  });

  test("comes after what tests have to say of what they did", () => {
    const { lines } = runWith("summaries", `test("counts", ({ task }) => { task.meta.summary = "12 kills"; });`);
    expect(lines.at(-3)).toBe("12 kills");
  });

  test("comes after each test that passed at another attempt, with its first error", () => {
    const { lines, failed } = runWith(
      "retried",
      `let attempts = 0; test("a socket opens", { retry: 1 }, () => expect(++attempts).toBe(2)); test("sums", () => {});`,
    );
    expect(lines.at(-3)).toMatch(/^passed at another attempt: retried\.case\.ts > a socket opens: expected 1 to be 2/);
    expect([lines.at(-1), failed]).toEqual(["2 passed, 0 failed, 0 skipped", 0]);
  });

  test("counts tests that need another attempt as failed where they are more than three", () => {
    const { lines, failed } = runWith(
      "chance",
      `const attempts = {}; test.for([1, 2, 3, 4, 5])("%s", { retry: 1 }, (n) => expect((attempts[n] = (attempts[n] ?? 0) + 1)).toBe(2));`,
    );
    expect([lines.at(-1), failed]).toEqual(["3 passed, 2 failed, 0 skipped", 2]);
  });

  test("takes the reason of a skipped suite from its meta", () => {
    const { lines } = runWith(
      "suites",
      `describe.skip("a broker", { meta: { skipReason: "no Java" } }, () => { test("answers", () => {}); });`,
    );
    expect(lines.at(-3)).toBe("skipped: suites.case.ts > a broker > answers: no Java");
  });

  test("takes the reason of a skipped suite from its name", () => {
    const { lines } = runWith("names", `describe.skip("a broker (skipped: no Java)", () => { test("answers", () => {}); });`);
    expect(lines.at(-3)).toBe("skipped: names.case.ts > a broker > answers: no Java");
  });

  test("counts a file that does not load as failed", () => {
    const { lines, failed } = runWith("broken", `throw new Error("not loadable");`);
    expect(lines.at(-1)).toBe("0 passed, 1 failed, 0 skipped");
    expect(lines.at(-3)).toBe("failed: broken.case.ts: not loadable");
    expect(failed).toBe(1);
  });

  test("counts an error outside of every test as failed", () => {
    const { failed } = runWith(
      "unhandled",
      `test("a", async () => { setTimeout(() => { throw new Error("late"); }, 0); await new Promise((done) => setTimeout(done, 50)); });`,
    );
    expect(failed).toBe(1);
  });

  test("counts a hook that throws as failed", () => {
    const { failed } = runWith(
      "hooks",
      `import { beforeAll } from "vitest"; describe("s", () => { beforeAll(() => { throw new Error("no"); }); test("a", () => {}); });`,
    );
    expect(failed).toBeGreaterThan(0);
  });
});
