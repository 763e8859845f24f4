import type { Shape } from "../envelope.ts";

/** Maxwell's rows, and its DDL, which has the statement in place of a row. */
export function recogniseMaxwell({ fields }: Shape): string | null {
  if (fields === null || !["database", "type", "ts"].every((name) => fields.includes(name)) || fields.includes("isDdl")) {
    return null;
  }
  if (fields.includes("table") && fields.includes("data")) {
    return "fields database, table, type, ts and data";
  }
  if (fields.includes("table") && fields.includes("old") && !fields.includes("sql")) {
    return "fields database, table, type, ts and old"; // what TiCDC deletes has no data
  }
  return fields.includes("sql") ? "fields database, type, ts and sql" : null;
}
