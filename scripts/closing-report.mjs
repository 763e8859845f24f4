import { constants } from "node:os";
import process from "node:process";

/** Signals that end a run. vitest listens to the first two, and ends the process a moment later. */
const signals = /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"]);

/** Prints the closing line of `npm test` as the last thing of this process, however it ends. */
export class ClosingReport {
  /** @type {import("./vitest-reporter.mjs").CountingReporter | null} */
  #reporter = null;
  #isOver = false;
  /** @type {string | null} */
  #signal = null;

  constructor() {
    process.once("exit", () => this.#print());
    for (const signal of signals) {
      process.once(signal, () => {
        this.#signal ??= signal;
        process.exitCode ??= 128 + constants.signals[signal];
        setTimeout(() => process.exit(), 10); // after vitest, which shows the cursor again
      });
    }
  }

  /**
   * Tests run from now on. What cannot be set up before fails.
   * @param {import("./vitest-reporter.mjs").CountingReporter} reporter
   */
  begin(reporter) {
    this.#reporter = reporter;
  }

  /** All tests have run, and the caller has the rest to say. */
  end() {
    this.#isOver = true;
  }

  #print() {
    if (this.#reporter !== null && this.#signal !== null && !this.#isOver) {
      this.#reporter.noteInterrupted(this.#signal);
      const { skippedLines, summaryLines, retriedLines, failedLines } = this.#reporter;
      console.log([...skippedLines, ...summaryLines, ...retriedLines, ...failedLines].join("\n"));
      this.#isOver = true;
    }
    console.log(this.#reporter !== null && this.#isOver ? this.#reporter.closingLine : "0 passed, 1 failed, 0 skipped");
  }
}
