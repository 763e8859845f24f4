import type { UnavailableTests } from "../../values/unavailable.ts";
import type { Type } from "../type.ts";

/** Whether a column, as JSON carries it before any conversion, holds Debezium's placeholder for an unavailable value. */
export function jsonColumnTest(kind: Type["kind"], { text, base64, array, map }: UnavailableTests): (value: unknown) => boolean {
  const isList = (value: unknown): boolean => Array.isArray(value) && array(value);
  const isMap = (value: unknown): boolean => typeof value === "object" && value !== null && !Array.isArray(value) && map(value);
  switch (kind) {
    case "string":
    case "enum":
      return (value) => typeof value === "string" && text(value);
    case "bytes":
    case "fixed":
      return (value) => typeof value === "string" && base64(value);
    case "array":
      return isList;
    case "map":
      return isMap;
    case "any":
    case "union":
      return (value) => (typeof value === "string" ? text(value) || base64(value) : isList(value) || isMap(value));
    default:
      return () => false;
  }
}
