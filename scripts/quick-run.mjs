/** vitest with a limit of time: runs the tests of what changed, once or after each save. */
import { relative, resolve } from "node:path";
import { createVitest } from "vitest/node";
import { NearestFirst } from "./nearest-first.mjs";
import { repositoryRoot } from "./set-up.mjs";
import { CountingReporter } from "./vitest-reporter.mjs";

/** @typedef {import("./related-tests.mjs").RelatedTest} RelatedTest */

/**
 * @typedef {object} QuickRunOptions
 * @property {(changed: readonly string[]) => readonly RelatedTest[]} testsOf the tests of changed files, the nearest first
 * @property {boolean} watch whether it goes on after the first run, with the tests of each file that is saved
 * @property {number} limitMs after this time no further test of a run begins
 */

export class QuickRun {
  reporter = new CountingReporter();
  /** Whether the time was up before all tests had run. */
  isCut = false;
  /** Files that were saved, and whose tests have not run to the end since. */
  #saved = new Set();
  /** @type {NodeJS.Timeout | undefined} */
  #timer;
  #isRunning = false;
  /** @type {QuickRunOptions} */
  #options;
  /** @type {import("vitest/node").Vitest | undefined} */
  #vitest;

  /** @param {QuickRunOptions} options */
  constructor(options) {
    this.#options = options;
  }

  /** @param {readonly RelatedTest[]} tests */
  async start(tests) {
    const { watch } = this.#options;
    const vitest = await createVitest("test", {
      watch,
      reporters: [this.reporter, { onTestRunStart: () => this.#begin(), onTestRunEnd: (_modules, _errors, reason) => this.#end(reason) }],
      sequence: { sequencer: NearestFirst },
      // The file that was saved, not what vitest has loaded so far, says which tests run.
      watchTriggerPatterns: [{ pattern: watchedFile, testsToRun: (path) => this.#testsOfSaved(path) }],
    });
    this.#vitest = vitest;
    await vitest.standalone();
    NearestFirst.tests = tests;
    const specifications = tests.flatMap(({ file }) => vitest.getModuleSpecifications(resolve(repositoryRoot, file)));
    await (watch ? vitest.rerunTestSpecifications(specifications) : vitest.runTestSpecifications(specifications));
  }

  #begin() {
    this.#isRunning = true;
    this.isCut = false;
    this.#timer = setTimeout(() => {
      this.isCut = true;
      this.#cancel();
    }, this.#options.limitMs);
  }

  /** @param {import("vitest/node").TestRunEndReason} reason */
  #end(reason) {
    clearTimeout(this.#timer);
    this.#isRunning = false;
    if (reason !== "interrupted" || this.isCut) {
      this.#saved.clear();
    }
  }

  /**
   * A run that is under way when a file is saved is cut: what it was for runs again, together with the tests of the new file.
   * @param {string} path
   */
  #testsOfSaved(path) {
    this.#saved.add(relative(repositoryRoot, path));
    if (this.#isRunning) {
      this.#cancel();
    }
    NearestFirst.tests = this.#options.testsOf([...this.#saved]);
    return NearestFirst.tests.map(({ file }) => file);
  }

  /** As if a user pressed q: running tests end, and no other begins. */
  #cancel() {
    void this.#vitest?.cancelCurrentRun("keyboard-input");
  }
}

const watchedFile = /^(?!.*\/(?:node_modules|dist|\.[^/]+)\/).*$/;
