import { recordOf } from "@cdckit/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDecoder } from "../decoder.ts";
import type { CdcEvent, ChangeEvent } from "../event.ts";
import { Deduplicator, type Positions } from "./deduplicator.ts";
import { sourcePositions } from "./source-positions.ts";
import { changeOf, eventOf } from "./stream.contract.ts";

/** Positions in PostgreSQL's log, which can be compared if they are of the same server. */
const byLsn: Positions<{ server: unknown; lsn: number }> = {
  positionOf: ({ source }: ChangeEvent) =>
    typeof source.position["lsn"] === "number" ? { server: source.position["txId"], lsn: source.position["lsn"] } : null,
  compare: (one, other) => (one.server === other.server ? one.lsn - other.lsn : null),
};

function kept(events: readonly CdcEvent[], options = {}): CdcEvent[] {
  const deduplicator = new Deduplicator(byLsn, options);
  return events.filter((event) => !deduplicator.isDuplicate(event));
}

function at(lsn: number, id = lsn, op = "u", table = "a", partition = 0): CdcEvent {
  return changeOf(table, { op, lsn, key: { id }, after: { id } }, null, {}, partition);
}

describe("a change", () => {
  test("at or before the last position of its table and partition is a duplicate", () => {
    const events = [at(1), at(2), at(3), at(2), at(3), at(4)];
    expect(kept(events)).toEqual([events[0], events[1], events[2], events[5]]);
  });

  test("is compared within its own table and partition", () => {
    const events = [at(5), at(3, 3, "u", "b"), at(3, 3, "u", "a", 1)];
    expect(kept(events)).toEqual(events);
  });

  test("at the same position as another is told apart by its key and its operation", () => {
    const events = [at(5, 1, "d"), at(5, 2, "c"), at(5, 2, "c"), at(5, 1, "d")];
    expect(kept(events)).toEqual(events.slice(0, 2));
  });

  test("at the same position as another is told apart by an instance of a class in its key, which may have no properties", () => {
    class Money {
      readonly #text: string;
      constructor(unscaled: bigint, scale: number) {
        this.#text = `${unscaled}e-${scale}`;
      }
      toString(): string {
        return this.#text;
      }
    }
    const schema = {
      type: "struct",
      fields: [{ field: "id", type: "bytes", name: "org.apache.kafka.connect.data.Decimal", parameters: { scale: "2" } }],
    };
    const decoder = createDecoder({ values: { decimal: (unscaled, scale) => new Money(unscaled, scale) } });
    const of = (byte: number): CdcEvent => {
      const key = JSON.stringify({ schema, payload: { id: Buffer.of(byte).toString("base64") } });
      const source = { connector: "postgresql", name: "s", db: "d", schema: "public", table: "a", txId: 1, lsn: 5 };
      const value = JSON.stringify({ before: null, after: { a: 1 }, source, op: "u", ts_ms: 1 });
      return (decoder.decode(recordOf(value, { topic: "s.public.a", key })) as readonly CdcEvent[])[0] as CdcEvent;
    };
    const events = [of(1), of(2), of(1)];
    expect(kept(events)).toEqual(events.slice(0, 2));
  });

  test("without a key is told apart by its row", () => {
    const row = (id: number): CdcEvent => changeOf("a", { lsn: 5, key: null, after: { id } });
    const events = [row(1), row(2), row(1)];
    expect(kept(events)).toEqual(events.slice(0, 2));
  });

  test("that cannot be compared is not a duplicate, and the next ones are compared with it", () => {
    const other = (lsn: number): CdcEvent =>
      eventOf(
        "s.public.a",
        { id: lsn },
        {
          op: "u",
          before: null,
          after: { id: lsn },
          source: { connector: "postgresql", name: "s", db: "d", schema: "public", table: "a", txId: 99, lsn },
        },
      );
    const events = [at(100), other(7), other(7), other(8)];
    expect(kept(events)).toEqual([events[0], events[1], events[3]]);
  });
});

describe("these are never duplicates:", () => {
  test("a snapshot's row, a change without a position, an event of another kind", () => {
    const events = [
      at(5),
      changeOf("a", { op: "r", lsn: 5, after: { id: 5 }, key: { id: 5 } }),
      eventOf("s.public.a", { id: 1 }, { op: "c", before: null, after: {}, source: { connector: "postgresql", name: "s", table: "a" } }),
      eventOf("s.public.a", { id: 1 }, null),
      eventOf("s.public.a", { id: 1 }, null),
    ];
    expect(kept(events)).toEqual(events);
  });

  test("a flattened row that an incremental snapshot read, of which only the operation says so", () => {
    const flattened = (op: string, id: number, lsn: number): CdcEvent =>
      eventOf("s.public.a", { id }, { id, __op: op, __table: "a", __lsn: lsn });
    const events = [flattened("u", 1, 5), flattened("r", 2, 4), flattened("r", 2, 4), flattened("u", 1, 6)];
    expect(kept(events)).toEqual(events);
    expect(kept([...events, flattened("u", 1, 6)])).toEqual(events);
  });

  test("changes that were forgotten because of the limits", () => {
    expect(kept([at(1), at(1, 1, "u", "b"), at(1)], { maxPositions: 1 }).length).toBe(3);
    expect(kept([at(1, 1), at(1, 2), at(1, 2)], { maxAtPosition: 1 }).length).toBe(3);
  });
});

describe("the positions of source blocks", () => {
  const change = (source: Readonly<Record<string, unknown>>, id: number, headers = {}): CdcEvent =>
    eventOf("t", { id }, { op: "u", before: null, after: { id }, source: { name: "s", db: "d", table: "a", ...source } }, headers);

  test("identify each row that MySQL sent again", () => {
    const at = (pos: number, row: number): CdcEvent => change({ connector: "mysql", file: "binlog.000001", pos, row }, row);
    const events = [at(4, 0), at(4, 1), at(90, 0), at(4, 1), at(90, 0), at(90, 1)];
    const deduplicator = new Deduplicator(sourcePositions);
    expect(events.map((event) => deduplicator.isDuplicate(event))).toEqual([false, false, false, true, true, false]);
  });

  test("keep the second change of a row if they identify only its transaction", () => {
    const at = (commit: number, id: number): CdcEvent => change({ connector: "TiCDC", commit_ts: commit }, id);
    const events = [at(5, 1), at(5, 1), at(6, 1), at(5, 1)];
    const deduplicator = new Deduplicator(sourcePositions);
    expect(events.map((event) => deduplicator.isDuplicate(event))).toEqual([false, false, false, true]);
  });
});

test("each change is kept once if a connector sends any of them again", () => {
  const restarts = fc.array(fc.nat({ max: 19 }), { maxLength: 6 });
  fc.assert(
    fc.property(fc.array(fc.nat({ max: 2 }), { minLength: 20, maxLength: 20 }), restarts, (gaps, backTo) => {
      let lsn = 0;
      const log = gaps.map((gap, id) => ({ lsn: (lsn += gap), id }));
      const sent = [...log, ...backTo.sort((a, b) => a - b).flatMap((from) => log.slice(from))];
      const events = kept(sent.map(({ lsn: position, id }) => at(position, id)));
      expect(events.map((event) => (event.key as { id: number }).id)).toEqual(log.map(({ id }) => id));
    }),
    { numRuns: 200 },
  );
});
