import { type ReadPlan, readEverything } from "../encoding/reader.ts";
import { type Type, withoutNull } from "../encoding/type.ts";

/**
 * What Debezium's ByLogicalTableRouter, and the router that followed it, add to keys where the rows of several tables, or of several
 * sources, share a topic: compaction must not take one's row for another's. They are no columns; events name their table themselves.
 */
const routerFields: readonly string[] = ["__dbz__physicalTableIdentifier", "__dbz__sourceIdentifier"];

/** How keys are read, whoever wrote them: without what routers have added. */
export const keyPlan: ReadPlan = Object.freeze({ ...readEverything, skip: routerFields });

/** The type of the columns in a key of this type. */
export function keyColumnsOf(type: Type): Type {
  const record = withoutNull(type);
  if (record.kind !== "record") {
    return type;
  }
  const fields = record.fields.filter(({ name }) => !routerFields.includes(name));
  return fields.length === record.fields.length ? type : { ...record, fields };
}
