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

/** CloudEvents. Those that Debezium's converter or DeltaForge wrote are changes; other people's are told as they are. */
export const cloudevents: EnvelopeFormat = {
  name: "cloudevents",
  headerNames: mandatoryHeaders,
  recognise: recogniseCloudEvent,
  planFor: ({ fields }) => (isStructured(fields) ? readEverything : { defer: null, skip: [], rows: ["before", "after"] }),
  // They are Debezium's if it is not another system that wrote them.
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

/** Attributes that the specification has, and those that Debezium's converter adds. */
const knownAttributes: ReadonlySet<string> = new Set("specversion id source type datacontenttype dataschema subject time".split(" "));

function unknownAttributes({ attributes }: CloudEvent): Columns | null {
  const names = Object.keys(attributes).filter((name) => !isDebeziumAttribute(name));
  return extraOf(Object.fromEntries(names.map((name) => [name, attributes[name]])), knownAttributes);
}

/** Data that is bytes stays bytes. */
function dataOf(value: unknown): unknown {
  if (!isBlock(value)) {
    return null;
  }
  const { data, data_base64 } = value;
  return data === undefined && typeof data_base64 === "string" ? Buffer.from(data_base64, "base64") : (data ?? null);
}

/** The change, or null where the data is none. */
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

/** The table that the topic names, where no attribute does: for databases without schemas the part before its name is the database. */
function topicTableOf(connector: unknown, table: TableName | null): TableName | null {
  const { database, schema, name } = table ?? {};
  const isDatabase = database === undefined && schema !== undefined && withoutSchemas.has(connector);
  return isDatabase && name !== undefined ? { database: schema, name } : table;
}

const withoutSchemas: ReadonlySet<unknown> = new Set(["mysql", "mariadb", "mongodb", "vitess"]);

/** What the data has where it is no row: the images, or the whole of what Debezium writes elsewhere. */
const dataMembers: ReadonlySet<string> = new Set(["before", "after", "source", "op", "ts_ms", "ts_us", "ts_ns", "transaction"]);

interface Images {
  readonly before: Columns | null;
  readonly after: Columns | null;
}

/** The data has both images, or is the row itself where a transformation had taken it out of its envelope; null where it is neither. */
function imagesOf(data: Columns, op: string | null): Images | null {
  const names = Object.keys(data);
  if (!names.every((name) => dataMembers.has(name)) || !(names.includes("before") || names.includes("after"))) {
    return op === null ? null : op === "d" ? { before: data, after: null } : { before: null, after: data };
  }
  const { before = null, after = null } = data;
  return (isBlock(before) || before === null) && (isBlock(after) || after === null) ? { before, after } : null;
}

/** Where extension attributes are off, the images tell; a snapshot's rows look like created ones then. */
function inferred({ before, after }: Images): Operation | null {
  if (after === null) {
    return before === null ? null : "delete";
  }
  return before === null ? "create" : "update";
}
