import { type Field, type Type, UNAVAILABLE } from "@cdckit/decode";

/** The type of rows that came without a schema, as far as the rows that were seen show it. A column that some lack may be absent: null. */
export function inferredType(rows: readonly unknown[]): Type {
  return rows.length > 0 && rows.every(isPlainObject) ? recordOf(rows) : mergedType(rows);
}

function recordOf(rows: readonly Readonly<Record<string, unknown>>[]): Type {
  const names = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const fields = names.map((name): Field => ({ name, type: mergedType(rows.map((row) => (Object.hasOwn(row, name) ? row[name] : null))) }));
  return { kind: "record", name: null, fields };
}

function mergedType(values: readonly unknown[]): Type {
  const kinds = new Set(values.filter((value) => value !== UNAVAILABLE).map(kindOf));
  const isNullable = kinds.delete("null");
  if (kinds.has("double") || kinds.has("long")) {
    kinds.delete("int"); // the wider kind holds it
  }
  const [only, ...more] = [...kinds];
  if (only === undefined || more.length > 0 || only === "any") {
    return { kind: "any" };
  }
  const type: Type = { kind: only as "boolean" | "int" | "long" | "double" | "string" | "bytes" };
  return isNullable ? { kind: "union", branches: [{ kind: "null" }, type] } : type;
}

function kindOf(value: unknown): "null" | "boolean" | "int" | "long" | "double" | "string" | "bytes" | "any" {
  switch (typeof value) {
    case "number":
      return Number.isInteger(value) ? "int" : "double";
    case "bigint":
      return "long";
    case "boolean":
    case "string":
      return typeof value as "boolean" | "string";
    default:
      return value === null || value === undefined ? "null" : Buffer.isBuffer(value) ? "bytes" : "any";
  }
}

function isPlainObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value) && !Buffer.isBuffer(value);
}
