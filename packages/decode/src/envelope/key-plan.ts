import { type ReadPlan, readEverything } from "../encoding/reader.ts";
import { type Type, withoutNull } from "../encoding/type.ts";
import { withoutCellTypes } from "./cell-types.ts";

/**
 * The fields that Debezium's ByLogicalTableRouter, and the router that replaced it, add to keys if rows of several tables or sources share
 * a topic, so that compaction does not mix up their rows. They are not columns of the table, and events name their table anyway.
 */
const routerFields: readonly string[] = ["__dbz__physicalTableIdentifier", "__dbz__sourceIdentifier"];

/** How keys of all writers are read: without the fields that routers have added. */
export const keyPlan: ReadPlan = Object.freeze({ ...readEverything, skip: routerFields });

/** The same where a hint says what a column means: a key has columns of the row. */
export const hintedKeyPlan: ReadPlan = Object.freeze({ ...keyPlan, rows: "self" });

/** The type of the key's columns, without the fields that routers have added, and without the wrappers of some connectors of Debezium. */
export function keyColumnsOf(type: Type): Type {
  const record = withoutNull(type);
  if (record.kind !== "record") {
    return type;
  }
  const fields = record.fields.filter(({ name }) => !routerFields.includes(name));
  const columns = withoutCellTypes(fields.length === record.fields.length ? record : { ...record, fields });
  return columns === record ? type : columns;
}
