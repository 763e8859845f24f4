import { convertedSemantics } from "./conversion-for.ts";
import type { Semantic } from "./conversion.ts";

/** Types whose values need no conversion. Hints may name them too. */
const unconverted: readonly string[] = [
  "io.debezium.data.Ltree",
  "io.debezium.data.Tsvector",
  "io.debezium.data.Uuid",
  "io.debezium.data.Xml",
  "io.debezium.time.Interval",
  "io.debezium.time.MicroDuration",
  "io.debezium.time.NanoDuration",
  "io.debezium.time.Year",
  "io.debezium.time.ZonedTime",
  "io.debezium.data.TiDBVectorFloat32",
];

/**
 * The names of the semantic types that a hint may give a column, and that a schema's column may have. Values of other types describe
 * themselves.
 */
export const semanticTypes: readonly string[] = Object.freeze([...convertedSemantics, ...unconverted]);

/** The error in a type that a user has given for a column, as a sentence; null if the type is right. */
export function wrongWithSemantic({ name, parameters }: Semantic): string | null {
  if (!semanticTypes.includes(name)) {
    const near = semanticTypes.find((known) => endOf(known) === endOf(name) || endOf(known).startsWith(endOf(name)));
    const meant = near === undefined ? "such as io.debezium.time.MicroTimestamp" : `did you mean ${JSON.stringify(near)}?`;
    return `expected the name of a semantic type, found ${JSON.stringify(name)}: ${meant}`;
  }
  const needsScale = name === "org.apache.kafka.connect.data.Decimal";
  if (needsScale && !/^-?\d{1,9}$/.test(parameters["scale"] ?? "")) {
    const found = parameters["scale"] === undefined ? "none" : JSON.stringify(parameters["scale"]);
    return `expected the scale of a decimal, found ${found}: write { "name": ${JSON.stringify(name)}, "parameters": { "scale": "4" } }, with the scale of the column`;
  }
  return null;
}

function endOf(name: string): string {
  return name.slice(name.lastIndexOf(".") + 1).toLowerCase();
}
