/**
 * vitest's own report, and after it each skipped test with its reason, and each that failed. What was counted is told by `closingLine`, which the caller prints
 * when all else is said.
 */
import { stripVTControlCharacters } from "node:util";
import { DefaultReporter } from "vitest/node";

/** More tests of a file than these, skipped for one reason, are one line. */
const maxNames = 5;
const maxErrorLength = 300;
/** More tests of a run than these may not need a second attempt: what fails so often is no chance. */
const maxRetried = 3;

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
  #failedLines = [];
  /** @type {string[]} */
  #retriedLines = [];
  /** @type {string[]} */
  #summaries = [];
  /** @type {Record<string, "passed" | "failed">} */
  #results = {};
  /** Of which files a test has run: one that does not load has none, and failed. @type {Set<string>} */
  #filesThatRan = new Set();
  /** How many files are to run. */
  #files = 0;

  /**
   * @override
   * @param {readonly import("vitest/node").TestSpecification[]} specifications
   */
  onTestRunStart(specifications) {
    super.onTestRunStart(specifications);
    this.#files = specifications.length;
  }

  /**
   * Counts what has ended so far, and the end itself as a failure: a run that was cut off is nobody's pass.
   * @param {string} signal
   */
  noteInterrupted(signal) {
    const modules = this.ctx?.state.getTestModules() ?? []; // there is no ctx before vitest has started
    for (const module of modules) {
      this.#countModule(module);
    }
    const ended = modules.filter((module) => ["passed", "failed", "skipped"].includes(module.state())).length;
    this.#failed++;
    this.#failedLines.push(`failed: the run: ended by ${signal} when ${ended} of ${this.#files} files were done`);
  }

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
    for (const error of unhandledErrors) {
      this.#noteFailure("outside of any test", [error]);
    }
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
    for (const suite of failedSuites) {
      this.#noteFailure(`${module.relativeModuleId} > ${suite.fullName}`, suite.errors());
    }
    if (module.errors().length > 0) {
      this.#noteFailure(module.relativeModuleId, module.errors());
    }
  }

  /**
   * @param {string} where
   * @param {readonly { readonly message: string }[]} errors
   */
  #noteFailure(where, errors) {
    this.#failedLines.push(`failed: ${where}: ${firstLineOf(errors)}`);
  }

  /** @param {TestCase} test */
  #notePassed(test) {
    const { flaky = false } = test.diagnostic() ?? {};
    if (flaky) {
      const where = `${test.module.relativeModuleId} > ${test.fullName}`;
      this.#retriedLines.push(`passed at another attempt: ${where}: ${firstLineOf(test.result().errors ?? [])}`);
    }
    if (flaky && this.#retriedLines.length > maxRetried) {
      this.#failed++;
      this.#failedLines.push(
        `failed: ${test.module.relativeModuleId} > ${test.fullName}: more than ${maxRetried} tests needed another attempt`,
      );
    } else {
      this.#passed++;
    }
  }

  /** @param {TestCase} test */
  #countTest(test) {
    const result = test.result();
    if (result.state === "pending") {
      return; // the run was ended before the test
    }
    const { summary } = /** @type {Record<string, unknown>} */ (test.meta());
    if (typeof summary === "string") {
      this.#summaries.push(summary);
    }
    if (result.state === "passed" || result.state === "failed") {
      const key = `${test.module.relativeModuleId}: ${test.name}`;
      // Variants of describe.each have one name: it has passed if all of them have.
      this.#results[key] = this.#results[key] === "failed" ? "failed" : result.state;
      this.#filesThatRan.add(test.module.relativeModuleId);
    }
    if (result.state === "passed") {
      this.#notePassed(test);
    } else if (result.state === "failed") {
      this.#failed++;
      this.#noteFailure(`${test.module.relativeModuleId} > ${test.fullName}`, result.errors);
    } else {
      const name = test.fullName.replace(reasonInName, "");
      this.#skipped.push({
        name,
        file: test.module.relativeModuleId,
        reason: (result.state === "skipped" ? result.note : undefined) ?? reasonOf(test),
      });
    }
  }

  /** Each skipped test, one a line; a file whose tests are skipped for one reason, and are many, is one line. */
  get skippedLines() {
    /** @type {Map<string, string[]>} */
    const byReason = new Map();
    for (const { file, name, reason } of this.#skipped) {
      const key = `${file}\0${reason}`;
      byReason.set(key, [...(byReason.get(key) ?? []), name]);
    }
    return [...byReason].flatMap(([key, names]) => {
      const [file, reason] = key.split("\0");
      return names.length > maxNames
        ? [`skipped: ${file} > ${names.length} tests: ${reason}`]
        : names.map((name) => `skipped: ${file} > ${name}: ${reason}`);
    });
  }

  /** Each failed test with the first line of its error, one a line. They stand at the end: what is cut off is the beginning. */
  get failedLines() {
    return this.#failedLines;
  }

  /** Each test that failed first and passed when it was tried again (`TEST_RETRIES`), with its first error, one a line. */
  get retriedLines() {
    return this.#retriedLines;
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

  /** What a run that was asked for its files has not shown, a sentence each: a file whose tests were all skipped, or that nothing passed. */
  get unproven() {
    const skipped = new Set(this.#skipped.map(({ file }) => file).filter((file) => !this.#filesThatRan.has(file)));
    return [
      ...[...skipped].map((file) => `not run: ${file}: all of its tests were skipped, see above`),
      ...(this.#passed === 0 ? ["not run: no test has passed"] : []),
    ];
  }

  get closingLine() {
    return `${this.#passed} passed, ${this.#failed} failed, ${this.#skipped.length} skipped`;
  }
}

/** @param {readonly { readonly message: string }[]} errors */
function firstLineOf(errors) {
  const [first = ""] = stripVTControlCharacters(errors[0]?.message ?? "").split("\n");
  return first.slice(0, maxErrorLength);
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
