import { isUtf8 } from "node:buffer";
import { isJson } from "./value-fit.ts";
import { PostgresSinkError } from "./errors.ts";
import { hstoreText, hstoreTextOf, isHstore } from "./hstore-text.ts";

/**
 * A value as the text that PostgreSQL's input function of the column's type reads. Null stays null. A text for a column of JSON is the text of a
 * document, if nothing says that it is plain.
 */
export function valueText(value: unknown, type: string, isPlain = false): string | null {
  if (value === null || value === undefined) {
    return null;
  }
  switch (typeof value) {
    case "string":
      return textText(value, type, isPlain);
    case "boolean":
      return isJson(type) ? String(value) : isBits(type) ? String(Number(value)) : value ? "t" : "f";
    case "number":
    case "bigint":
      return type === "interval" ? `${value} microseconds` : isJson(type) ? jsonText(value) : numberText(value);
    case "object":
      return objectText(value, type, isPlain);
    default:
      throw new PostgresSinkError("schema-mismatch", `a value of type ${typeof value} has no text in a column of type ${type}`);
  }
}

function textText(value: string, type: string, isPlain: boolean): string {
  if (isMoment(type)) {
    return momentText(value);
  }
  if (isHstore(type)) {
    return hstoreTextOf(value) ?? value;
  }
  return isPlain && isJson(type) ? JSON.stringify(value) : value;
}

/** JavaScript's own text of -0 has no sign, and a float column of the source has one. */
function numberText(value: number | bigint): string {
  return Object.is(value, -0) ? "-0" : String(value);
}

function objectText(value: object, type: string, isPlain: boolean): string {
  if (value instanceof Uint8Array && !isJson(type)) {
    return bytesText(Buffer.from(value.buffer, value.byteOffset, value.byteLength), type);
  }
  if (Array.isArray(value)) {
    return arrayText(value, type, isPlain);
  }
  if (hasOwnForm(value)) {
    return isJson(type) ? jsonText(value) : (valueText(value.toJSON(), type) ?? "null");
  }
  if (type === "point" && "x" in value && "y" in value) {
    return `(${valueText(value.x, "double precision")},${valueText(value.y, "double precision")})`;
  }
  if (isHstore(type)) {
    return hstoreText(value instanceof Map ? value : Object.entries(plain(value)));
  }
  return jsonText(value);
}

/**
 * In a column that reads neither bytes nor any text, bytes are the text of its value: so Debezium sends what it does not know (composites,
 * `line`, multiranges) if it is told to include it.
 */
function bytesText(bytes: Buffer, type: string): string {
  return takesAnyText(type) || !isUtf8(bytes) ? `\\x${bytes.toString("hex")}` : bytes.toString();
}

/** A list for an array column, or a set of words (MySQL's SET) for a text column. */
function arrayText(values: readonly unknown[], type: string, isPlain: boolean): string {
  if (type.endsWith("[]")) {
    const element = type.slice(0, -2);
    const texts = values.map((value) => {
      const text = Array.isArray(value) ? arrayText(value, type, isPlain) : valueText(value, element, isPlain);
      return text === null || Array.isArray(value) ? (text ?? "NULL") : `"${text.replaceAll("\\", "\\\\").replaceAll('"', '\\"')}"`;
    });
    return `{${texts.join(",")}}`;
  }
  return !isJson(type) && values.every((value) => typeof value === "string") ? values.join(",") : jsonText(values);
}

/** JSON of a value. Integers beyond 2^53 keep all digits, and bytes become base64. JSON has no NaN and no infinity: as in PostgreSQL's `to_jsonb`, a text. */
function jsonText(value: unknown): string {
  if (typeof value === "bigint") {
    return String(value);
  }
  if (Object.is(value, -0)) {
    return "-0"; // JSON.stringify makes 0 of it
  }
  if (typeof value === "number" && !Number.isFinite(value)) {
    return `"${value}"`;
  }
  if (typeof value !== "object" || value === null) {
    return JSON.stringify(value) ?? "null";
  }
  if (value instanceof Uint8Array) {
    return JSON.stringify(Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString("base64"));
  }
  if (Array.isArray(value)) {
    return `[${value.map(jsonText).join(",")}]`;
  }
  if (hasOwnForm(value)) {
    return jsonText(value.toJSON());
  }
  const entries: Iterable<readonly [unknown, unknown]> = value instanceof Map ? value : Object.entries(plain(value));
  return `{${[...entries].map(([name, part]) => `${JSON.stringify(String(name))}:${jsonText(part)}`).join(",")}}`;
}

/** Dates and the Temporal types say themselves how they are written: their members are not what they hold. */
function hasOwnForm(value: object): value is { toJSON(): unknown } {
  return typeof (value as { toJSON?: unknown }).toJSON === "function" && !Object.hasOwn(value, "toJSON");
}

/** An object that holds its columns as members. Those of a class's own objects may say nothing of what they hold. */
function plain(value: object): object {
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) {
    throw new PostgresSinkError("schema-mismatch", "expected values that are data, found an object of a class without toJSON");
  }
  return value;
}

/** Debezium sends a `bit(1)` as a boolean. The name is quoted where it stands for any length. */
function isBits(type: string): boolean {
  return type === '"bit"' || type === "bit varying";
}

function takesAnyText(type: string): boolean {
  return /^(bytea|text|character varying|character|bpchar|name|"char"|xml|([^.]+\.)?citext)$/.test(type);
}

function isMoment(type: string): boolean {
  return type === "date" || type.startsWith("timestamp");
}

/** Turns ISO's expanded years into PostgreSQL's form with BC. Year 0, which may have no sign, is 1 BC. */
function momentText(text: string): string {
  const expanded = /^([+-]|(?=0000-))(\d{4,7})(-.*)$/.exec(text);
  if (expanded === null) {
    return text;
  }
  const [, sign, year = "", rest = ""] = expanded;
  return sign === "+" ? `${Number(year)}${rest}` : `${String(Number(year) + 1).padStart(4, "0")}${rest} BC`;
}
