/**
 * @typedef {"java-missing" | "java-too-old" | "maven-missing" | "maven-failed" | "jar-mismatch" | "postgres-missing" |
 *   "mariadb-missing" | "redis-missing" | "requirements-missing" | "process-died" | "sql-failed" | "not-ready" | "not-running" | "connector-failed" | "usage" | "interrupted"} StackErrorCode
 */

/** What went wrong with the local stack, in a sentence that says what to do about it. */
export class StackError extends Error {
  /** @override */
  name = "StackError";

  /**
   * @param {StackErrorCode} code
   * @param {string} detail
   * @param {ErrorOptions} [options]
   */
  constructor(code, detail, options) {
    super(`[${code}] ${detail}`, options);
    this.code = code;
  }
}

/** Whether an error says that something is missing on this machine, so that a test is skipped and not failed. @param {unknown} error */
export function isMissingRequirement(error) {
  return error instanceof StackError && missing.has(error.code);
}

/** @type {ReadonlySet<StackErrorCode>} */
const missing = new Set(["java-missing", "java-too-old", "maven-missing", "postgres-missing", "mariadb-missing", "redis-missing"]);
