import type { Operation } from "../../event.ts";

/** The operation of a code. Debezium converts codes to lower case when it reads them, so both spellings are valid. */
export function operationOf(op: string): Operation | null {
  switch (op) {
    case "c":
    case "C":
      return "create";
    case "u":
    case "U":
      return "update";
    case "d":
    case "D":
      return "delete";
    case "r":
    case "R":
      return "read";
    default:
      return null;
  }
}
