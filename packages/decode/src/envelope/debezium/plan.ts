import { Deferred, type ReadPlan } from "../../encoding/reader.ts";
import type { TableName } from "../../event.ts";
import type { EnvelopeScope } from "../envelope.ts";
import { isBlock, textOrNull } from "../source.ts";
import { type Dialect, dialectOf } from "./dialect.ts";

/** The part of the source block that is read at once. The rest is read when somebody asks for it. */
export interface SourceHead {
  readonly table: TableName;
  /** The dialect of the connector, if it deviates from Debezium's relational connectors. Undefined: each record says it. */
  readonly dialect: Dialect | null | undefined;
  /** Whether the source is certainly Debezium's, by its values or by the schema's name. */
  readonly isEvident: boolean;
}

const peek = ["connector", "db", "schema", "table", "keyspace", "collection"] as const;

type Peeked = readonly (string | null | undefined)[];

/**
 * The read plan of one schema. `isNamed` says that the schema's name marks it as an envelope. The plan remembers tables, because records are nearly
 * always of one that was seen before.
 */
export function changePlan(isNamed: boolean): ReadPlan {
  const heads = new SourceHeads(isNamed);
  return { defer: { field: "source", peek, resolve: (peeked) => heads.of(peeked) }, skip: ["ts_us", "ts_ns"], rows: ["before", "after"] };
}

const maxTables = 1_000;
/** Of all texts of a head together. Those of a head that has more are not remembered, because a sender chooses them. */
const maxTextChars = 500;

interface KnownHead {
  readonly peeked: Peeked;
  readonly head: SourceHead;
}

/** The heads of the tables of one plan: to make one takes as long as reading a small record. */
class SourceHeads {
  readonly #isNamed: boolean;
  readonly #byTable = new Map<string, KnownHead>();
  #last: KnownHead | null = null;

  constructor(isNamed: boolean) {
    this.#isNamed = isNamed;
  }

  of(peeked: Peeked): SourceHead {
    if (this.#last === null || !samePeeked(peeked, this.#last.peeked)) {
      this.#last = this.#known(peeked);
    }
    return this.#last.head;
  }

  #known(peeked: Peeked): KnownHead {
    const [, db, schema, table, keyspace, collection] = peeked;
    const name = `${keyspace ?? db}.${schema}.${table ?? collection}`;
    const known = this.#byTable.get(name);
    if (known !== undefined && samePeeked(peeked, known.peeked)) {
      return known;
    }
    const made = { peeked, head: headOf(peeked, this.#isNamed) };
    if (peeked.reduce((sum, text) => sum + (text?.length ?? 0), 0) <= maxTextChars) {
      if (this.#byTable.size === maxTables) {
        this.#byTable.clear(); // those that come again are remembered again
      }
      this.#byTable.set(name, made);
    }
    return made;
  }
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
