import type { Environment } from "../report/environment.ts";
import type { ProfileResult } from "./profile-result.ts";
import type { Verdict } from "../verdict/verdict.ts";

/**
 * What every command that measures writes with `--json`: `schema/result.schema.json` is its published form. The fields of a command stand
 * beside these. Durations end in `Ms`, `Us` or `Ns`, sizes in `Bytes`, rates in `PerSecond`.
 */
export interface BenchResult extends Verdict {
  /** The version of this form of results: a reader refuses others. */
  readonly schemaVersion: 1;
  /** The command that measured. */
  readonly command: string;
  /** ISO 8601. */
  readonly startedAt: string;
  /** Milliseconds from the start to the end. */
  readonly elapsedMs: number;
  /** Whether the run was interrupted or ended early: what is there is not all of it. */
  readonly aborted: boolean;
  /** The machine, Node, and the versions of what was measured. */
  readonly environment: Environment;
  /** Every setting that the figures depend on, defaults included. Holds no secrets. */
  readonly settings: Readonly<Record<string, unknown>>;
  /** How it was measured, a sentence each: printed at the foot of every report. */
  readonly rules: readonly string[];
  /** What to know about these figures: what was left out, what was noisy, and why. */
  readonly notes: readonly string[];
  /** Only with `--profile`. */
  readonly profile?: ProfileResult;
}
