import "vitest";

declare module "vitest" {
  interface TaskMeta {
    /** Why a whole suite is skipped: printed by `npm test` for each of its tests. */
    skipReason?: string;
  }
}
