import { setTimeout as pass } from "node:timers/promises";
import type { KafkaDriver } from "@cdckit/consumer";
import type { CdcEvent, SchemaSource } from "@cdckit/decode";
import type { Database } from "../../load/database.ts";
import type { TopicExtent } from "../../load/cluster.ts";
import { DurationHistogram } from "../../measure/duration-histogram.ts";
import { measureReading } from "../../measure/reading.ts";
import { insertStatement, type OrderTable } from "../tables/sales-order-detail.ts";
import type { TailMeasure } from "./result.ts";

const nsPerMs = 1e6;
/** How long the connector may take from the end of its snapshot to the first change. */
const firstRowDeadlineMs = 60_000;
/** How long rows may take that were inserted last. */
const lastRowDeadlineMs = 20_000;
const endCheckMs = 50;

export interface TailOptions {
  readonly database: Database;
  readonly table: OrderTable;
  readonly extent: TopicExtent;
  readonly driver: KafkaDriver;
  readonly schemas: SchemaSource | undefined;
  readonly groupId: string;
  readonly rowsPerSecond: number;
  readonly durationMs: number;
  readonly interrupt: AbortSignal;
  readonly onProgress: (rows: number, total: number) => void;
}

/**
 * Inserts rows at a set rate while a consumer follows, and measures how long each takes from the moment at which it was to be inserted. If
 * the database is late, the row is late: what waits for a slow insert counts (no coordinated omission). The caller deletes the rows.
 */
export async function measureTail(options: TailOptions): Promise<TailMeasure | null> {
  const { table, extent, rowsPerSecond, durationMs, interrupt } = options;
  const total = Math.max(1, Math.round((rowsPerSecond * durationMs) / 1e3));
  const [sinceIntended, sinceRecord] = [new DurationHistogram(), new DurationHistogram()];
  let startMs = Number.NaN;
  let seen = 0;
  const ended = new AbortController();
  let hasBegun = false;
  const reading = measureReading({
    driver: options.driver,
    schemas: options.schemas,
    groupId: options.groupId,
    topics: [extent.topic],
    from: { offsets: { [extent.topic]: Object.fromEntries(extent.partitions.map(({ partition, endOffset }) => [partition, endOffset])) } },
    end: {},
    maxDurationMs: undefined,
    maxIdleMs: undefined,
    measureLatency: false,
    interrupt: AbortSignal.any([interrupt, ended.signal]),
    onProgress: () => {},
    onEvent: (event) => {
      const row = idOf(event) - table.rows - 1;
      if (row === 0) {
        hasBegun = true;
      } else if (row > 0) {
        const nowMs = Date.now();
        sinceIntended.recordNs((nowMs - startMs - ((row - 1) * 1e3) / rowsPerSecond) * nsPerMs);
        sinceRecord.recordNs((nowMs - Number(event.record.timestamp)) * nsPerMs);
        seen++;
      }
    },
  });
  reading.catch(() => ended.abort());
  try {
    await insert(options, 0, 1);
    // The connector turns from its snapshot to the log, and the group joins: both are over when a first row has come through.
    await waitUntil(() => hasBegun, firstRowDeadlineMs, AbortSignal.any([interrupt, ended.signal]));
    if (!hasBegun) {
      return null;
    }
    startMs = Date.now() + 100;
    const inserted = await insertAtRate(options, total, startMs);
    await waitUntil(() => seen >= inserted, lastRowDeadlineMs, AbortSignal.any([interrupt, ended.signal]));
    return {
      rows: inserted,
      rowsPerSecond,
      sinceIntended: sinceIntended.summary(),
      sinceRecord: sinceRecord.summary(),
      missingRows: inserted - seen,
    };
  } finally {
    ended.abort();
    await reading;
  }
}

/** Gives how many rows were inserted. What is due at once goes in one statement. */
async function insertAtRate(options: TailOptions, total: number, startMs: number): Promise<number> {
  const { rowsPerSecond, interrupt, onProgress } = options;
  let inserted = 0;
  while (inserted < total && !interrupt.aborted) {
    const due = Math.min(total, Math.floor(((Date.now() - startMs) * rowsPerSecond) / 1e3) + 1);
    if (due > inserted) {
      await insert(options, inserted + 1, due + 1);
      inserted = due;
      onProgress(inserted, total);
    } else {
      await pass(1);
    }
  }
  return inserted;
}

async function insert({ database, table }: TailOptions, from: number, to: number): Promise<void> {
  await database.query(insertStatement(database.kind, table, table.rows + from, table.rows + to));
}

/** The id of the row; NaN if the event has none. */
function idOf(event: CdcEvent): number {
  const row = event.kind === "change" ? event.after : event.kind === "row" ? event.row : null;
  return Number(row?.["id"] ?? Number.NaN);
}

async function waitUntil(isDone: () => boolean, deadlineMs: number, interrupt: AbortSignal): Promise<void> {
  const endMs = performance.now() + deadlineMs;
  while (!isDone() && !interrupt.aborted && performance.now() < endMs) {
    await pass(endCheckMs);
  }
}
