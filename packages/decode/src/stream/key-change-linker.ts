import type { CdcEvent, ChangeEvent, Columns, TableName, TombstoneEvent } from "../event.ts";
import { resolveBounds } from "./bounds.ts";
import { canonicalText } from "./canonical-text.ts";
import { bindMethods } from "../bind-methods.ts";

/** The output of a {@link KeyChangeLinker}. Each event that was added comes out once, in one of these items. */
export type LinkedItem =
  | { readonly kind: "event"; readonly event: CdcEvent }
  /**
   * A row whose primary key changed. Debezium sends a delete of the old key, then a tombstone if the connector writes them, and a create of
   * the new key.
   */
  | {
      readonly kind: "key-changed";
      /** The table of the row. */
      readonly table: TableName;
      /** The key that the delete has. */
      readonly oldKey: Columns;
      /** The key that the create has. */
      readonly newKey: Columns;
      /** The row under its old key; null if the source did not send it. */
      readonly before: Columns | null;
      /** The row under its new key; null if the source did not send it. */
      readonly after: Columns | null;
      /** The first half. */
      readonly delete: ChangeEvent;
      /** The tombstone of the old key, if it arrived before the second half. A tombstone that arrives later is an event of its own. */
      readonly tombstone: TombstoneEvent | null;
      /** The second half. */
      readonly create: ChangeEvent;
    };

/** The limits of a {@link KeyChangeLinker} that waits for second halves. */
export interface KeyChangeLinkerOptions {
  /**
   * The most halves that wait at once. If there are more, the oldest comes out as a plain event.
   * @default 1_000
   */
  readonly maxPending?: number;
  /**
   * The time that a half waits before `expire` returns it as a plain event, in milliseconds.
   * @default 10_000
   */
  readonly windowMs?: number;
}

interface Half {
  /** The table, the old key and the new key, which are the same in both halves. */
  readonly link: string;
  /** The topic and the key of the half's own row. */
  readonly row: string;
  readonly event: ChangeEvent;
  readonly sinceMs: number;
  tombstone: TombstoneEvent | null;
}

/**
 * Links the two halves of a primary-key change. They have different keys, so they may be on two partitions and arrive in any order.
 *
 * The order of events of one key is kept: a waiting half comes out, unlinked, before the next event of its row. Without this, a row would
 * be lost in this sequence: a key change deletes key 1, and the delete waits for its other half; a new row with key 1 is inserted, and
 * comes out at once; then the delete comes out after its window, and a consumer deletes the new row.
 *
 * Two halves belong together if the key that each names in its header is the key of the other. Headers have no types. A key whose decoded
 * value differs from the sent one (a decimal, a time unless `time` is `"raw"`) is not recognised in them, and its halves come out as plain
 * events.
 *
 * It starts no timer. The caller passes the time (`nowMs`, in milliseconds) and calls `expire` regularly. Waiting events are detached.
 */
export class KeyChangeLinker {
  readonly #bounds: Required<KeyChangeLinkerOptions>;
  readonly #links = new Map<string, Half>();
  readonly #rows = new Map<string, Half>();

  constructor(options: KeyChangeLinkerOptions = {}) {
    this.#bounds = resolveBounds({ maxPending: 1_000, windowMs: 10_000, ...options }, "KeyChangeLinker");
    bindMethods(this);
  }

  /** How many deletes and creates wait for the other half of a changed key. */
  get pending(): number {
    return this.#rows.size;
  }

  /** Takes the next event of the stream and returns the items that come out. There are none if the event is a half that now waits. */
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

  /** Returns the halves that have waited for `windowMs`, as plain events. */
  expire(nowMs: number): readonly LinkedItem[] {
    const { windowMs } = this.#bounds;
    return [...this.#rows.values()].filter((half) => nowMs - half.sinceMs >= windowMs).flatMap((half) => this.#release(half));
  }

  /** Returns all waiting halves as plain events. Call it if the stream ends or its partitions are given to another consumer. */
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

/** The row of an event, or null if it has no key. */
function rowOf(event: CdcEvent): string | null {
  const isOfRow = event.kind === "change" || event.kind === "tombstone" || event.kind === "row";
  return isOfRow && event.key !== null ? `${event.record.topic} ${canonicalText(event.key)}` : null;
}

/** A text that both halves of a key change share, or null if the event is not a half. */
function linkOf(event: CdcEvent): string | null {
  if (event.kind !== "change" || event.keyChange === null) {
    return null;
  }
  const { key, keyChange, op } = event;
  if (typeof keyChange.key === "string" || Buffer.isBuffer(keyChange.key)) {
    return null; // the header cannot be compared with a key
  }
  const [oldKey, newKey] = keyChange.kind === "moved-to" ? [key, keyChange.key] : [keyChange.key, key];
  const fits = op === (keyChange.kind === "moved-to" ? "delete" : "create");
  return fits ? `${canonicalText([event.table.database, event.table.schema, event.table.name, oldKey, newKey])}` : null;
}
