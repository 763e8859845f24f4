import type { CdcEvent, TableName } from "../../event.ts";
import { openDeltaforgeChange } from "../deltaforge/change.ts";
import type { Origin } from "../origin.ts";
import { millisOf } from "../instant-text.ts";
import { isBlock, textOrNull } from "../source.ts";
import type { CloudEvent } from "./attributes.ts";
import { type Fields, plainConstructor, setIfPresent } from "../plain-constructor.ts";
import { tableNamed } from "../table-text.ts";

/** The connector's name in the source blocks of these events. */
export const deltaforgeConnector = "deltaforge";

/**
 * The change of a DeltaForge event. The source is `deltaforge/<name>/<db.table>`, and the operation is in the data or at the end of the
 * type. Null for other events, and for events that do not contain their change: a DDL statement has the letter of a snapshot's read and no
 * row.
 */
export function openDeltaforgeEvent({ source, type, data, attributes }: CloudEvent, origin: Origin): CdcEvent | null {
  const place = /^deltaforge\/([^/]+)\/([^.]+)\.(.+)$/.exec(source) ?? [];
  const [, , container, tableName] = place;
  const images = isBlock(data) ? data : {};
  const op = textOrNull(images["op"]) ?? operations.get(type.slice(type.lastIndexOf(".") + 1)) ?? null;
  const hasImage = Object.hasOwn(images, "before") || Object.hasOwn(images, "after");
  if (container === undefined || tableName === undefined || op === null || (op !== "t" && !hasImage)) {
    return null;
  }
  const table = tableOf(container, tableName);
  const block = new SourceBlock(place, op === "r" ? "true" : "false", millisOf(attributes["time"]));
  const change = new Change(images["before"], images["after"], block);
  return openDeltaforgeChange(op, change, table, origin)?.[0] ?? null;
}

const Change = plainConstructor(function (before: unknown, after: unknown, source: Fields) {
  this["before"] = before;
  this["after"] = after;
  this["source"] = source;
});

const SourceBlock = plainConstructor(function (place: readonly (string | undefined)[], snapshot: string, tsMs: number | null) {
  const [, name, container, table] = place;
  this["connector"] = deltaforgeConnector;
  this["name"] = name;
  this["db"] = container;
  this["table"] = table;
  this["snapshot"] = snapshot;
  setIfPresent(this, "ts_ms", tsMs);
});

/**
 * The table of an event. The same place holds MySQL's database or PostgreSQL's schema, and the event does not say which database system it
 * is. Only names that begin with `__` are certain to be PostgreSQL schemas.
 */
function tableOf(container: string, name: string): TableName {
  return container.startsWith("__") ? tableNamed(undefined, container, name) : tableNamed(container, undefined, name);
}

const operations: ReadonlyMap<string, string> = new Map([
  ["created", "c"],
  ["updated", "u"],
  ["deleted", "d"],
  ["snapshot", "r"],
  ["truncated", "t"],
]);
