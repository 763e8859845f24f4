/**
 * vitest's own report, and after it each skipped test with its reason. What was counted is told by `closingLine`, which the caller prints
 * when all else is said.
 */
import { DefaultReporter } from "vitest/node";

/**
 * @typedef {import("vitest/node").TestModule} TestModule
 * @typedef {import("vitest/node").TestCase} TestCase
 */

export class CountingReporter extends DefaultReporter {
  #passed = 0;
  #failed = 0;
  /** @type {{ name: string, file: string, reason: string }[]} */
  #skipped = [];
  /** @type {string[]} */
  #summaries = [];
  /** @type {Record<string, "passed" | "failed">} */
  #results = {};

  /**
   * @override
   * @param {readonly TestModule[]} modules
   * @param {readonly import("vitest").SerializedError[]} unhandledErrors
   * @param {import("vitest/node").TestRunEndReason} reason
   */
  onTestRunEnd(modules, unhandledErrors, reason) {
    super.onTestRunEnd(modules, unhandledErrors, reason);
    for (const module of modules) {
      this.#countModule(module);
    }
    this.#failed += unhandledErrors.length; // an error outside of any test is nobody's pass
  }

  /** @param {TestModule} module */
  #countModule(module) {
    const tests = [...module.children.allTests()];
    for (const test of tests) {
      this.#countTest(test);
    }
    const failedSuites = [...module.children.allSuites()].filter((suite) => suite.errors().length > 0);
    // A file that does not load, or a hook that throws: its tests did not run, and must not look as if they were not there.
    this.#failed += failedSuites.length + (module.errors().length > 0 ? 1 : 0);
  }

  /** @param {TestCase} test */
  #countTest(test) {
    const result = test.result();
    const { summary } = /** @type {Record<string, unknown>} */ (test.meta());
    if (typeof summary === "string") {
      this.#summaries.push(summary);
    }
    if (result.state === "passed" || result.state === "failed") {
      this.#results[`${test.module.relativeModuleId}: ${test.name}`] = result.state;
    }
    if (result.state === "passed") {
      this.#passed++;
    } else if (result.state === "failed") {
      this.#failed++;
    } else {
      const name = test.fullName.replace(reasonInName, "");
      this.#skipped.push({
        name,
        file: test.module.relativeModuleId,
        reason: (result.state === "skipped" ? result.note : undefined) ?? reasonOf(test),
      });
    }
  }

  /** Each skipped test, one a line. */
  get skippedLines() {
    return this.#skipped.map(({ file, name, reason }) => `skipped: ${file} > ${name}: ${reason}`);
  }

  /** What tests have to say beside having passed (`task.meta.summary`), one a line. */
  get summaryLines() {
    return this.#summaries;
  }

  /** What became of each test that ran, by its file and its name. */
  get results() {
    return this.#results;
  }

  get failed() {
    return this.#failed;
  }

  get closingLine() {
    return `${this.#passed} passed, ${this.#failed} failed, ${this.#skipped.length} skipped`;
  }
}

const reasonInName = / \(skipped: (.*?)\)(?= >|$)/;

/**
 * A whole suite is skipped before its tests can say why: the reason stands in `meta.skipReason` of a parent, or in its name.
 * @param {TestCase} test
 */
function reasonOf(test) {
  /** @type {TestCase | import("vitest/node").TestSuite | TestModule} */
  let at = test;
  for (; at.type !== "module"; at = at.parent) {
    const { skipReason: reason } = /** @type {Record<string, unknown>} */ (at.meta());
    if (typeof reason === "string") {
      return reason;
    }
  }
  const declared = reasonInName.exec(test.fullName)?.[1];
  if (declared !== undefined) {
    return declared;
  }
  return test.options.mode === "todo" ? "not written yet" : "no reason given: say it with `context.skip(reason)`";
}
