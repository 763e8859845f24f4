import { DecodeError } from "../../errors.ts";
import type { CdcEvent, Columns, Operation, TableName } from "../../event.ts";
import { setProperty } from "../../set-property.ts";
import { DeclaredFields, EnvelopedChange } from "../change-event.ts";
import { Truncate } from "../control-events.ts";
import type { EnvelopeFormat, Shape } from "../envelope.ts";
import type { Origin } from "../origin.ts";
import { millisOf } from "../instant-text.ts";
import { withColumns } from "../row-columns.ts";
import { keyColumns, namesOf, withKey } from "../row-key.ts";
import { isBlock } from "../source.ts";
import { tableOfText } from "../table-text.ts";
import { recogniseGoldengate } from "./recognise.ts";
import { listWith } from "../../list-with.ts";
import { plainConstructor, setIfDefined } from "../plain-constructor.ts";

type Block = Readonly<Record<string, unknown>>;

/** Oracle GoldenGate's messages, operation-modelled or row-modelled. Its JSON states no types, so text stays text. */
export const goldengate: EnvelopeFormat = {
  name: "goldengate",
  recognise: recogniseGoldengate,
  planFor: (shape) => ({ defer: null, skip: [], rows: hasImages(shape) ? ["before", "after"] : "self" }),
  // If the message has no images, all members that are not the operation's own fields are columns.
  membersOf: (shape) => (hasImages(shape) ? operationMembers : new Set(shape.fields)),
  isMetaColumn: (name, names) => isMissingMarker(name, names) || (ownFields.has(name) && recogniseGoldengate({ fields: names }) !== null),
  open,
};

function hasImages({ fields }: Shape): boolean {
  return fields?.includes("before") === true || fields?.includes("after") === true;
}

/** Flink's own samples have this misspelling of `primary_keys`. */
const misspelledKeys = "priamry_keys";

const operations: ReadonlyMap<unknown, Operation> = new Map<unknown, Operation>([
  ["I", "create"],
  ["U", "update"],
  ["D", "delete"],
]);

function open(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  if (!isBlock(value) || typeof value["table"] !== "string" || millisOf(value["op_ts"]) === null) {
    return null;
  }
  const table = tableOfText(value["table"]);
  if (value["op_type"] === "T") {
    const kept = origin.withColumns(rowBeside(value));
    return listWith(new Truncate(table, { source: new SourceBlock(value, table), ts_ms: millisOf(value["current_ts"]) }, kept));
  }
  const op = operations.get(value["op_type"]);
  const images = op === undefined ? null : imagesOf(op, value);
  if (op === undefined || images === null) {
    return null;
  }
  const { before, after } = images;
  const names = namesOf(value["primary_keys"] ?? value[misspelledKeys]);
  const keyed = withKey(origin, keyColumns(after ?? before, names));
  return listWith(
    new EnvelopedChange(op, table, before, after, new DeclaredFields(new SourceBlock(value, table), millisOf(value["current_ts"])), keyed),
  );
}

interface Images {
  readonly before: Columns | null;
  readonly after: Columns | null;
}

/**
 * The images of a change. An image without columns counts as missing. Null if a member is not an image, or if a change other than a delete
 * has none.
 */
function imagesOf(op: Operation, value: Block): Images | null {
  if (!Object.hasOwn(value, "before") && !Object.hasOwn(value, "after")) {
    const row = rowBeside(value);
    refuseFlattened(row);
    return op === "delete" ? { before: row, after: null } : { before: null, after: row };
  }
  const { before = null, after = null } = value;
  if (!(isBlock(before) || before === null) || !(isBlock(after) || after === null)) {
    return null;
  }
  const images = { before: op === "create" ? null : columnsOf(before), after: op === "delete" ? null : columnsOf(after) };
  return images.before === null && images.after === null && op !== "delete" ? null : images;
}

/** An unquoted name of Oracle's has no such character after these words: it is the delimiter, a point unless it is configured otherwise. */
const ofImage = /^(?:before|after)[^\w$#]/;

/** Both images would be read as one row, whose columns are called `before.ID` and `after.ID`. */
function refuseFlattened(row: Columns): void {
  const names = Object.keys(row);
  if (names.length > 0 && names.every((name) => ofImage.test(name))) {
    throw new DecodeError(
      "unsupported-format",
      "expected the images before and after of GoldenGate's, found them flattened into one level: set gg.handler.NAME.format.flatten=false",
    );
  }
}

function columnsOf(image: Columns | null): Columns | null {
  const names = image === null ? [] : Object.keys(image);
  return image !== null && names.length > 0 ? withoutMissing(image, names) : null;
}

/** The end of the name of a marker, a boolean. Kafka Connect's handler writes one beside each column, unless it is configured otherwise. */
const missing = "_isMissing";

function isMissingMarker(name: string, names: readonly string[]): boolean {
  return name.endsWith(missing) && names.includes(name.slice(0, -missing.length));
}

/**
 * The row without markers, and without the columns that they mark: a column that a compressed update did not log is null in the message, but
 * its value is not known.
 */
function withoutMissing(row: Columns, names: readonly string[]): Columns {
  const markers = names.filter(
    (name) => name.endsWith(missing) && typeof row[name] === "boolean" && Object.hasOwn(row, name.slice(0, -missing.length)),
  );
  if (markers.length === 0) {
    return row;
  }
  const left = new Set(names);
  for (const marker of markers) {
    left.delete(marker);
    if (row[marker] === true) {
      left.delete(marker.slice(0, -missing.length));
    }
  }
  return withColumns(row, left);
}

const ownFields: ReadonlySet<string> = new Set([
  "table",
  "op_type",
  "op_ts",
  "current_ts",
  "pos",
  "primary_keys",
  "tokens",
  "csn",
  "xid",
  "txind",
]);

/** The members of an operation-modelled message. */
const operationMembers: ReadonlySet<string> = new Set([...ownFields, "before", "after", misspelledKeys]);

/** The row of the row-modelled format, which has its columns at the top level. */
function rowBeside(value: Block): Columns {
  const row: Columns = {};
  for (const name of Object.keys(value)) {
    if (!ownFields.has(name)) {
      setProperty(row, name, value[name]);
    }
  }
  return withoutMissing(row, Object.keys(row));
}

const SourceBlock = plainConstructor(function (value: Block, table: TableName) {
  this["connector"] = "goldengate";
  this["table"] = table.name;
  this["ts_ms"] = millisOf(value["op_ts"]);
  setIfDefined(this, "db", table.database);
  setIfDefined(this, "schema", table.schema);
  for (const name of positionFields) {
    setIfDefined(this, name, value[name]);
  }
});

const positionFields = ["pos", "csn", "xid", "tokens"] as const;
