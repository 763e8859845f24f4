import type { Shape } from "../envelope.ts";
import { isBlock } from "../source.ts";

/**
 * Whether a source block has names of Debezium's source blocks: `connector`, `version` together with `name`, or `db`. User rows may have
 * columns op and source too, with any content. If no schema states the names, this is true, and `isSourceBlock` looks at the values.
 */
export function hasSourceNames({ fieldsOf }: Pick<Shape, "fieldsOf">): boolean {
  const names = fieldsOf("source");
  return names === null || names.includes("connector") || names.includes("db") || (names.includes("version") && names.includes("name"));
}

/** Whether the values under these names are text, as in every source block of Debezium. */
export function isSourceBlock(source: unknown): boolean {
  return (
    isBlock(source) &&
    (typeof source["connector"] === "string" ||
      typeof source["db"] === "string" ||
      (typeof source["version"] === "string" && typeof source["name"] === "string"))
  );
}
