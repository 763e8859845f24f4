import { readFileSync } from "node:fs";
import { basename } from "node:path";
import { BenchError } from "../bench-error.ts";
import type { DataSet, Row } from "./data-sets.ts";
import type { Field, RecordShape, Shape } from "./shape.ts";

/** The rows of a JSON file: an array of objects, or one object a line. Their shape is what all of them have in common. */
export function readDataFile(file: string): DataSet {
  const rows = parseRows(file);
  if (rows.length === 0) {
    throw new BenchError("too-few-messages", `${file} has no rows: it needs an array of objects, or one object a line.`);
  }
  return { name: basename(file), title: `the rows of ${file}`, shape: shapeOfRows(rows, file), rows };
}

function parseRows(file: string): readonly Row[] {
  const text = readText(file);
  let rows: unknown;
  try {
    rows = text.trimStart().startsWith("[")
      ? JSON.parse(text)
      : text
          .split("\n")
          .filter((line) => line.trim() !== "")
          .map((line) => JSON.parse(line) as unknown);
  } catch (error) {
    throw new BenchError("usage", `${file} is not JSON: it needs an array of objects, or one object a line.`, { cause: error });
  }
  if (!Array.isArray(rows) || !rows.every(isRow)) {
    throw new BenchError("usage", `${file} holds something else than objects: it needs an array of objects, or one object a line.`);
  }
  return rows;
}

function readText(file: string): string {
  try {
    return readFileSync(file, "utf8");
  } catch (error) {
    const reason =
      (error as NodeJS.ErrnoException).code === "ENOENT" ? "there is no such file" : ((error as NodeJS.ErrnoException).code ?? "unknown");
    throw new BenchError("usage", `cannot read ${file}: ${reason}.`, { cause: error });
  }
}

function isRow(value: unknown): value is Row {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** What all rows have in common. `file` names the rows in errors. */
export function shapeOfRows(rows: readonly Row[], file: string): RecordShape {
  const names = new Set<string>();
  const shape = recordShape("Row", rows, file, names);
  return shape;
}

/** Avro and Protobuf name records and fields: letters, digits and underscores. */
const fieldName = /^[A-Za-z_]\w*$/;

function recordShape(name: string, rows: readonly Row[], file: string, names: Set<string>): RecordShape {
  names.add(name);
  const columns = [...new Set(rows.flatMap((row) => Object.keys(row)))];
  const fields = columns.map((column): Field => {
    if (!fieldName.test(column)) {
      throw new BenchError(
        "usage",
        `${file}: Avro and Protobuf cannot name a field ${JSON.stringify(column)}: they allow letters, digits and _.`,
      );
    }
    if (rows.some((row) => !Object.hasOwn(row, column))) {
      throw new BenchError(
        "usage",
        `${file}: not every object has ${JSON.stringify(column)}. Codecs with a schema need the same fields everywhere, or null.`,
      );
    }
    const values = rows.map((row) => row[column]);
    const present = values.filter((value) => value !== null);
    return { name: column, shape: shapeOf(present, column, file, names), nullable: present.length < values.length };
  });
  return { kind: "record", name, fields };
}

function shapeOf(values: readonly unknown[], column: string, file: string, names: Set<string>): Shape {
  if (values.every((value) => typeof value === "string")) {
    return { kind: "string" }; // also if every value is null
  }
  if (values.every((value) => typeof value === "boolean")) {
    return { kind: "boolean" };
  }
  if (values.every((value) => typeof value === "number")) {
    return { kind: numberKind(values) };
  }
  if (values.every((value) => Array.isArray(value))) {
    return { kind: "list", items: shapeOf((values as readonly (readonly unknown[])[]).flat(), column, file, names) };
  }
  if (values.every(isRow)) {
    return recordShape(freeName(column, names), values, file, names);
  }
  throw new BenchError(
    "usage",
    `${file}: ${JSON.stringify(column)} has values of several types. Codecs with a schema need one type for each field.`,
  );
}

// The largest long that avsc takes as a number.
const maxLong = 9_007_199_254_740_990;

function numberKind(values: readonly number[]): "int32" | "int64" | "double" {
  if (!values.every((value) => Number.isInteger(value) && Math.abs(value) <= maxLong)) {
    return "double";
  }
  return values.every((value) => (value | 0) === value) ? "int32" : "int64";
}

/** A name for the record of a column that no other record has: Avro and Protobuf define each name once. */
function freeName(column: string, names: ReadonlySet<string>): string {
  const name = column.charAt(0).toUpperCase() + column.slice(1);
  for (let count = 2; ; count++) {
    const candidate = count === 2 && !names.has(name) ? name : `${name}${count}`;
    if (!names.has(candidate)) {
      return candidate;
    }
  }
}
