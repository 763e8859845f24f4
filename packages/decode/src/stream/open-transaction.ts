import type { TableName, TransactionEvent } from "../event.ts";
import type { AssembledTransaction, MissingEvents, TransactionalEvent } from "./assembled-item.ts";

/** A transaction that has begun to arrive and is not complete. */
export class OpenTransaction {
  readonly id: string;
  /** The time at which its last record arrived. */
  touchedMs = 0;
  readonly #events = new Map<bigint, TransactionalEvent>();
  #bytes = 0;
  #beginTsMs: number | null = null;
  #endTsMs: number | null = null;
  #hasEnded = false;
  #expected: Expected | null = null;

  constructor(id: string) {
    this.id = id;
  }

  get size(): number {
    return this.#events.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  get isComplete(): boolean {
    return this.#expected !== null && this.#events.size >= this.#expected.total;
  }

  has(totalOrder: bigint): boolean {
    return this.#events.has(totalOrder);
  }

  add(event: TransactionalEvent, totalOrder: bigint, bytes: number): void {
    this.#events.set(totalOrder, event);
    this.#bytes += bytes;
  }

  begin({ tsMs }: TransactionEvent): void {
    this.#beginTsMs = tsMs;
  }

  end(event: TransactionEvent, includes: (dataCollection: string) => boolean): void {
    this.#hasEnded = true;
    this.#endTsMs = event.tsMs;
    this.#expected = expectedOf(event, includes);
  }

  assembled(): AssembledTransaction {
    const inOrder = [...this.#events].sort(([one], [other]) => (one < other ? -1 : 1)); // no two are equal
    return { id: this.id, events: inOrder.map(([, event]) => event), beginTsMs: this.#beginTsMs, endTsMs: this.#endTsMs };
  }

  missing(): MissingEvents {
    const seen = this.#events.size;
    if (this.#expected === null) {
      return { end: !this.#hasEnded, expected: null, seen, collections: null };
    }
    const { total, collections } = this.#expected;
    const counts = new Map<string, number>();
    for (const event of this.#events.values()) {
      const name = collectionOf(event, collections);
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
    const lacking = [...collections]
      .map(([dataCollection, expected]) => ({ dataCollection, expected, seen: counts.get(dataCollection) ?? 0 }))
      .filter((one) => one.seen < one.expected);
    return { end: false, expected: total, seen, collections: lacking };
  }
}

interface Expected {
  readonly total: number;
  readonly collections: ReadonlyMap<string, number>;
}

/** The counts of an END record; null if it has none. */
function expectedOf({ eventCount, dataCollections }: TransactionEvent, includes: (dataCollection: string) => boolean): Expected | null {
  if (eventCount === null && dataCollections === null) {
    return null;
  }
  const declared = dataCollections ?? [];
  const collections = new Map<string, number>();
  for (const one of declared.filter(({ dataCollection }) => includes(dataCollection))) {
    collections.set(one.dataCollection, (collections.get(one.dataCollection) ?? 0) + Number(one.eventCount));
  }
  const total = [...collections.values()].reduce((sum, count) => sum + count, 0);
  return { total: collections.size === declared.length && eventCount !== null ? Number(eventCount) : total, collections };
}

/** The collection that an event counts for, by its name in the END record: `schema.table`, `database.table`, or all three. */
function collectionOf(event: TransactionalEvent, collections: ReadonlyMap<string, number>): string {
  const names = event.kind === "message" ? [...collections.keys()].filter(isOfMessages) : namesOf(event.table);
  return names.find((name) => collections.has(name)) ?? event.record.topic;
}

/**
 * The collection that PostgreSQL's logical messages count for. Debezium 3.5 writes a Java object's name in its place, which ends in another number
 * each time: `io.debezium.connector.postgresql.LogicalDecodingMessageMonitor$LogicalDecodingMessageId@5f3a`.
 */
function isOfMessages(collection: string): boolean {
  return collection === "LOGICAL_DECODING_MESSAGE" || /LogicalDecodingMessageId@[0-9a-f]+$/.test(collection);
}

function namesOf({ database, schema, name }: TableName): readonly string[] {
  return [
    [database, schema, name].filter((part) => part !== undefined).join("."),
    ...[schema, database].filter((part) => part !== undefined).map((part) => `${part}.${name}`),
    name,
  ];
}
