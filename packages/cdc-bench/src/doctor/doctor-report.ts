import { exitCodes, type ExitCode } from "../exit-codes.ts";
import { printable } from "../report/text-width.ts";

/** What one look of the doctor found. */
export interface Check {
  readonly name: string;
  /** A warning is no problem for the process, and may be one for the rows. */
  readonly status: "ok" | "warning" | "problem" | "skipped";
  readonly detail: string;
  /** What to do about a problem. */
  readonly advice?: string;
  /** What the process ends with if this is the first problem. */
  readonly exitCode?: ExitCode;
}

const marks: Readonly<Record<Check["status"], string>> = { ok: "ok", warning: "WARNING", problem: "PROBLEM", skipped: "-" };

/** One line for each check, and one more with what to do if something is wrong. */
export function checkText({ name, status, detail, advice }: Check): string {
  const line = `${marks[status].padEnd(7)}  ${name.padEnd(12)}  ${printable(detail)}\n`;
  return advice === undefined ? line : `${line}${" ".repeat(23)}-> ${printable(advice)}\n`;
}

export function doctorJson(checks: readonly Check[]): Readonly<Record<string, unknown>> {
  const healthy = checks.every(({ status }) => status !== "problem");
  return { schemaVersion: 1, command: "doctor", healthy, checks: checks.map(({ exitCode: _, ...check }) => check) };
}

/** The first problem decides: what comes after it often only follows from it. */
export function doctorExitCode(checks: readonly Check[]): ExitCode {
  return checks.find(({ status }) => status === "problem")?.exitCode ?? exitCodes.ok;
}
