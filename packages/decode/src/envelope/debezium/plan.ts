import { Deferred, type DeferredField, type ReadPlan } from "../../encoding/reader.ts";
import type { TableName } from "../../event.ts";
import type { EnvelopeScope } from "../envelope.ts";
import { isBlock, textOrNull } from "../source.ts";
import { type Dialect, dialectOf } from "./dialect.ts";

/** The part of the source block that is read at once. The rest is read when somebody asks for it. */
export interface SourceHead {
  readonly table: TableName;
  /** The dialect of the connector, if it deviates from Debezium's relational connectors. */
  readonly dialect: Dialect | null;
  /** Whether the source is certainly Debezium's, by its values or by the schema's name. */
  readonly isEvident: boolean;
}

const peek = ["connector", "db", "schema", "table", "keyspace", "collection"] as const;

type Peeked = readonly (string | null | undefined)[];

/**
 * The read plan of one schema. `isNamed` says that the schema's name marks it as an envelope. The plan remembers the last table, because
 * the next record is nearly always of the same table.
 */
export function changePlan(isNamed: boolean): ReadPlan {
  return { defer: deferredSource(isNamed), skip: ["ts_us", "ts_ns"], rows: ["before", "after"] };
}

function deferredSource(isNamed: boolean): DeferredField {
  let last: Peeked = [];
  let head: SourceHead = headOf([], isNamed);
  return {
    field: "source",
    peek,
    resolve: (peeked) => {
      if (!samePeeked(peeked, last)) {
        last = peeked;
        head = headOf(peeked, isNamed);
      }
      return head;
    },
  };
}

function samePeeked(a: Peeked, b: Peeked): boolean {
  if (a.length !== b.length) {
    return false;
  }
  for (let i = 0; i < a.length; i++) {
    if (a[i] !== b[i]) {
      return false;
    }
  }
  return true;
}

function headOf([connector, db, schema, table, keyspace, collection]: Peeked, isNamed: boolean): SourceHead {
  // Vitess calls its database a keyspace, and MongoDB its table a collection.
  const database = keyspace || db;
  return {
    dialect: dialectOf(connector),
    isEvident: isNamed || typeof connector === "string" || typeof db === "string",
    table: Object.freeze({
      ...(database ? { database } : {}),
      ...(schema ? { schema } : {}),
      name: table ?? collection ?? "",
    }),
  };
}

/** The head of a source block; null if the value is not a block. */
export function headOfSource(source: unknown): SourceHead | null {
  if (source instanceof Deferred) {
    return source.peeked as SourceHead; // a plan of this file made it
  }
  return isBlock(source)
    ? headOf(
        peek.map((name) => textOrNull(source[name])),
        false,
      )
    : null;
}

/** The table that a value's deferred source block names; null if there is none, or it names none. */
export function tableInValue(value: unknown): TableName | null {
  const source = isBlock(value) ? value["source"] : undefined;
  const table = source instanceof Deferred ? (source.peeked as SourceHead).table : null; // a plan of this file made it
  return table?.name === "" ? null : table;
}

/** The table that a source block names, or the topic's table if it names none. */
export function tableOf({ table }: SourceHead, { topicTable }: EnvelopeScope): TableName {
  return table.name === "" && topicTable !== null ? topicTable : table;
}
