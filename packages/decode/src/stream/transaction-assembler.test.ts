import { fromBundle } from "@cdckit/registry";
import { bundledRecordings, loadRecording } from "@cdckit/testkit";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createDecoder } from "../decoder.ts";
import { isDecodeError } from "../errors.ts";
import type { CdcEvent } from "../event.ts";
import type { AssembledItem } from "./assembled-item.ts";
import { boundaryOf, changeOf, eventOf } from "./stream.contract.ts";
import { TransactionAssembler, type TransactionAssemblerOptions } from "./transaction-assembler.ts";

function part(id: string, totalOrder: number, table = "a"): CdcEvent {
  return changeOf(table, { after: { id: totalOrder } }, { id, total_order: totalOrder, data_collection_order: totalOrder });
}

function addAll(assembler: TransactionAssembler, events: readonly CdcEvent[], nowMs = 0): AssembledItem[] {
  return events.flatMap((event) => assembler.add(event, nowMs));
}

/** Items as text: `complete 7: 1 2`, `incomplete 7: 1`, `duplicate`, ... */
function shown(items: readonly AssembledItem[]): string[] {
  return items.map((item) => {
    if (item.kind === "single") {
      return item.reason;
    }
    const orders = item.transaction.events.map((event) => String(event.transaction?.totalOrder));
    return `${item.kind === "transaction" ? "complete" : item.reason} ${item.transaction.id}: ${orders.join(" ")}`;
  });
}

describe("transactions that Debezium recorded of PostgreSQL, whose ids have another LSN in each record,", () => {
  test.each(["tjn", "tjs", "tav"])("%s: come out whole, in the order of the source", async (prefix) => {
    const recordings = bundledRecordings().filter(({ name }) => name.startsWith(`postgres-debezium-3.5/${prefix}.`));
    const assembler = new TransactionAssembler();
    const items: AssembledItem[] = [];
    let ends = 0;
    for (const { file, schemasFile } of recordings) {
      const decoder = createDecoder({ schemas: fromBundle(schemasFile) });
      for (const record of await loadRecording(file)) {
        const events = await decoder.decode(record);
        ends += events.filter((event) => event.kind === "transaction" && event.status === "end").length;
        items.push(...addAll(assembler, events));
      }
    }
    expect(ends).toBe(12);
    expect(items.filter(({ kind }) => kind === "transaction").length).toBe(10);
    expect(items.filter((item) => item.kind === "single" && item.reason !== "no-transaction")).toEqual([]);
    expect(shown(assembler.drain())).toEqual(["drained 798: ", "drained 799: "]); // two rows of inv.alltypes that are not in the recording
    expect(shown(items)).toContain("complete 801: 1 2 3");
  });

  test("say that their logical message is missing, by the name that Debezium gives its collection", () => {
    const messages = "io.debezium.connector.postgresql.LogicalDecodingMessageMonitor$LogicalDecodingMessageId@5f3a";
    const message = eventOf(
      "s.message",
      { prefix: "p" },
      {
        op: "m",
        ts_ms: 1,
        source: { connector: "postgresql", name: "s" },
        message: { prefix: "p", content: "AA==" },
        transaction: { id: "7:100", total_order: 1, data_collection_order: 1 },
      },
    );
    const missingOf = (events: readonly CdcEvent[]): unknown => {
      const assembler = new TransactionAssembler();
      addAll(assembler, events);
      return assembler.drain();
    };
    const end = eventOf(
      "s.transaction",
      { id: "7:200" },
      {
        status: "END",
        id: "7:200",
        event_count: 2,
        data_collections: [
          { data_collection: "public.a", event_count: 1 },
          { data_collection: messages, event_count: 1 },
        ],
        ts_ms: 20,
      },
    );
    expect(missingOf([message, end])).toMatchObject([{ missing: { collections: [{ dataCollection: "public.a", expected: 1, seen: 0 }] } }]);
    expect(missingOf([part("7:150", 2), end])).toMatchObject([
      { missing: { collections: [{ dataCollection: messages, expected: 1, seen: 0 }] } },
    ]);
  });
});

describe("a transaction", () => {
  test("comes out in total order when its END and as many events as the END counts have arrived", () => {
    const assembler = new TransactionAssembler();
    const before = addAll(assembler, [boundaryOf("7", "BEGIN"), part("7", 3, "b"), part("7", 1), boundaryOf("7", "END", { a: 2, b: 1 })]);
    expect(before).toEqual([]);
    expect(assembler.openTransactions).toBe(1);
    const [item, ...more] = assembler.add(part("7", 2), 0);
    expect(more).toEqual([]);
    expect(shown(item === undefined ? [] : [item])).toEqual(["complete 7: 1 2 3"]);
    expect(item).toMatchObject({ kind: "transaction", transaction: { beginTsMs: 10, endTsMs: 20 } });
    expect([assembler.openTransactions, assembler.bufferedEvents, assembler.bufferedBytes]).toEqual([0, 0, 0]);
  });

  test("needs no BEGIN", () => {
    const items = addAll(new TransactionAssembler(), [part("7", 1), boundaryOf("7", "END", { a: 1 })]);
    expect(shown(items)).toEqual(["complete 7: 1"]);
    expect(items[0]).toMatchObject({ transaction: { beginTsMs: null, endTsMs: 20 } });
  });

  test("without events is complete with its END", () => {
    expect(shown(addAll(new TransactionAssembler(), [boundaryOf("7", "BEGIN"), boundaryOf("7", "END")]))).toEqual(["complete 7: "]);
  });

  test("does not hold events that are not numbered, because the second one would look like the first one again", () => {
    const unnumbered = (): CdcEvent => changeOf("a", { after: { id: 1 } }, { id: "7" });
    expect(shown(addAll(new TransactionAssembler(), [unnumbered(), unnumbered()]))).toEqual(["no-transaction", "no-transaction"]);
  });

  test("may be interleaved with others", () => {
    const events = [part("7", 1), part("8", 1), boundaryOf("8", "END", { a: 1 }), part("7", 2), boundaryOf("7", "END", { a: 2 })];
    expect(shown(addAll(new TransactionAssembler(), events))).toEqual(["complete 8: 1", "complete 7: 1 2"]);
  });

  test("does not wait for events of collections that the stream does not have", () => {
    const assembler = new TransactionAssembler({ includes: (collection) => collection === "public.a" });
    expect(shown(addAll(assembler, [part("7", 2), boundaryOf("7", "END", { a: 1, b: 9 })]))).toEqual(["complete 7: 2"]);
  });

  test("counts truncations and logical messages too", () => {
    const transaction = (order: number) => ({ id: "7", total_order: order, data_collection_order: 1 });
    const message = eventOf(
      "s.message",
      { prefix: "p" },
      {
        op: "m",
        ts_ms: 1,
        source: { connector: "postgresql", name: "s" },
        message: { prefix: "p", content: "AA==" },
        transaction: transaction(2),
      },
    );
    const events = [changeOf("a", { op: "t", key: null }, transaction(1)), message, boundaryOf("7", "END", { a: 2 })];
    expect(shown(addAll(new TransactionAssembler(), events))).toEqual(["complete 7: 1 2"]);
  });

  test("holds detached events: the batch that they came in may be overwritten", () => {
    const assembler = new TransactionAssembler();
    const event = part("7", 1);
    const value = event.record.value as Uint8Array;
    const before = Buffer.from(value);
    assembler.add(event, 0);
    value.fill(0);
    expect(event.record.value).toEqual(before);
  });
});

describe("an event that is not part of an open transaction comes out at once", () => {
  test("an event without a transaction, or of another kind", () => {
    const assembler = new TransactionAssembler();
    const events = [changeOf("a", { op: "r", after: { id: 1 } }), eventOf("s.public.a", { id: 1 }, null)];
    const items = addAll(assembler, events);
    expect(shown(items)).toEqual(["no-transaction", "no-transaction"]);
    expect(items.map((item) => (item.kind === "single" ? item.event : null))).toEqual(events);
  });

  test("an event that is delivered again, while its transaction is open or after the transaction came out", () => {
    const assembler = new TransactionAssembler();
    const events = [part("7", 1), part("7", 1), part("7", 2), boundaryOf("7", "END", { a: 2 })];
    expect(shown(addAll(assembler, events))).toEqual(["duplicate", "complete 7: 1 2"]);
    expect(shown(addAll(assembler, [boundaryOf("7", "BEGIN"), part("7", 2), boundaryOf("7", "END", { a: 2 })]))).toEqual(["duplicate"]);
    expect(assembler.openTransactions).toBe(0);
  });
});

describe("a transaction without further records", () => {
  test("is given up after the time-out, and says how many events each collection lacks", () => {
    const assembler = new TransactionAssembler({ timeoutMs: 100 });
    assembler.add(part("7", 1), 0);
    assembler.add(boundaryOf("7", "END", { a: 3, b: 2 }), 50);
    expect(assembler.expire(149)).toEqual([]);
    const items = assembler.expire(150);
    expect(shown(items)).toEqual(["timeout 7: 1"]);
    expect(items[0]).toMatchObject({
      missing: {
        end: false,
        expected: 5,
        seen: 1,
        collections: [
          { dataCollection: "public.a", expected: 3, seen: 1 },
          { dataCollection: "public.b", expected: 2, seen: 0 },
        ],
      },
    });
    expect(shown(assembler.add(part("7", 2), 151))).toEqual(["late"]);
    expect(assembler.bufferedEvents).toBe(0);
  });

  test("says that its END is missing", () => {
    const assembler = new TransactionAssembler({ timeoutMs: 100 });
    addAll(assembler, [boundaryOf("7", "BEGIN"), part("7", 1)]);
    expect(assembler.expire(100)[0]).toMatchObject({ missing: { end: true, expected: null, seen: 1, collections: null } });
  });

  test("is not complete if its END has no counts", () => {
    const assembler = new TransactionAssembler({ timeoutMs: 100 });
    const end = eventOf("s.transaction", { id: "7" }, { status: "END", id: "7", ts_ms: 1, event_count: null, data_collections: null });
    expect(addAll(assembler, [part("7", 1), end])).toEqual([]);
    expect(assembler.expire(100)[0]).toMatchObject({ missing: { end: false, expected: null, seen: 1 } });
  });

  test("comes out of a drain at any age", () => {
    const assembler = new TransactionAssembler();
    addAll(assembler, [part("7", 1), part("8", 1)]);
    expect(shown(assembler.drain())).toEqual(["drained 7: 1", "drained 8: 1"]);
    expect(assembler.drain()).toEqual([]);
  });
});

describe("a limit", () => {
  const refusals: readonly [string, TransactionAssemblerOptions, readonly CdcEvent[]][] = [
    ["of open transactions", { maxOpenTransactions: 2 }, [part("1", 1), part("2", 1)]],
    ["of events", { maxBufferedEvents: 2 }, [part("1", 1), part("1", 2)]],
    ["of bytes", { maxBufferedBytes: 500 }, [part("1", 1)]],
  ];

  test.each(refusals)("%s is an error with the record's place, and what does not fit can be added after a drain", (_, options, events) => {
    const assembler = new TransactionAssembler(options);
    expect(addAll(assembler, events)).toEqual([]);
    const more = part("3", 1);
    try {
      assembler.add(more, 0);
      expect.unreachable();
    } catch (error) {
      expect(isDecodeError(error) && error.code).toBe("limit-exceeded");
      expect(error).toMatchObject({ at: { topic: "s.public.a", partition: 0, offset: more.record.offset } });
    }
    expect(shown(assembler.drain()).length).toBe(
      assembler.openTransactions + new Set(events.map((one) => one.kind === "change" && one.transaction?.id)).size,
    );
    expect(assembler.add(more, 0)).toEqual([]);
    expect(assembler.bufferedEvents).toBe(1);
  });

  test("must be a positive integer", () => {
    expect(() => new TransactionAssembler({ timeoutMs: 0 })).toThrow(RangeError);
  });
});

describe("with any interleaving", () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 6 }), { minLength: 1, maxLength: 8 });

  test("the same transactions come out, each event once", () => {
    fc.assert(
      fc.property(sizes, fc.infiniteStream(fc.nat()), fc.boolean(), (counts, random, redeliver) => {
        const stream = counts.flatMap((count, i) => transactionOf(`t${i}`, count));
        const arrivals = redeliver ? [...stream, ...stream] : stream;
        const order = shuffled(arrivals, random);
        const assembler = new TransactionAssembler();
        const items = addAll(
          assembler,
          order.map(({ make }) => make()),
        );
        const complete = shown(items.filter(({ kind }) => kind === "transaction")).sort();
        expect(complete).toEqual(counts.map((count, i) => `complete t${i}: ${ordersTo(count).join(" ")}`).sort());
        const events = items.flatMap((item): readonly unknown[] => (item.kind === "single" ? [item.event] : item.transaction.events));
        expect(new Set(events).size).toBe(events.length);
        expect(events.length).toBe(order.filter(({ isPart }) => isPart).length);
        expect([assembler.openTransactions, assembler.bufferedEvents, assembler.bufferedBytes]).toEqual([0, 0, 0]);
      }),
      { numRuns: 150 },
    );
  });

  test("if records are lost, each event that arrived comes out once, complete or not", () => {
    fc.assert(
      fc.property(sizes, fc.infiniteStream(fc.nat()), fc.infiniteStream(fc.boolean()), (counts, random, lost) => {
        const stream = counts.flatMap((count, i) => transactionOf(`t${i}`, count));
        const kept = shuffled(stream, random).filter(() => lost.next().value === true);
        const assembler = new TransactionAssembler();
        const items = [
          ...addAll(
            assembler,
            kept.map(({ make }) => make()),
          ),
          ...assembler.drain(),
        ];
        const events = items.flatMap((item): readonly unknown[] => (item.kind === "single" ? [item.event] : item.transaction.events));
        expect(new Set(events).size).toBe(events.length);
        expect(events.length).toBe(kept.filter(({ isPart }) => isPart).length);
      }),
      { numRuns: 150 },
    );
  });
});

interface Arrival {
  readonly isPart: boolean;
  /** A new event each time: a redelivery is another object. */
  readonly make: () => CdcEvent;
}

function transactionOf(id: string, count: number): Arrival[] {
  const boundary = (status: "BEGIN" | "END"): Arrival => ({ isPart: false, make: () => boundaryOf(id, status, { a: count }) });
  return [boundary("BEGIN"), ...ordersTo(count).map((order) => ({ isPart: true, make: () => part(id, order) })), boundary("END")];
}

function ordersTo(count: number): number[] {
  return Array.from({ length: count }, (_, i) => i + 1);
}

function shuffled<Item>(items: readonly Item[], random: Iterator<number>): Item[] {
  return items
    .map((item) => [random.next().value as number, item] as const)
    .sort(([one], [other]) => one - other)
    .map(([, item]) => item);
}
