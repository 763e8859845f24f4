import { silentLogger } from "@cdckit/consumer";
import type { Place } from "@cdckit/driver";
import { describe, expect, test } from "vitest";
import { heldPartitions } from "./assignments.ts";
import { ReturnedTopics } from "./returned-topics.ts";

describe("ReturnedTopics", () => {
  interface Watched {
    existing: readonly Place[];
    readonly assignments: ReturnType<typeof heldPartitions>;
    readonly over: AbortController;
    readonly waits: number[];
    rejoins: number;
    /** So many waits go by, if there are as many. */
    passes(count: number): Promise<void>;
  }

  function watched(): Watched {
    const it: Watched = {
      existing: [],
      assignments: heldPartitions(),
      over: new AbortController(),
      rejoins: 0,
      waits: [],
      passes: async (count) => {
        for (let i = 0; i < count; i++) {
          end();
          await new Promise((resolve) => setImmediate(resolve));
        }
      },
    };
    let end = (): void => {};
    const returned = new ReturnedTopics({
      brokers: { partitionsOf: async () => it.existing },
      assignments: it.assignments,
      topics: () => ["rows"],
      rejoin: () => it.rejoins++,
      logger: silentLogger,
      over: it.over.signal,
      pass: (ms) => {
        it.waits.push(ms);
        return new Promise((resolve) => {
          end = resolve;
        });
      },
    });
    void returned.watch();
    void returned.watch(); // librdkafka repeats its error
    return it;
  }

  const rows = [{ topic: "rows", partition: 0 }];

  /** The member has had the partition. */
  function hadRows({ assignments }: Watched): void {
    for (const held of assignments.heldOf(assignments.add(rows))) {
      held.assignment.topicId = "first";
      held.next = 4;
    }
    assignments.release(assignments.all());
  }

  test("joins again when a topic is back and the group has not given it out, and stops when it has", async () => {
    const it = watched();
    hadRows(it);
    await it.passes(5);
    expect(it.rejoins).toBe(0); // there is no such topic yet
    it.existing = rows;
    await it.passes(1);
    expect(it.rejoins).toBe(1);
    it.assignments.add(rows);
    await it.passes(5);
    expect(it.rejoins).toBe(1);
    it.assignments.clear();
    await it.passes(5);
    expect(it.rejoins).toBe(1); // what was given out is a matter of the group again
  });

  test("a member that never gets a partition joins again three times", async () => {
    const it = watched();
    hadRows(it);
    it.existing = rows;
    await it.passes(20);
    expect([it.rejoins, it.waits]).toEqual([3, [3_000, 6_000, 12_000]]);
  });

  test("a member that has never had one is content without", async () => {
    const it = watched();
    it.existing = rows;
    await it.passes(20);
    expect([it.rejoins, it.waits]).toEqual([0, [3_000]]);
  });

  test("nothing happens after the session is over", async () => {
    const it = watched();
    hadRows(it);
    it.existing = rows;
    it.over.abort();
    await it.passes(20);
    expect(it.rejoins).toBe(0);
  });
});
