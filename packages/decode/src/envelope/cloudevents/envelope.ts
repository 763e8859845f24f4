import { readEverything } from "../../encoding/reader.ts";
import type { CdcEvent, Columns, Operation, TableName } from "../../event.ts";
import { DeclaredFields, EnvelopedChange } from "../change-event.ts";
import { Truncate, UnknownValue } from "../control-events.ts";
import { operationOf } from "../debezium/operation.ts";
import { documentChangeOf, isDocumentText } from "../document-change.ts";
import type { EnvelopeFormat } from "../envelope.ts";
import { extraOf } from "../extra.ts";
import { flattened } from "../flattened/envelope.ts";
import type { Origin } from "../origin.ts";
import { outbox } from "../outbox/envelope.ts";
import { isCertain } from "../outbox/recognise.ts";
import { isBlock } from "../source.ts";
import { binaryEvent, type CloudEvent, structuredEvent } from "./attributes.ts";
import { type DebeziumAttributes, debeziumAttributes, isDebeziumAttribute, withFactsOf } from "./debezium-source.ts";
import { deltaforgeConnector, openDeltaforgeEvent } from "./deltaforge-source.ts";
import { innerMessage } from "./inner.ts";
import { isStructured, mandatoryHeaders, recogniseCloudEvent } from "./recognise.ts";
import { listWith } from "../../list-with.ts";

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
  const opened = declared === null ? openDeltaforgeEvent(event, kept) : (outboxEvent(event, kept) ?? changeOf(event.data, declared, kept));
  return listWith(opened ?? new UnknownValue({ ...event.attributes, data: event.data }, origin));
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

/**
 * The payload that Debezium's outbox router took out of its table. The attributes are those of the outbox table, but the payload is no row of
 * it. Its id and its type are kept in `extra`. Null for all other events.
 */
function outboxEvent({ id, type, data }: CloudEvent, origin: Origin): CdcEvent | null {
  const headerNames = origin.headers.map(([name]) => name);
  const isOutbox = isCertain({ topic: origin.scope.topic, headerNames }) || (headerNames.includes("id") && !/^io\.debezium\./i.test(type));
  return isOutbox ? (outbox.open(data, origin.withExtra({ id, type }))?.[0] ?? null) : null;
}

/** The change, or null if the data is not one. */
function changeOf(data: CloudEvent["data"], declared: DebeziumAttributes, origin: Origin): CdcEvent | null {
  const { op, table, source, transaction, tsMs } = isBlock(data) ? withFactsOf(data, declared) : declared;
  const named = table ?? topicTableOf(source["connector"], origin.scope.topicTable) ?? { name: "" };
  if (op === "t") {
    return new Truncate(named, { source, transaction, ts_ms: tsMs }, origin);
  }
  const parts = isBlock(data) ? (partsOf(data) ?? rowParts(data, op, origin)) : null;
  const isOfDocument = parts !== null && isDocument(parts, source["connector"]);
  const operation = parts === null ? null : op === null ? (parts.operation ?? inferred(parts, isOfDocument)) : operationOf(op);
  if (parts === null || operation === null) {
    return null;
  }
  const { before, after, extra } = parts;
  const kept = extra === null ? origin : origin.withExtra(extra);
  const fields = new DeclaredFields(source, tsMs, transaction);
  if (isOfDocument) {
    return documentChangeOf(operation, named, parts, fields, kept);
  }
  return isImage(before) && isImage(after) ? new EnvelopedChange(operation, named, before, after, fields, kept) : null;
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

/** The members of data that is not a bare row: the images and what describes an update of a document, or a whole Debezium envelope. */
const dataMembers: ReadonlySet<string> = new Set("before after updateDescription source op ts_ms ts_us ts_ns transaction".split(" "));

/** The update of a document, and by which document it was found, as MongoDB's connector wrote it up to Debezium 1.8. */
const oplogMembers: ReadonlySet<string> = new Set(["patch", "filter"]);

interface Parts {
  readonly before: unknown;
  readonly after: unknown;
  readonly updateDescription: unknown;
  readonly extra: Columns | null;
  /** Whether the data is the row itself. */
  readonly isRow: boolean;
  /** What the columns say that were added to a row; null without such columns. */
  readonly operation: Operation | null;
}

/** The parts of a change whose data has its images as `before` and `after`; null if the data has other members, too. */
function partsOf(data: Columns): Parts | null {
  const names = Object.keys(data);
  const hasImage = names.includes("before") || names.includes("after");
  if (!hasImage || !names.every((name) => dataMembers.has(name) || oplogMembers.has(name))) {
    return null;
  }
  const { before = null, after = null, updateDescription = null } = data;
  return { before, after, updateDescription, extra: extraOf(data, dataMembers), isRow: false, operation: null };
}

/**
 * The parts of a change whose row was taken out of its envelope by a transformation. The columns that the transformation added are no columns
 * of the row. Null if nothing says which operation it is.
 */
function rowParts(data: Columns, op: string | null, origin: Origin): Parts | null {
  const [change] = (Object.keys(data).some((name) => name.startsWith("__")) ? flattened.open(data, origin) : null) ?? [];
  const added = change?.kind === "change" ? change : null;
  if (op === null && added === null) {
    return null;
  }
  const row = added === null ? data : (added.before ?? added.after);
  const isDelete = op === null ? added?.op === "delete" : op === "d";
  const images = isDelete ? { before: row, after: null } : { before: null, after: row };
  return { ...images, updateDescription: null, extra: null, isRow: true, operation: added?.op ?? null };
}

/** Whether the images are documents. Forks of MongoDB's connector have other names, and write documents as text, too. */
function isDocument({ before, after, isRow }: Parts, connector: unknown): boolean {
  return !isRow && (connector === "mongodb" || isDocumentText(before) || isDocumentText(after));
}

function isImage(image: unknown): image is Columns | null {
  return image === null || isBlock(image);
}

/**
 * The operation that follows from the parts, for events without extension attributes. A row of a snapshot looks like a created one in that
 * case. An update of a document may have no image, and a delete has none if the collection keeps no images from before a change.
 */
function inferred({ before, after, updateDescription }: Parts, isOfDocument: boolean): Operation | null {
  if (updateDescription !== null) {
    return "update";
  }
  if (after === null) {
    return before !== null || isOfDocument ? "delete" : null;
  }
  return before === null ? "create" : "update";
}
