import "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Why a whole suite is skipped: printed by `npm test` for each of its tests. */
    skipReason?: string;
    /** What a test has to say beside having passed: `npm test` prints it at the end. */
    summary?: string;
  }
}
