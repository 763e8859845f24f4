import type { Operation } from "../../event.ts";

/** Debezium lower-cases codes when it reads them back, so both spellings are legal. */
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
