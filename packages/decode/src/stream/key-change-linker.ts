import type { CdcEvent, ChangeEvent, Columns, TableName, TombstoneEvent } from "../event.ts";
import { resolveBounds } from "./bounds.ts";
import { canonicalText } from "./canonical-text.ts";
import { bindMethods } from "../bind-methods.ts";

/** What comes out of a {@link KeyChangeLinker}. Each event that went in comes out once, in one of these. */
export type LinkedItem =
  | { readonly kind: "event"; readonly event: CdcEvent }
  /** A row that got another primary key: Debezium sends a delete of the old key, perhaps its tombstone, and a create of the new one. */
  | {
      readonly kind: "key-changed";
      readonly table: TableName;
      readonly oldKey: Columns;
      readonly newKey: Columns;
      readonly before: Columns | null;
      readonly after: Columns | null;
      readonly delete: ChangeEvent;
      /** The tombstone of the old key, where it came before the other half did. One that comes later is an event of its own. */
      readonly tombstone: TombstoneEvent | null;
      readonly create: ChangeEvent;
    };

/** How long a {@link KeyChangeLinker} keeps one half while it waits for the other. */
export interface KeyChangeLinkerOptions {
  /**
   * Halves that wait at once; beyond, the oldest comes out as the plain event that it is.
   * @default 1_000
   */
  readonly maxPending?: number;
  /**
   * How long a half waits before `expire` lets it go as the plain event that it is.
   * @default 10_000
   */
  readonly windowMs?: number;
}

interface Half {
  /** The table, the old and the new key: what both halves agree on. */
  readonly link: string;
  /** The topic and the key of the half's own row. */
  readonly row: string;
  readonly event: ChangeEvent;
  readonly sinceMs: number;
  tombstone: TombstoneEvent | null;
}

/**
 * Links the two halves of a primary-key change. They have different keys, so that they may be on two partitions and come in any order.
 * The order of what happens to one key is kept: a waiting half goes out, unlinked, in front of the next event of its row.
 *
 * Halves belong together where the key that each names in its header is the other's. Headers carry no types: a key whose value is not what
 * was sent (a decimal, a time unless `time` is `"raw"`) is not recognised in them, and its halves come out as the events that they are.
 *
 * It keeps time by what it is told (`nowMs`) and never starts a timer: call `expire` now and then. What waits is detached.
 */
export class KeyChangeLinker {
  readonly #bounds: Required<KeyChangeLinkerOptions>;
  readonly #links = new Map<string, Half>();
  readonly #rows = new Map<string, Half>();

  constructor(options: KeyChangeLinkerOptions = {}) {
    this.#bounds = resolveBounds({ maxPending: 1_000, windowMs: 10_000, ...options }, "KeyChangeLinker");
    bindMethods(this);
  }

  get pending(): number {
    return this.#rows.size;
  }

  /** Takes the next event of the stream, and returns what it brings about: nothing where it is a half that waits now. */
  add(event: CdcEvent, nowMs: number): readonly LinkedItem[] {
    const row = rowOf(event);
    const waiting = row === null ? undefined : this.#rows.get(row);
    if (waiting !== undefined && event.kind === "tombstone" && waiting.event.op === "delete" && waiting.tombstone === null) {
      waiting.tombstone = event.detach();
      return [];
    }
    const items = waiting === undefined ? [] : this.#release(waiting);
    const link = linkOf(event);
    return row === null || link === null || event.kind !== "change"
      ? [...items, { kind: "event", event }]
      : [...items, ...this.#addHalf({ link, row, event, sinceMs: nowMs, tombstone: null })];
  }

  /** Lets halves go that have waited for `windowMs`. */
  expire(nowMs: number): readonly LinkedItem[] {
    const { windowMs } = this.#bounds;
    return [...this.#rows.values()].filter((half) => nowMs - half.sinceMs >= windowMs).flatMap((half) => this.#release(half));
  }

  /** Lets all halves go: the stream ends, or its partitions are somebody else's now. */
  drain(): readonly LinkedItem[] {
    return [...this.#rows.values()].flatMap((half) => this.#release(half));
  }

  #addHalf(half: Half): readonly LinkedItem[] {
    const other = this.#links.get(half.link);
    if (other !== undefined && other.event.op !== half.event.op) {
      this.#forget(other);
      return [linked(other, half)];
    }
    const blocking = other ?? (this.#rows.size >= this.#bounds.maxPending ? this.#rows.values().next().value : undefined);
    const items = blocking === undefined ? [] : this.#release(blocking);
    half.event.detach();
    this.#rows.set(half.row, half);
    this.#links.set(half.link, half);
    return items;
  }

  #forget(half: Half): void {
    this.#rows.delete(half.row);
    this.#links.delete(half.link);
  }

  #release(half: Half): readonly LinkedItem[] {
    this.#forget(half);
    const items: LinkedItem[] = [{ kind: "event", event: half.event }];
    return half.tombstone === null ? items : [...items, { kind: "event", event: half.tombstone }];
  }
}

function linked(one: Half, other: Half): LinkedItem {
  const [removed, created] = one.event.op === "delete" ? [one, other] : [other, one];
  return {
    kind: "key-changed",
    table: created.event.table,
    oldKey: removed.event.key ?? {},
    newKey: created.event.key ?? {},
    before: removed.event.before,
    after: created.event.after,
    delete: removed.event,
    tombstone: removed.tombstone,
    create: created.event,
  };
}

/** The row that an event is about, or null where it has no key. */
function rowOf(event: CdcEvent): string | null {
  const isOfRow = event.kind === "change" || event.kind === "tombstone" || event.kind === "row";
  return isOfRow && event.key !== null ? `${event.record.topic} ${canonicalText(event.key)}` : null;
}

/** The same text for both halves of a key change, or null for what is none. */
function linkOf(event: CdcEvent): string | null {
  if (event.kind !== "change" || event.keyChange === null) {
    return null;
  }
  const { key, keyChange, op } = event;
  if (typeof keyChange.key === "string" || Buffer.isBuffer(keyChange.key)) {
    return null; // what the header says cannot be compared with a key
  }
  const [oldKey, newKey] = keyChange.kind === "moved-to" ? [key, keyChange.key] : [keyChange.key, key];
  const fits = op === (keyChange.kind === "moved-to" ? "delete" : "create");
  return fits ? `${canonicalText([event.table.database, event.table.schema, event.table.name, oldKey, newKey])}` : null;
}
