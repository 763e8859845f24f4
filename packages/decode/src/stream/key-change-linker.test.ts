import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { CdcEvent } from "../event.ts";
import { KeyChangeLinker, type LinkedItem } from "./key-change-linker.ts";
import { changeOf, eventOf } from "./stream.contract.ts";

function moved(from: number, to: number, table = "a"): { removed: () => CdcEvent; tombstone: () => CdcEvent; created: () => CdcEvent } {
  return {
    removed: () => changeOf(table, { op: "d", before: { id: from }, key: { id: from } }, null, { "__debezium.newkey": { id: to } }),
    tombstone: () => eventOf(`s.public.${table}`, { id: from }, null),
    created: () => changeOf(table, { op: "c", after: { id: to }, key: { id: to } }, null, { "__debezium.oldkey": { id: from } }, 1),
  };
}

function addAll(linker: KeyChangeLinker, events: readonly CdcEvent[], nowMs = 0): LinkedItem[] {
  return events.flatMap((event) => linker.add(event, nowMs));
}

/** Items as text: `1 -> 2`, `delete 1`, `tombstone 1`. */
function shown(items: readonly LinkedItem[]): string[] {
  return items.map((item) =>
    item.kind === "key-changed"
      ? `${String(item.oldKey["id"])} -> ${String(item.newKey["id"])}`
      : `${item.event.kind === "change" ? item.event.op : item.event.kind} ${String((item.event.key as { id: number }).id)}`,
  );
}

describe("the halves of a key change", () => {
  const { removed, tombstone, created } = moved(1, 2);

  test("come out as one item, with the row before and after", () => {
    const [item] = addAll(new KeyChangeLinker(), [removed(), created()]);
    expect(item).toMatchObject({
      kind: "key-changed",
      table: { name: "a" },
      oldKey: { id: 1 },
      newKey: { id: 2 },
      before: { id: 1 },
      after: { id: 2 },
      tombstone: null,
    });
  });

  test("include a tombstone between them; a tombstone after them is an event", () => {
    const between = addAll(new KeyChangeLinker(), [removed(), tombstone(), created()]);
    expect(shown(between)).toEqual(["1 -> 2"]);
    expect(between[0]).toMatchObject({ tombstone: { kind: "tombstone" } });
    expect(shown(addAll(new KeyChangeLinker(), [removed(), created(), tombstone()]))).toEqual(["1 -> 2", "tombstone 1"]);
  });

  test("may arrive in the other order, because they are on two partitions", () => {
    expect(shown(addAll(new KeyChangeLinker(), [created(), removed()]))).toEqual(["1 -> 2"]);
  });

  test("are told apart from those of other keys and other tables", () => {
    const other = moved(1, 3);
    const elsewhere = moved(1, 2, "b");
    const linker = new KeyChangeLinker();
    expect(addAll(linker, [removed(), other.created(), elsewhere.created()])).toEqual([]);
    expect(shown(addAll(linker, [created(), other.removed(), elsewhere.removed()]))).toEqual(["1 -> 2", "1 -> 3", "1 -> 2"]);
    expect(linker.pending).toBe(0);
  });

  test("match if one states a key as a number and the other as text", () => {
    const asText = changeOf("a", { op: "c", after: {}, key: { id: "2" } }, null, { "__debezium.oldkey": { id: "1" } });
    expect(shown(addAll(new KeyChangeLinker(), [removed(), asText]))).toEqual(["1 -> 2"]);
  });
});

describe("a half that waits", () => {
  const { removed, tombstone, created } = moved(1, 2);

  test("comes out before the next event of its row", () => {
    const again = changeOf("a", { op: "c", after: { id: 1 }, key: { id: 1 } });
    expect(shown(addAll(new KeyChangeLinker(), [removed(), tombstone(), again]))).toEqual(["delete 1", "tombstone 1", "create 1"]);
    const updated = changeOf("a", { op: "u", after: { id: 2 }, key: { id: 2 } });
    expect(shown(addAll(new KeyChangeLinker(), [created(), updated]))).toEqual(["create 2", "update 2"]);
  });

  test("comes out after the window, with its tombstone", () => {
    const linker = new KeyChangeLinker({ windowMs: 100 });
    addAll(linker, [removed(), tombstone()]);
    expect(linker.expire(99)).toEqual([]);
    expect(shown(linker.expire(100))).toEqual(["delete 1", "tombstone 1"]);
    expect(shown(addAll(linker, [created()]))).toEqual([]);
    expect(shown(linker.drain())).toEqual(["create 2"]);
  });

  test("comes out if there are too many, the oldest first", () => {
    const linker = new KeyChangeLinker({ maxPending: 2 });
    expect(addAll(linker, [removed(), moved(5, 6).removed()])).toEqual([]);
    expect(shown(addAll(linker, [moved(7, 8).removed()]))).toEqual(["delete 1"]);
    expect(linker.pending).toBe(2);
  });

  test("comes out before the same half that is delivered again", () => {
    const linker = new KeyChangeLinker();
    expect(shown(addAll(linker, [removed(), removed()]))).toEqual(["delete 1"]);
    expect(shown(addAll(linker, [created()]))).toEqual(["1 -> 2"]);
  });
});

describe("in any order", () => {
  test("every event comes out once, and the events of one row in the order of arrival", () => {
    const ids = fc.integer({ min: 1, max: 4 });
    const operation = fc.oneof(
      fc.tuple(fc.constant("move" as const), ids, ids),
      fc.tuple(fc.constant("write" as const), ids, ids),
      fc.tuple(fc.constant("tombstone" as const), ids, ids),
    );
    fc.assert(
      fc.property(
        fc.array(operation, { maxLength: 30 }),
        fc.infiniteStream(fc.boolean()),
        fc.integer({ min: 1, max: 4 }),
        (operations, flip, maxPending) => {
          const events = operations.flatMap(([what, one, other]) => {
            const { removed, tombstone, created } = moved(one, other);
            switch (what) {
              case "move":
                return flip.next().value === true ? [removed(), created()] : [created(), tombstone(), removed()];
              case "write":
                return [changeOf("a", { op: "u", after: { id: one }, key: { id: one } })];
              case "tombstone":
                return [tombstone()];
            }
          });
          const linker = new KeyChangeLinker({ maxPending });
          const items = [...addAll(linker, events), ...linker.drain()];
          const out = items.flatMap((item) =>
            item.kind === "event" ? [item.event] : [item.delete, ...(item.tombstone === null ? [] : [item.tombstone]), item.create],
          );
          expect(new Set(out).size).toBe(out.length);
          expect(out.length).toBe(events.length);
          for (const id of [1, 2, 3, 4]) {
            const ofRow = (event: CdcEvent): boolean => (event.key as { id: number }).id === id;
            expect(out.filter(ofRow)).toEqual(events.filter(ofRow));
          }
        },
      ),
      { numRuns: 200 },
    );
  });
});
