import type { Columns, Source, TransactionPosition } from "../event.ts";
import { setProperty } from "../set-property.ts";
import { showAs } from "./show.ts";

/** Fields of a Debezium source block that every connector has. The other fields are the position. */
const commonFields: ReadonlySet<string> = new Set([
  "version",
  "connector",
  "name",
  "ts_ms",
  "ts_us",
  "ts_ns",
  "ts_micro",
  "snapshot",
  "db",
  "schema",
  "table",
  "collection",
  "keyspace",
]);

type Block = Readonly<Record<string, unknown>>;

/** A source block in the API's form. */
export function sourceOf(value: unknown): Source {
  return new BlockSource(isBlock(value) ? value : {});
}

const shownFields = ["connector", "name", "version", "snapshot", "tsMs", "tsUs", "tsNs", "position", "raw"] as const;

/** A source that reads each field of the block on access, because most consumers ask for one or two fields, or none. */
class BlockSource implements Source {
  readonly raw: Block;
  #position: Block | null = null;

  constructor(raw: Block) {
    this.raw = raw;
  }

  get connector(): string | null {
    return textOrNull(this.raw["connector"]);
  }

  get name(): string | null {
    return textOrNull(this.raw["name"]);
  }

  get version(): string | null {
    return textOrNull(this.raw["version"]);
  }

  get snapshot(): string | false {
    return snapshotOf(this.raw["snapshot"]);
  }

  get tsMs(): number | null {
    return numberOrNull(this.raw["ts_ms"]);
  }

  get tsUs(): number | null {
    return numberOrNull(this.raw["ts_us"] ?? this.raw["ts_micro"]); // the name in Cassandra's connector
  }

  get tsNs(): bigint | null {
    return bigintOrNull(this.raw["ts_ns"]);
  }

  get position(): Block {
    this.#position ??= withoutCommonFields(this.raw);
    return this.#position;
  }
}

function withoutCommonFields(raw: Block): Block {
  const position: Record<string, unknown> = {};
  for (const name of Object.keys(raw)) {
    if (!commonFields.has(name)) {
      setProperty(position, name, raw[name]);
    }
  }
  return position;
}

/** The source as a plain object with all fields computed. */
export function plainSource(source: Source): Record<string, unknown> {
  return Object.fromEntries(shownFields.map((name) => [name, source[name]]));
}

showAs(BlockSource.prototype, plainSource);

/** The transaction of a change. Null if there is none, or if a part is missing or invalid. No part is invented. */
export function transactionOf(value: unknown): TransactionPosition | null {
  if (!isBlock(value)) {
    return null;
  }
  const id = scalarText(value["id"]);
  const totalOrder = orderOf(value["total_order"]);
  const dataCollectionOrder = orderOf(value["data_collection_order"]);
  return id === null || totalOrder === null || dataCollectionOrder === null ? null : { id, totalOrder, dataCollectionOrder };
}

/** The order of a change, or 0 if none is stated: some systems do not number their changes. */
function orderOf(value: unknown): bigint | null {
  return value === undefined || value === null ? 0n : bigintOrNull(value);
}

/** The members of a transaction that every connector has. Vitess's also writes an epoch and a rank, which order its transactions. */
const transactionMembers: ReadonlySet<string> = new Set(["id", "total_order", "data_collection_order"]);

/**
 * Adds a transaction and a time that could not be read, and the members of a transaction that are not known, to the event's `extra`, so that
 * they are not lost. This happens on access, so that it costs nothing if nobody asks.
 */
export function withUnread(
  extra: Columns | null,
  declared: Block,
  transaction: TransactionPosition | null,
  tsMs: number | null,
): Columns | null {
  let all = extra;
  if (transaction === null && (declared["transaction"] ?? null) !== null) {
    all = { ...all, transaction: declared["transaction"] };
  }
  const unknown = transaction === null ? null : unknownMembers(declared["transaction"]);
  if (unknown !== null) {
    all = { ...all, transaction: unknown };
  }
  if (tsMs === null && (declared["ts_ms"] ?? null) !== null) {
    all = { ...all, ts_ms: declared["ts_ms"] };
  }
  return all;
}

function unknownMembers(transaction: unknown): Columns | null {
  const names = isBlock(transaction) ? Object.keys(transaction).filter((name) => !transactionMembers.has(name)) : [];
  return names.length === 0 ? null : Object.fromEntries(names.map((name) => [name, (transaction as Block)[name]])); // only a block has names
}

export function isBlock(value: unknown): value is Block {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/**
 * Text, or a number as text. Other values are not passed to `String`, because it would call their own `toString`, and its name can come
 * from the bytes: `{"toString":1}` throws.
 */
export function scalarText(value: unknown): string | null {
  return typeof value === "string" || typeof value === "number" || typeof value === "bigint" ? String(value) : null;
}

/** A time or a count, in any form that the int64 option gives. */
export function numberOrNull(value: unknown): number | null {
  return typeof value === "number" || typeof value === "bigint" || isIntegerText(value) ? Number(value) : null;
}

export function bigintOrNull(value: unknown): bigint | null {
  return (typeof value === "number" && Number.isInteger(value)) || typeof value === "bigint" || isIntegerText(value) ? BigInt(value) : null;
}

/** At most 20 digits: a longer text is not an int64, and making a bigint from a megabyte of digits takes a quarter of a second. */
function isIntegerText(value: unknown): value is string {
  return typeof value === "string" && /^-?[0-9]{1,20}$/.test(value);
}

/** The snapshot marker. Old connectors write a boolean, and new ones write a word. If it is missing, the change was streamed. */
function snapshotOf(value: unknown): string | false {
  if (value === true) {
    return "true";
  }
  return typeof value === "string" && value !== "false" ? value : false;
}
