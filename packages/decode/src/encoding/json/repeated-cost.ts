import { conversionFor } from "../../values/conversion-for.ts";
import type { Type } from "../type.ts";
import type { ConvertContext } from "./convert.ts";

/** The cost of making a value of another kind than JSON has, in about nanoseconds. */
const convertedCost = 300;
/** The cost of decoding base64 into bytes. A conversion may add its own cost. */
const bytesCost = 300;

/**
 * The additional cost of the most expensive value that a message can have any number of: in lists and maps, and in records that contain
 * themselves. A value that occurs once in a record is bounded by its schema.
 */
export function repeatedCost(type: Type, context: ConvertContext): number {
  const open = new Set<Type>();
  const seen = { once: new Set<Type>(), repeated: new Set<Type>() };
  let max = 0;
  const visit = (part: Type, isRepeated: boolean): void => {
    const repeats = isRepeated || open.has(part);
    const known = repeats ? seen.repeated : seen.once;
    if (known.has(part)) {
      return;
    }
    known.add(part);
    max = repeats ? Math.max(max, ownCost(part, context)) : max;
    open.add(part);
    for (const inner of partsOf(part)) {
      visit(inner, repeats || part.kind === "array" || part.kind === "map");
    }
    open.delete(part);
  };
  visit(type, false);
  return max;
}

function ownCost(type: Type, { values, parseJson }: ConvertContext): number {
  const isConverted = type.semantic !== undefined && conversionFor(type.semantic, values, parseJson) !== null;
  return (isConverted ? convertedCost : 0) + (type.kind === "bytes" || type.kind === "fixed" ? bytesCost : 0);
}

function partsOf(type: Type): readonly Type[] {
  switch (type.kind) {
    case "array":
      return [type.items];
    case "map":
      return type.keys === null ? [type.values] : [type.keys, type.values];
    case "record":
      return type.fields.map((field) => field.type);
    case "union":
      return type.branches;
    default:
      return [];
  }
}
