import { spawnSync } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { Kafka, logLevel } from "kafkajs";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, test, vi } from "vitest";
import { type ExampleService, exampleEnvironment, startExample, withStackForExamples } from "./example-service.ts";

const folder = join(import.meta.dirname, "../../examples/migrate");
const found = await withStackForExamples();
const topics = ["av.bank.payments", "js.bank.payments", "jn.bank.payments"];

interface Seen {
  readonly topic: string;
  readonly offset: string;
  readonly op?: string;
  readonly id?: string;
  readonly error?: string;
}

interface Pair {
  readonly place: string;
  readonly before: Readonly<Record<string, unknown>>;
  readonly after: Readonly<Record<string, unknown>>;
}

interface Compared {
  readonly compared: number;
  readonly equal: number;
  readonly different: readonly Pair[];
}

describe.skipIf(found.skip !== false)("the example of a migration", { meta: { skipReason: String(found.skip) } }, () => {
  const env = found.skip === false ? exampleEnvironment(found.part) : {};
  const admin = new Kafka({ brokers: [env["KAFKA_BROKERS"] ?? "127.0.0.1:1"], logLevel: logLevel.NOTHING }).admin();
  let database: pg.Client;

  beforeAll(async () => {
    if (found.skip !== false) return;
    database = new pg.Client({ ...found.part.postgres });
    await database.connect();
    await database.query(readFileSync(join(folder, "seed.sql"), "utf8"));
    await database.query("update bank.payments set amount = 0.11 where id = 9007199254740993");
    await database.query("delete from bank.payments where id = 1");
    await admin.connect();
  });
  afterAll(() => Promise.all([database?.end(), admin.disconnect()]));

  const start = (mode: string, more: Readonly<Record<string, string>> = {}): Promise<ExampleService> =>
    startExample("migrate", { ...env, ...more }, "index.js", [mode]);

  async function seenBy(service: ExampleService, side: "before" | "after"): Promise<readonly Seen[]> {
    const response = await fetch(`${service.url}/seen`);
    return ((await response.json()) as { readonly before: Seen[]; readonly after: Seen[] })[side];
  }

  /** Waits until a side has seen so many records of each topic. */
  const untilSeen = (service: ExampleService, side: "before" | "after", count: number): Promise<readonly Seen[]> =>
    vi.waitFor(
      async () => {
        const seen = await seenBy(service, side);
        for (const topic of topics) expect(seen.filter((one) => one.topic === topic)).toHaveLength(count);
        return seen;
      },
      { timeout: 90_000, interval: 100 },
    );

  test("shows on the same records what the one before cannot read or rounds, and what the one after gives", async () => {
    const service = await start("compare");
    await service.until<Compared>("/compare", ({ compared }) => expect(compared).toBe(15)); // three creates, an update and a delete, thrice
    const { different, equal } = (await (await fetch(`${service.url}/compare`)).json()) as Compared;
    const of = (topic: string, side: "before" | "after"): readonly unknown[] =>
      different.filter(({ place }) => place.startsWith(topic)).map((pair) => pair[side]);

    // Avro: the source's time in nanoseconds is above 2^53, in each record.
    expect(of("av.", "before")).toEqual(Array.from({ length: 5 }, () => ({ error: "potential precision loss" })));
    // JSON, with a schema or without: keys are rounded, and two payments have one key; decimals are bytes; microseconds are cut off.
    const rounded = "9007199254740992";
    const jsonBefore = [
      { op: "c", id: "1", amount: "BBo=", paidAt: "2026-01-31T08:00:00.000Z" },
      { op: "c", id: rounded, amount: "B+k=", paidAt: "2026-01-31T08:05:00.000Z" },
      { op: "c", id: rounded, amount: "Cg==", paidAt: "2026-01-31T08:10:00.500Z" },
      { op: "u", id: rounded, amount: "Cw==", paidAt: "2026-01-31T08:10:00.500Z" },
    ];
    expect(of("js.", "before")).toEqual(jsonBefore);
    expect(of("jn.", "before")).toEqual(jsonBefore);

    const after = [
      { op: "c", id: "1", amount: "10.50", paidAt: "2026-01-31T08:00:00.000001" },
      { op: "c", id: "9007199254740992", amount: "20.25", paidAt: "2026-01-31T08:05:00" },
      { op: "c", id: "9007199254740993", amount: "0.10", paidAt: "2026-01-31T08:10:00.5" },
      { op: "u", id: "9007199254740993", amount: "0.11", paidAt: "2026-01-31T08:10:00.5" },
    ];
    expect(of("av.", "after")).toEqual([...after, { op: "d", id: "1", amount: null, paidAt: null }]);
    expect(of("js.", "after")).toEqual(after);
    expect(of("jn.", "after")).toEqual(after);
    expect(equal).toBe(2); // the deletes in JSON
    expect(await service.stop()).toBe(0);
  });

  test("goes on with the group id where the one before has committed, and back: no record comes twice or never", async () => {
    const committed = async (): Promise<Readonly<Record<string, string>>> => {
      const offsets = await admin.fetchOffsets({ groupId: "payments", topics });
      return Object.fromEntries(offsets.map(({ topic, partitions }) => [topic, partitions[0]?.offset ?? ""]));
    };
    const first = (seen: readonly Seen[]): Readonly<Record<string, string | undefined>> =>
      Object.fromEntries(topics.map((topic) => [topic, seen.find((one) => one.topic === topic)?.offset]));
    const everything: Seen[] = [];

    const before = await start("before");
    everything.push(...(await untilSeen(before, "before", 5)));
    await before.until("/readyz", (answer, status) => expect([status, answer]).toEqual([200, { ready: true }]));
    await before.until("/healthz", (answer, status) => expect([status, answer]).toEqual([200, { live: true }]));
    const afterTombstone = Object.fromEntries(topics.map((topic) => [topic, "6"])); // of the delete, which nobody has seen
    await vi.waitFor(async () => expect(await committed()).toEqual(afterTombstone), { timeout: 60_000, interval: 100 });
    expect(await before.stop()).toBe(0);
    const handedOver = await committed();

    await database.query("insert into bank.payments values (2, 'NL05', 1, '2026-02-01'), (3, 'NL06', 2, '2026-02-01')"); // while nobody reads
    const after = await start("after");
    const seenAfter = await untilSeen(after, "after", 2);
    everything.push(...seenAfter);
    expect(first(seenAfter)).toEqual(handedOver);
    await after.until("/readyz", (answer, status) => expect([status, answer]).toMatchObject([200, { ready: true }]));
    await after.until("/healthz", (answer, status) => expect([status, answer]).toMatchObject([200, { live: true }]));
    expect(await after.stop()).toBe(0);
    const handedBack = await committed();

    await database.query("update bank.payments set amount = 3 where id = 3");
    const again = await start("before");
    const seenAgain = await untilSeen(again, "before", 1);
    everything.push(...seenAgain);
    expect(first(seenAgain)).toEqual(handedBack);
    expect(await again.stop("SIGINT")).toBe(0);

    for (const topic of topics) {
      const offsets = everything.filter((one) => one.topic === topic).map(({ offset }) => Number(offset));
      // Offset 5 is the tombstone after the delete, which is no payment.
      expect(offsets).toEqual([0, 1, 2, 3, 4, 6, 7, 8]);
    }
  });

  // kafkajs tries for 12 seconds.
  test("says how to get what is missing", () => {
    const run = (mode: string): ReturnType<typeof spawnSync> =>
      spawnSync(process.execPath, ["index.js", mode], {
        cwd: folder,
        encoding: "utf8",
        env: { ...process.env, ...env, KAFKA_BROKERS: "127.0.0.1:1" },
      });
    const before = run("before");
    expect([before.status, before.stdout]).toEqual([
      1,
      expect.stringMatching(/Kafka at 127\.0\.0\.1:1 cannot be read: .*npm run stack:up.*KAFKA_BROKERS/),
    ]);
    const wrong = run("aftr");
    expect([wrong.status, wrong.stderr]).toEqual([2, expect.stringMatching(/expected before, after or compare, found aftr/)]);
  });
});
