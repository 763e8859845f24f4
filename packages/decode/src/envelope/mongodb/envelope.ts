import { readEverything } from "../../encoding/reader.ts";
import { isDecodeError } from "../../errors.ts";
import type { CdcEvent, Columns, Operation, TableName } from "../../event.ts";
import { SchemaChange, UnknownValue } from "../control-events.ts";
import { DocumentChange, documentOf, documentValue, updateDescriptionOf, withUnknownOf } from "../document-change.ts";
import type { EnvelopeFormat, EnvelopeScope } from "../envelope.ts";
import { extraOf } from "../extra.ts";
import type { Origin } from "../origin.ts";
import { millisOf } from "../instant-text.ts";
import { withKey } from "../row-key.ts";
import { isBlock, numberOrNull, textOrNull } from "../source.ts";
import { recogniseMongodb } from "./recognise.ts";
import { listWith } from "../../list-with.ts";
import { DeclaredFields } from "../change-event.ts";
import { type Fields, plainConstructor, setIfPresent } from "../plain-constructor.ts";
import { tableNamed } from "../table-text.ts";

type Block = Readonly<Record<string, unknown>>;

/**
 * Change stream documents from MongoDB's own Kafka connector. They are sent as text in a JSON string, as JSON, or as a record whose
 * documents are text. The key of a change is its `documentKey`, because the connector's record key is a resume token.
 */
export const mongodb: EnvelopeFormat = {
  name: "mongodb",
  recognise: recogniseMongodb,
  planFor: () => readEverything,
  membersOf: () => members,
  open,
};

const members: ReadonlySet<string> = new Set(
  (
    "_id operationType ns fullDocument fullDocumentBeforeChange documentKey updateDescription clusterTime wallTime txnNumber lsid to " +
    "operationDescription"
  ).split(" "),
);

function open(value: unknown, origin: Origin): readonly CdcEvent[] | null {
  const document = streamDocument(value, origin.scope);
  if (document === null) {
    return null;
  }
  const extra = typeof value === "string" ? extraOf(document, members) : null;
  return openDocument(document, extra === null ? origin : origin.withExtra(extra));
}

function openDocument(document: Block, origin: Origin): readonly CdcEvent[] | null {
  const operationType = textOrNull(document["operationType"]) ?? "";
  const op = operations.get(operationType);
  const { ns } = document;
  if (op !== undefined) {
    return isBlock(ns) && typeof ns["db"] === "string" ? listWith(change(op, ns, document, origin)) : null;
  }
  if (schemaChanges.has(operationType)) {
    return isBlock(ns) ? listWith(schemaChange(operationType, ns, document, origin)) : null;
  }
  return operationType === "invalidate" && "clusterTime" in document ? listWith(new UnknownValue(document, origin)) : null;
}

const operations: ReadonlyMap<string, Operation> = new Map<string, Operation>([
  ["insert", "create"],
  ["update", "update"],
  ["replace", "update"],
  ["delete", "delete"],
]);

const schemaChanges: ReadonlySet<string> = new Set([
  "create",
  "createIndexes",
  "drop",
  "dropDatabase",
  "dropIndexes",
  "modify",
  "rename",
  "shardCollection",
  "reshardCollection",
  "refineCollectionShardKey",
]);

/** The parsed document, or null if the value is not one. Text is parsed only if it can be a change stream document. */
function streamDocument(value: unknown, scope: EnvelopeScope): Block | null {
  if (typeof value === "string" && !(/^\s*\{/.test(value) && value.includes('"operationType"'))) {
    return null;
  }
  try {
    const document = documentValue(value, scope);
    return isBlock(document) ? document : null;
  } catch (error) {
    if (isDecodeError(error)) {
      return null; // text that only begins like JSON
    }
    throw error;
  }
}

function change(op: Operation, ns: Block, document: Block, origin: Origin): CdcEvent {
  const { scope } = origin;
  const isCopied = isBlock(document["_id"]) && document["_id"]["copyingData"] === true;
  const before = withPlainId(documentOf(document["fullDocumentBeforeChange"], scope));
  const after = op === "delete" ? null : withPlainId(documentOf(document["fullDocument"], scope));
  const updated = updateDescriptionOf(document["updateDescription"], scope);
  const key = withPlainId(documentOf(document["documentKey"], scope));
  const source = new SourceBlock(ns, document, isCopied, scope);
  const kept = withUnknownOf(document["updateDescription"], withKey(origin, key));
  return new DocumentChange(isCopied ? "read" : op, tableOf(ns), before, after, new DeclaredFields(source), updated, kept);
}

function tableOf({ db, coll }: Block): TableName {
  const database = textOrNull(db);
  return tableNamed(database ?? undefined, undefined, textOrNull(coll) ?? "");
}

/** The source block. Facts that Debezium's connector reports too have its names. */
const SourceBlock = plainConstructor(function ({ db, coll }: Block, document: Block, isCopied: boolean, scope: EnvelopeScope) {
  this["connector"] = "mongodb";
  setIfPresent(this, "db", db);
  setIfPresent(this, "collection", coll);
  this["snapshot"] = isCopied ? "true" : "false";
  addMoment(this, document["clusterTime"], scope);
  setIfPresent(this, "resumeToken", document["_id"]);
  setIfPresent(this, "wallTime", document["wallTime"]);
  setIfPresent(this, "txnNumber", document["txnNumber"]);
  setIfPresent(this, "lsid", document["lsid"]);
});

/**
 * The time of a change: a BSON timestamp, which has a counter within its second. If the connector infers schemas, it is a time without the
 * counter.
 */
function addMoment(source: Fields, clusterTime: unknown, scope: EnvelopeScope): void {
  const millis = millisOfMoment(clusterTime);
  if (millis !== null) {
    source["ts_ms"] = millis;
    return;
  }
  const timestamp = documentOf(clusterTime, scope);
  const seconds = numberOrNull(timestamp?.["t"]);
  if (seconds !== null) {
    source["ts_ms"] = seconds * 1000;
    setIfPresent(source, "ord", timestamp?.["i"]);
  }
}

/** Milliseconds of a time in any form that the time option gives. */
function millisOfMoment(moment: unknown): number | null {
  if (moment instanceof Date) {
    return moment.getTime();
  }
  return isBlock(moment) ? numberOrNull(moment["epochMilliseconds"]) : millisOf(moment);
}

/** The document with its ObjectId as plain text. With an inferred schema, an ObjectId is written as the text of its Extended JSON. */
function withPlainId(document: Columns | null): Columns | null {
  const [, id] = /^\{\s*"\$oid"\s*:\s*"([0-9a-f]{24})"\s*\}$/.exec(textOrNull(document?.["_id"]) ?? "") ?? [];
  return id === undefined ? document : { ...document, _id: id };
}

function schemaChange(operationType: string, ns: Block, document: Block, origin: Origin): CdcEvent {
  const { to, operationDescription } = document;
  const id = [ns["db"], ns["coll"]].filter((part) => typeof part === "string").join(".");
  const described = { ...(isBlock(to) ? { to } : {}), ...(isBlock(operationDescription) ? { operationDescription } : {}) };
  const source = new SourceBlock(ns, document, false, origin.scope);
  const tableChanges = [{ type: operationType, id, ...described }];
  return new SchemaChange({ ddl: null, databaseName: ns["db"], tableChanges, source, ts_ms: null }, origin);
}
