import type { Shape } from "../envelope.ts";
import { isBlock } from "../source.ts";

/**
 * Whether a source block has the names of Debezium's: `connector`, `version` beside `name`, or `db`. Rows of applications have columns op and
 * source as well, and what is in theirs is anything. Where no schema states the names, values tell.
 */
export function hasSourceNames({ fieldsOf }: Pick<Shape, "fieldsOf">): boolean {
  const names = fieldsOf("source");
  return names === null || names.includes("connector") || names.includes("db") || (names.includes("version") && names.includes("name"));
}

/** Whether what these names stand for is text, as it is in all that Debezium writes. */
export function isSourceBlock(source: unknown): boolean {
  return (
    isBlock(source) &&
    (typeof source["connector"] === "string" ||
      typeof source["db"] === "string" ||
      (typeof source["version"] === "string" && typeof source["name"] === "string"))
  );
}
