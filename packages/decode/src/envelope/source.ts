import type { Source, TransactionPosition } from "../event.ts";

/** Fields of a Debezium source block that every connector has; the others are its position. */
const commonFields: ReadonlySet<string> = new Set([
  "version",
  "connector",
  "name",
  "ts_ms",
  "ts_us",
  "ts_ns",
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
  const raw: Block = isBlock(value) ? value : {};
  return {
    connector: textOrNull(raw["connector"]),
    name: textOrNull(raw["name"]),
    version: textOrNull(raw["version"]),
    snapshot: snapshotOf(raw["snapshot"]),
    tsMs: numberOrNull(raw["ts_ms"]),
    tsUs: numberOrNull(raw["ts_us"]),
    tsNs: bigintOrNull(raw["ts_ns"]),
    position: Object.fromEntries(Object.entries(raw).filter(([name]) => !commonFields.has(name))),
    raw,
  };
}

export function transactionOf(value: unknown): TransactionPosition | null {
  if (!isBlock(value)) {
    return null;
  }
  return {
    id: String(value["id"]),
    totalOrder: bigintOrNull(value["total_order"]) ?? 0n,
    dataCollectionOrder: bigintOrNull(value["data_collection_order"]) ?? 0n,
  };
}

export function isBlock(value: unknown): value is Block {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

export function textOrNull(value: unknown): string | null {
  return typeof value === "string" ? value : null;
}

/** A point in time or a count, whichever way the int64 option has it. */
export function numberOrNull(value: unknown): number | null {
  return typeof value === "number" || typeof value === "bigint" || isIntegerText(value) ? Number(value) : null;
}

export function bigintOrNull(value: unknown): bigint | null {
  return (typeof value === "number" && Number.isInteger(value)) || typeof value === "bigint" || isIntegerText(value) ? BigInt(value) : null;
}

function isIntegerText(value: unknown): value is string {
  return typeof value === "string" && /^-?[0-9]+$/.test(value);
}

/** Old connectors write a boolean, new ones a word; absent means streaming. */
function snapshotOf(value: unknown): string | false {
  if (value === true) {
    return "true";
  }
  return typeof value === "string" && value !== "false" ? value : false;
}
