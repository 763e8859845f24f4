import type { Columns, Source, TransactionPosition } from "../event.ts";
import { setProperty } from "../set-property.ts";
import { showAs } from "./show.ts";

/** Fields of a Debezium source block that every connector has; the others are its position. */
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

/** A source block in the words of the API. */
export function sourceOf(value: unknown): Source {
  return new BlockSource(isBlock(value) ? value : {});
}

const shownFields = ["connector", "name", "version", "snapshot", "tsMs", "tsUs", "tsNs", "position", "raw"] as const;

/** Each field is read from the block when it is asked for: most consumers ask for one or two, or none. */
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
    return numberOrNull(this.raw["ts_us"] ?? this.raw["ts_micro"]); // Cassandra's name for it
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

/** The source as a plain object, every field computed. */
export function plainSource(source: Source): Record<string, unknown> {
  return Object.fromEntries(shownFields.map((name) => [name, source[name]]));
}

showAs(BlockSource.prototype, plainSource);

/** Null where there is no transaction, or what stands there is none: no part of it is made up. */
export function transactionOf(value: unknown): TransactionPosition | null {
  if (!isBlock(value)) {
    return null;
  }
  const id = scalarText(value["id"]);
  const totalOrder = orderOf(value["total_order"]);
  const dataCollectionOrder = orderOf(value["data_collection_order"]);
  return id === null || totalOrder === null || dataCollectionOrder === null ? null : { id, totalOrder, dataCollectionOrder };
}

/** 0 where no order is stated, as by systems that number no changes. */
function orderOf(value: unknown): bigint | null {
  return value === undefined || value === null ? 0n : bigintOrNull(value);
}

/**
 * What an envelope says of a transaction and a time that are none: it becomes the event's `extra`, so that it does not vanish. Told when it is
 * asked for, so that it costs nothing where nobody asks.
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
  if (tsMs === null && (declared["ts_ms"] ?? null) !== null) {
    all = { ...all, ts_ms: declared["ts_ms"] };
  }
  return all;
}

export function isBlock(value: unknown): value is Block {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** Text, or a number as text. `String` of anything else asks the value itself, whose names came from bytes: `{"toString":1}` throws. */
export function scalarText(value: unknown): string | null {
  return typeof value === "string" || typeof value === "number" || typeof value === "bigint" ? String(value) : null;
}

/** A point in time or a count, whichever way the int64 option has it. */
export function numberOrNull(value: unknown): number | null {
  return typeof value === "number" || typeof value === "bigint" || isIntegerText(value) ? Number(value) : null;
}

export function bigintOrNull(value: unknown): bigint | null {
  return (typeof value === "number" && Number.isInteger(value)) || typeof value === "bigint" || isIntegerText(value) ? BigInt(value) : null;
}

/** At most 20 digits: more are no int64, and a bigint of a megabyte of them takes a quarter of a second. */
function isIntegerText(value: unknown): value is string {
  return typeof value === "string" && /^-?[0-9]{1,20}$/.test(value);
}

/** Old connectors write a boolean, new ones a word; absent means streaming. */
function snapshotOf(value: unknown): string | false {
  if (value === true) {
    return "true";
  }
  return typeof value === "string" && value !== "false" ? value : false;
}
