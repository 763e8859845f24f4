import { Deferred, type DeferredField, type ReadPlan } from "../../encoding/reader.ts";
import type { TableName } from "../../event.ts";
import type { EnvelopeScope } from "../envelope.ts";
import { isBlock, textOrNull } from "../source.ts";
import { type Dialect, dialectOf } from "./dialect.ts";

/** What is read of the source block at once; the rest waits for somebody to ask. */
export interface SourceHead {
  readonly table: TableName;
  /** How its connector writes changes, where that is a way of its own. */
  readonly dialect: Dialect | null;
}

const peek = ["connector", "db", "schema", "table", "keyspace", "collection"] as const;

type Peeked = readonly (string | null | undefined)[];

/** The plan of one schema. It remembers the last table, for the next record is of the same one nearly always. */
export function changePlan(): ReadPlan {
  return { defer: deferredSource(), skip: ["ts_us", "ts_ns"], rows: ["before", "after"] };
}

function deferredSource(): DeferredField {
  let last: Peeked = [];
  let head: SourceHead = headOf([]);
  return {
    field: "source",
    peek,
    resolve: (peeked) => {
      if (!samePeeked(peeked, last)) {
        last = peeked;
        head = headOf(peeked);
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

function headOf([connector, db, schema, table, keyspace, collection]: Peeked): SourceHead {
  // Vitess calls its database a keyspace, and MongoDB its table a collection.
  const database = keyspace || db;
  return {
    dialect: dialectOf(connector),
    table: Object.freeze({
      ...(database ? { database } : {}),
      ...(schema ? { schema } : {}),
      name: table ?? collection ?? "",
    }),
  };
}

/** The head of a source block; null where there is none. */
export function headOfSource(source: unknown): SourceHead | null {
  if (source instanceof Deferred) {
    return source.peeked as SourceHead; // the plan's own head
  }
  return isBlock(source) ? headOf(peek.map((name) => textOrNull(source[name]))) : null;
}

/** The table that a source block names; the topic's, where it names none. */
export function tableOf({ table }: SourceHead, { topicTable }: EnvelopeScope): TableName {
  return table.name === "" && topicTable !== null ? topicTable : table;
}

/** The head of a source block that was not deferred: of a field that is no record in this schema. */
export const noSource: SourceHead = headOf([]);
