import { SeededRandom } from "../../seeded-random.ts";
import type { Envelope, EnvelopeOp, EnvelopeSource } from "./envelope.ts";
import type { ChangeOp, OpMix } from "./op-mix.ts";
import { type SalesOrderRow, salesOrderRow } from "./sales-order-row.ts";

/** Where the events seem to come from. */
export interface ChangeSource {
  /** `topic.prefix`: the first part of the topic's name. */
  readonly prefix: string;
  readonly database: string;
  readonly schema: string;
  readonly table: string;
}

export interface ChangeStreamOptions {
  readonly seed: number;
  readonly mix: OpMix;
  /**
   * How many records there will be, tombstones included. The snapshot's share of them comes first, as an initial snapshot. Absent: the stream
   * has no end, and reads come between the changes, as an incremental snapshot.
   */
  readonly records?: number;
  readonly source: ChangeSource;
}

/** A record of a topic, before it is bytes. */
export interface ChangeRecord {
  readonly id: number;
  /** Null: a tombstone. */
  readonly envelope: Envelope | null;
}

/** Endless and the same for one seed, whatever the format: only times come from the caller. */
export interface ChangeStream {
  /** @param timeUs when it happens, in microseconds since 1970: of the envelope and of its source */
  next(timeUs: number): ChangeRecord;
}

/** Rows that are changed or deleted are among so many of the youngest, so that memory has a bound. */
const maxLiveRows = 65_536;
const debeziumVersion = "3.5.0.Final";
const firstTxId = 743;
const firstLsn = 69_125_792;

/** Rows, operations and positions of a table whose replica identity is FULL: updates and deletes carry the row before. */
export function createChangeStream(options: ChangeStreamOptions): ChangeStream {
  return new SeededChangeStream(options);
}

class SeededChangeStream implements ChangeStream {
  readonly #options: ChangeStreamOptions;
  readonly #random: SeededRandom;
  readonly #initialReads: number;
  /** Ids with their updates, in no order: one is taken out by moving the last one into its place. */
  readonly #live: { id: number; updates: number }[] = [];
  #made = 0;
  #lastId = 0;
  #txId = firstTxId;
  #lsn = firstLsn;
  #oldest = 0;
  #tombstoneOf: number | null = null;

  constructor(options: ChangeStreamOptions) {
    this.#options = options;
    this.#random = new SeededRandom(options.seed);
    this.#initialReads = options.records === undefined ? 0 : Math.round(options.records * options.mix.read);
  }

  next(timeUs: number): ChangeRecord {
    const index = this.#made++;
    if (this.#tombstoneOf !== null) {
      const id = this.#tombstoneOf;
      this.#tombstoneOf = null;
      return { id, envelope: null };
    }
    if (index < this.#initialReads) {
      return this.#read(timeUs, index === 0 ? "first" : index === this.#initialReads - 1 ? "last" : "true");
    }
    const op = this.#pickOp();
    if (op === "read") {
      return this.#read(timeUs, "incremental");
    }
    this.#txId++;
    this.#lsn += 80 + this.#random.integer(0, 31) * 8;
    switch (op) {
      case "create": {
        const row = this.#newRow();
        return { id: row.id, envelope: this.#envelope("c", null, row, timeUs, "false") };
      }
      case "update": {
        const live = this.#pickLive();
        const before = salesOrderRow(this.#options.seed, live.id, live.updates);
        live.updates++;
        const after = salesOrderRow(this.#options.seed, live.id, live.updates);
        return { id: live.id, envelope: this.#envelope("u", before, after, timeUs, "false") };
      }
      case "delete": {
        const live = this.#takeLive();
        this.#tombstoneOf = live.id;
        return {
          id: live.id,
          envelope: this.#envelope("d", salesOrderRow(this.#options.seed, live.id, live.updates), null, timeUs, "false"),
        };
      }
    }
  }

  #read(timeUs: number, snapshot: string): ChangeRecord {
    const row = this.#newRow();
    return { id: row.id, envelope: this.#envelope("r", null, row, timeUs, snapshot) };
  }

  /** A table that has no row yet gets one first. */
  #pickOp(): ChangeOp {
    const { mix } = this.#options;
    const reads = this.#options.records === undefined ? mix.read : 0;
    let at = this.#random.next() * (reads + mix.create + mix.update + mix.delete);
    for (const [op, share] of [
      ["read", reads],
      ["create", mix.create],
      ["update", mix.update],
      ["delete", mix.delete],
    ] as const) {
      if (at < share) {
        return this.#live.length === 0 && op !== "read" ? "create" : op;
      }
      at -= share;
    }
    return "create";
  }

  #newRow(): SalesOrderRow {
    const id = ++this.#lastId;
    const live = { id, updates: 0 };
    if (this.#live.length < maxLiveRows) {
      this.#live.push(live);
    } else {
      this.#live[this.#oldest] = live;
      this.#oldest = (this.#oldest + 1) % maxLiveRows;
    }
    return salesOrderRow(this.#options.seed, id);
  }

  #pickLive(): { id: number; updates: number } {
    return this.#live[this.#random.integer(0, this.#live.length - 1)] as { id: number; updates: number }; // there is one
  }

  #takeLive(): { id: number; updates: number } {
    const at = this.#random.integer(0, this.#live.length - 1);
    const taken = this.#live[at] as { id: number; updates: number }; // there is one
    const last = this.#live.pop() as { id: number; updates: number };
    if (last !== taken) {
      this.#live[at] = last;
    }
    return taken;
  }

  #envelope(op: EnvelopeOp, before: SalesOrderRow | null, after: SalesOrderRow | null, timeUs: number, snapshot: string): Envelope {
    const us = Math.floor(timeUs);
    const ms = Math.floor(us / 1e3);
    const ns = BigInt(us) * 1000n;
    return { before, after, source: this.#source(ms, us, ns, snapshot), transaction: null, op, ts_ms: ms, ts_us: us, ts_ns: ns };
  }

  #source(ms: number, us: number, ns: bigint, snapshot: string): EnvelopeSource {
    const { prefix, database, schema, table } = this.#options.source;
    const lsn = this.#lsn;
    return {
      version: debeziumVersion,
      connector: "postgresql",
      name: prefix,
      ts_ms: ms,
      snapshot,
      db: database,
      sequence: snapshot === "false" ? `["${lsn}","${lsn}"]` : `[null,"${lsn}"]`,
      ts_us: us,
      ts_ns: ns,
      schema,
      table,
      txId: this.#txId,
      lsn,
      xmin: null,
      origin: null,
      origin_lsn: null,
    };
  }
}
