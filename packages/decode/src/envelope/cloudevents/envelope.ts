import { readEverything } from "../../encoding/reader.ts";
import type { CdcEvent, Columns, Operation, TableName } from "../../event.ts";
import { EnvelopedChange } from "../change-event.ts";
import { Truncate, UnknownValue } from "../control-events.ts";
import { operationOf } from "../debezium/operation.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import { extraOf } from "../extra.ts";
import type { Origin } from "../origin.ts";
import { isBlock } from "../source.ts";
import { binaryEvent, type CloudEvent, structuredEvent } from "./attributes.ts";
import { type DebeziumAttributes, debeziumAttributes, isDebeziumAttribute } from "./debezium-source.ts";
import { deltaforgeConnector, openDeltaforgeEvent } from "./deltaforge-source.ts";
import { innerMessage } from "./inner.ts";
import { isStructured, mandatoryHeaders, recogniseCloudEvent } from "./recognise.ts";

/** CloudEvents. Events that Debezium's converter or DeltaForge wrote become changes. All other events are handed over as they are. */
export const cloudevents: EnvelopeFormat = {
  name: "cloudevents",
  headerNames: mandatoryHeaders,
  recognise: recogniseCloudEvent,
  planFor: ({ fields }) => (isStructured(fields) ? readEverything : { defer: null, skip: [], rows: ["before", "after"] }),
  // If DeltaForge did not write the event, Debezium did.
  sharesSemantics: (event) => event.kind === "change" && event.source.connector !== deltaforgeConnector,
  inner: innerMessage,
  open,
};

function open(value: unknown, origin: Origin, inner?: unknown): readonly CdcEvent[] | null {
  const event = structuredEvent(value, inner === undefined ? dataOf(value) : inner) ?? binaryEvent(value, origin.headers);
  if (event === null) {
    return null;
  }
  const declared = debeziumAttributes(event);
  const extra = unknownAttributes(event);
  const kept = extra === null ? origin : origin.withExtra(extra);
  const change = declared === null ? openDeltaforgeEvent(event, kept) : changeOf(event.data, declared, kept);
  return [change ?? new UnknownValue({ ...event.attributes, data: event.data }, origin)];
}

/** The attributes of the specification. */
const knownAttributes: ReadonlySet<string> = new Set("specversion id source type datacontenttype dataschema subject time".split(" "));

function unknownAttributes({ attributes }: CloudEvent): Columns | null {
  const names = Object.keys(attributes).filter((name) => !isDebeziumAttribute(name));
  return extraOf(Object.fromEntries(names.map((name) => [name, attributes[name]])), knownAttributes);
}

/** The event's data. Bytes stay bytes. */
function dataOf(value: unknown): unknown {
  if (!isBlock(value)) {
    return null;
  }
  const { data, data_base64 } = value;
  return data === undefined && typeof data_base64 === "string" ? Buffer.from(data_base64, "base64") : (data ?? null);
}

/** The change, or null if the data is not one. */
function changeOf(data: CloudEvent["data"], { op, table, source, transaction }: DebeziumAttributes, origin: Origin): CdcEvent | null {
  const named = table ?? topicTableOf(source["connector"], origin.scope.topicTable) ?? { name: "" };
  if (op === "t") {
    return new Truncate(named, { source, transaction }, origin);
  }
  const images = isBlock(data) ? imagesOf(data, op) : null;
  const operation = images === null ? null : op === null ? inferred(images) : operationOf(op);
  return images === null || operation === null
    ? null
    : new EnvelopedChange(operation, named, images.before, images.after, { source, transaction }, origin);
}

/**
 * The table that the topic names, for events whose attributes name none. For databases without schemas, the part before the table's name is
 * the database.
 */
function topicTableOf(connector: unknown, table: TableName | null): TableName | null {
  const { database, schema, name } = table ?? {};
  const isDatabase = database === undefined && schema !== undefined && withoutSchemas.has(connector);
  return isDatabase && name !== undefined ? { database: schema, name } : table;
}

const withoutSchemas: ReadonlySet<unknown> = new Set(["mysql", "mariadb", "mongodb", "vitess"]);

/** The members of data that is not a bare row: the images, or a whole Debezium envelope. */
const dataMembers: ReadonlySet<string> = new Set(["before", "after", "source", "op", "ts_ms", "ts_us", "ts_ns", "transaction"]);

interface Images {
  readonly before: Columns | null;
  readonly after: Columns | null;
}

/**
 * The images of a change. The data has them as `before` and `after`. If a transformation took the row out of its envelope, the data itself
 * is the row. Null if the data is neither.
 */
function imagesOf(data: Columns, op: string | null): Images | null {
  const names = Object.keys(data);
  if (!names.every((name) => dataMembers.has(name)) || !(names.includes("before") || names.includes("after"))) {
    return op === null ? null : op === "d" ? { before: data, after: null } : { before: null, after: data };
  }
  const { before = null, after = null } = data;
  return (isBlock(before) || before === null) && (isBlock(after) || after === null) ? { before, after } : null;
}

/**
 * The operation that follows from the images, for events without extension attributes. A row of a snapshot looks like a created one in that
 * case.
 */
function inferred({ before, after }: Images): Operation | null {
  if (after === null) {
    return before === null ? null : "delete";
  }
  return before === null ? "create" : "update";
}
