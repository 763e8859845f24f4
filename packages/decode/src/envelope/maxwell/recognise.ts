import type { Shape } from "../envelope.ts";

/** Recognises Maxwell's rows, encrypted or not, and its DDL, which has a statement in place of a row. */
export function recogniseMaxwell({ fields }: Shape): string | null {
  if (fields?.length === 1 && fields[0] === "encrypted") {
    return "the field encrypted alone";
  }
  if (fields === null || !["database", "type", "ts"].every((name) => fields.includes(name)) || fields.includes("isDdl")) {
    return null;
  }
  if (fields.includes("table") && fields.includes("data")) {
    return "fields database, table, type, ts and data";
  }
  if (fields.includes("table") && fields.includes("old") && !fields.includes("sql")) {
    return "fields database, table, type, ts and old"; // TiCDC's deletes have no data
  }
  if (fields.includes("table") && fields.includes("encrypted")) {
    return "fields database, table, type, ts and encrypted";
  }
  return fields.includes("sql") ? "fields database, type, ts and sql" : null;
}
