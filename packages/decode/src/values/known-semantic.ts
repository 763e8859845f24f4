import { convertedSemantics } from "./conversion-for.ts";
import type { Semantic } from "./conversion.ts";

/** Types whose text or number is its own value: no conversion is made for them, and they are no mistake. */
const unconverted: readonly string[] = [
  "io.debezium.data.Enum",
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

/** The names of the types that a hint may give a column, and that a schema's column may have: what all else is, its value says itself. */
export const semanticTypes: readonly string[] = Object.freeze([...convertedSemantics, ...unconverted]);

/** What is wrong with a type that a user has stated for a column, as a sentence; null if nothing. */
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
