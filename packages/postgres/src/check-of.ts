import { holdsValue, itemType, losesSpaces } from "./value-fit.ts";
import { withoutScale } from "./column-type.ts";
import { PostgresSinkError } from "./errors.ts";
import { quoteName, quoteTable } from "./quote.ts";
import type { TableColumn, Target } from "./table-columns.ts";

/**
 * The check of a column's values. It refuses what PostgreSQL would read as another value, or refuse without naming the column: a number without a
 * unit in a column of times, a text of bytes in some form, a number that the column does not hold. The items of an array are checked as values of
 * a column of their type.
 */
export function checkOf(
  target: Target,
  name: string,
  { type, maxScale, keptLength, keptUnits }: Pick<TableColumn, "type" | "maxScale" | "keptLength" | "keptUnits">,
): (value: unknown) => void {
  const items = itemType(type);
  const column = { type, maxScale, keptUnits };
  const refusesNumbers = isTime(items);
  const refusesTexts = items === "bytea";
  const refusesOffsets = /^(time|timestamp) without time zone$/.test(items);
  return (value) => {
    if (refusesNumbers && hasPart(value, isNumber)) {
      throw untyped(target, name, type);
    }
    if (refusesTexts && hasPart(value, isBytesInUnknownForm)) {
      throw spelled(target, name, type);
    }
    if (refusesOffsets && hasPart(value, hasOffset)) {
      throw withOffset(target, name, type);
    }
    if (keptLength !== null && hasPart(value, (part) => losesSpaces(keptLength, part))) {
      throw padded(target, name, type, keptLength);
    }
    if (!holdsValue(column, value)) {
      throw unfit(target, name, column, value);
    }
  };
}

/** Whether a value, or an item of it if it is a list, is of such a kind. */
function hasPart(value: unknown, isOfKind: (part: unknown) => boolean): boolean {
  return Array.isArray(value) ? value.some((item) => hasPart(item, isOfKind)) : isOfKind(value);
}

function isTime(type: string): boolean {
  return /^(date|time|timestamp)( |$)/.test(type);
}

function isNumber(value: unknown): boolean {
  return typeof value === "number" || typeof value === "bigint";
}

/** A text in PostgreSQL's own form is what it says, and one without characters stands for no bytes in every form. */
function isBytesInUnknownForm(value: unknown): boolean {
  return typeof value === "string" && value !== "" && !/^\\x([\da-f]{2})*$/i.test(value);
}

/** A time of day, and how far it is from UTC: no time ends in Z, or in an offset of nothing, that is another one without it. */
function hasOffset(value: unknown): boolean {
  return typeof value === "string" && /:\d\d(\.\d+)? ?[+-](?!00(:?00)?( BC)?$)\d\d(:?\d\d)?( BC)?$/.test(value);
}

/** PostgreSQL would drop the offset: 10:00+02:00 is 08:00 in UTC, and would be kept as 10:00. */
function withOffset(target: Target, name: string, type: string): PostgresSinkError {
  const wider = type.replace("without", "with");
  return new PostgresSinkError(
    "schema-mismatch",
    `${quoteTable(target)}: the column ${quoteName(name)} is ${type}, and a row has a time with an offset from UTC, which it drops: alter the column to ${wider}`,
  );
}

/** PostgreSQL would read some of them: 101010 as ten past ten, where Debezium means a tenth of a second past midnight. */
function untyped(target: Target, name: string, type: string): PostgresSinkError {
  return new PostgresSinkError(
    "schema-mismatch",
    `${quoteTable(target)}: the column ${quoteName(name)} is ${type}, and a row has a number, whose unit nothing says: name the column's type in the ` +
      "consumer's option decoder.topics (npx cdc-bench hints writes it), or let the connector write schemas or ISO texts (time.precision.mode=isostring)",
  );
}

/** PostgreSQL would keep the characters of the text as the bytes: those of `3q2+7w==`, where Debezium means `\xdeadbeef`. */
function spelled(target: Target, name: string, type: string): PostgresSinkError {
  return new PostgresSinkError(
    "schema-mismatch",
    `${quoteTable(target)}: the column ${quoteName(name)} is ${type}, and a row has a text, which may stand for bytes in base64 or in hex: let the ` +
      "connector write bytes (binary.handling.mode=bytes) and schemas, or name the column's type \"bytes\" in the consumer's option decoder.topics if it " +
      "is base64 in JSON without schemas, or make the column text",
  );
}

function padded(target: Target, name: string, type: string, keptLength: number): PostgresSinkError {
  return new PostgresSinkError(
    "schema-mismatch",
    `${quoteTable(target)}: the column ${quoteName(name)} is ${type}, and a row has a text with spaces after the ${keptLength} characters that it keeps, which ` +
      "PostgreSQL would drop: alter the column to text, or let the sink widen it if it is no domain and no array (widen: true)",
  );
}

/**
 * PostgreSQL would refuse an integer that is too large, too, but its error has no column, and its message quotes the value. Digits that a float
 * does not keep, and the time of day in a column of dates, it would drop.
 */
function unfit(
  target: Target,
  name: string,
  { type, maxScale }: Pick<TableColumn, "type" | "maxScale">,
  value: unknown,
): PostgresSinkError {
  const items = itemType(type);
  const array = type.endsWith("[]") ? "[]" : "";
  const [found, wider] =
    maxScale === null ? misfitOf(items, value) : [`more digits after the point than the ${maxScale} that it keeps`, withoutScale(items)];
  const without =
    items === "interval" && maxScale === null ? " without fields" : maxScale !== null && items !== "money" ? " without a scale" : "";
  return new PostgresSinkError(
    "schema-mismatch",
    `${quoteTable(target)}: the column ${quoteName(name)} is ${type}, and a row has ${found}: alter the column to ${wider}${array}${without}` +
      `${wider === "text" ? "" : ", or let the sink widen it (widen: true)"}`,
  );
}

function misfitOf(items: string, value: unknown): readonly [found: string, wider: string] {
  if (items === "name" || items === '"char"') {
    return ["a text with more bytes than it keeps", "text"];
  }
  if (items === "interval") {
    return ["parts that are smaller than the fields that it keeps", items];
  }
  if (items === "date") {
    return ["a time of day", "timestamp"];
  }
  if (items === "real" || items === "double precision") {
    return ["a number with more digits than it keeps", "numeric"];
  }
  return [hasPart(value, isFraction) ? "a number that is no integer" : "an integer out of its range", "numeric"];
}

function isFraction(value: unknown): boolean {
  return typeof value === "number" && !Number.isInteger(value);
}
