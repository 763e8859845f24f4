import type { Shape } from "../envelope.ts";

/** Recognises Maxwell's rows, and its DDL, which has a statement in place of a row. */
export function recogniseMaxwell({ fields }: Shape): string | null {
  if (fields === null || !["database", "type", "ts"].every((name) => fields.includes(name)) || fields.includes("isDdl")) {
    return null;
  }
  if (fields.includes("table") && fields.includes("data")) {
    return "fields database, table, type, ts and data";
  }
  if (fields.includes("table") && fields.includes("old") && !fields.includes("sql")) {
    return "fields database, table, type, ts and old"; // TiCDC's deletes have no data
  }
  return fields.includes("sql") ? "fields database, type, ts and sql" : null;
}
