import type { KafkaRecord } from "@cdckit/decode";
import { recordOf } from "@cdckit/testkit";
import { describe, expect, test } from "vitest";
import { collectFilter, everything, type RedriveFilter } from "./redrive-filter.ts";
import { RedrivePlan, type RedrivePlanOptions, redrivenHeader, type RedriveDecision } from "./redrive-plan.ts";

const own = [["trace", "abc"]] as const;

/** A dead letter as Kafka Connect writes it, and with what a test adds. */
function deadLetter(offset: number, more: Readonly<Record<string, string>> = {}, key: string | null = "k"): KafkaRecord {
  const texts = {
    "__connect.errors.topic": "orders",
    "__connect.errors.partition": "3",
    "__connect.errors.offset": String(100 + offset),
    "__connect.errors.exception.class.name": "org.apache.kafka.connect.errors.DataException",
    ...more,
  };
  return recordOf(Buffer.from([0, 255, 1]), {
    topic: "orders.dead",
    offset: BigInt(offset),
    timestamp: 1_700_000_000_123n,
    key: key === null ? null : Buffer.from(key),
    headers: [...own, ...Object.entries(texts)].map(([name, text]) => [name, Buffer.from(text)]),
  });
}

function planWith(options: Partial<RedrivePlanOptions> = {}): RedrivePlan {
  return new RedrivePlan({
    filter: everything,
    to: null,
    maxRedrives: 3,
    deadLetterTopic: "orders.dead",
    partitionsOf: () => 4,
    ...options,
  });
}

function filterOf(...texts: readonly string[]): RedriveFilter {
  return texts.reduce((filter, text) => collectFilter(text, filter), everything);
}

const leave = (reason: string): object => ({ kind: "leave", reason });
const kindsOf = (decisions: readonly RedriveDecision[]): readonly string[] =>
  decisions.map((decision) => (decision.kind === "send" ? "send" : decision.reason));

describe("a dead letter", () => {
  test("goes where it came from, as it was, with how often it was redriven", () => {
    const dead = deadLetter(1);
    expect(planWith().decide(dead)).toMatchObject({
      kind: "send",
      record: {
        topic: "orders",
        partition: 3,
        key: dead.key,
        value: dead.value,
        timestamp: dead.timestamp,
        headers: [
          ["trace", Buffer.from("abc")],
          [redrivenHeader, Buffer.from("1")],
        ],
      },
    });
  });

  test("that is one of a dead letter goes back as that one, with its headers", () => {
    const letter = deadLetter(1, { [redrivenHeader]: "1" });
    const failure = [["__connect.errors.topic", Buffer.from("orders.dead")] as const];
    const decision = planWith({ deadLetterTopic: "repair.dead" }).decide({ ...letter, headers: [...letter.headers, ...failure] });
    const asItWas = letter.headers.filter(([name]) => name !== redrivenHeader);
    expect(decision).toMatchObject({
      record: { topic: "orders.dead", headers: [...asItWas, [redrivenHeader, Buffer.from("2")]] },
    });
  });

  test("goes to another topic without its partition: there the key chooses", () => {
    const decision = planWith({ to: "orders.again" }).decide(deadLetter(1));
    expect(decision).toMatchObject({ kind: "send", record: { topic: "orders.again" } });
    expect(decision.kind === "send" && "partition" in decision.record).toBe(false);
  });

  test("that came back too often is refused, and those of its key behind it", () => {
    const plan = planWith({ maxRedrives: 2 });
    const decisions = [
      deadLetter(1, { [redrivenHeader]: "1" }),
      deadLetter(2, { [redrivenHeader]: "2" }),
      deadLetter(3),
      deadLetter(4, {}, "other"),
      deadLetter(5, {}, null),
    ].map((dead) => plan.decide(dead));
    expect(kindsOf(decisions)).toEqual(["send", "redriven-too-often", "behind-a-refused-one", "send", "send"]);
  });

  test("whose topic is gone, or is the dead-letter topic itself, is refused", () => {
    expect(planWith({ partitionsOf: () => undefined }).decide(deadLetter(1))).toEqual(leave("topic-missing"));
    expect(planWith().decide(deadLetter(1, { "__connect.errors.topic": "orders.dead" }))).toEqual(leave("own-topic"));
  });

  test("of a partition that its topic has no more is refused with those of its key, before anything is sent; with --to its key chooses", () => {
    const other = { "__connect.errors.partition": "2" };
    const letters = [deadLetter(1), deadLetter(2, {}, "other"), deadLetter(3, other)];
    const decided = (options: Partial<RedrivePlanOptions>): readonly RedriveDecision[] => {
      const plan = planWith({ partitionsOf: () => 3, ...options });
      return letters.map((dead) => plan.decide(dead));
    };
    expect(kindsOf(decided({}))).toEqual(["partition-missing", "partition-missing", "send"]);
    const partitions = decided({ to: "orders" }).map((decision) => decision.kind === "send" && decision.record.partition);
    expect(partitions).toEqual([undefined, undefined, 2]);
  });

  test("is none without the headers of one", () => {
    expect(planWith().decide({ ...deadLetter(1), headers: [] })).toEqual(leave("not-a-dead-letter"));
  });
});

describe("a filter", () => {
  const decide = (filter: RedriveFilter, ...dead: readonly KafkaRecord[]): readonly string[] => {
    const plan = planWith({ filter });
    return kindsOf(dead.map((one) => plan.decide(one)));
  };

  test("selects by topic", () => {
    const other = deadLetter(2, { "__connect.errors.topic": "items" });
    expect(decide(filterOf("topic=orders"), deadLetter(1), other)).toEqual(["send", "not-selected"]);
    expect(decide(filterOf("topic=orders", "topic=items"), deadLetter(1), other)).toEqual(["send", "send"]);
  });

  test.each([
    ["code=malformed", "[malformed] an unknown branch"],
    ["code=handler-failed", "[handler-failed] no: RangeError (code 22P02)"],
    ["code=22P02", "[handler-failed] no: RangeError (code 22P02)"],
    ["code=DataException", ""],
    ["code=org.apache.kafka.connect.errors.DataException", ""],
  ])("%s finds %j", (filter, message) => {
    const dead = deadLetter(1, { "__connect.errors.exception.message": message });
    expect(decide(filterOf(filter), dead)).toEqual(["send"]);
    expect(decide(filterOf("code=other"), dead)).toEqual(["not-selected"]);
  });

  test("by code takes what is parked behind a record with it", () => {
    const failed = deadLetter(1, { "__connect.errors.exception.message": "[malformed] no" });
    const parked = deadLetter(2, { "cdckit.parked-behind": "101", "__connect.errors.exception.class.name": "ParkedKey" });
    expect(decide(filterOf("code=malformed"), failed, parked)).toEqual(["send", "send"]);
    expect(decide(filterOf("code=other"), failed, parked)).toEqual(["not-selected", "not-selected"]);
    expect(decide(filterOf("code=ParkedKey"), failed, parked)).toEqual(["not-selected", "not-selected"]);
  });

  test("by time asks when it became a dead letter, from the first moment on and up to the last", () => {
    const at = (ms: number): KafkaRecord => deadLetter(1, { "cdckit.timestamp": String(ms) });
    const filter = filterOf("since=2026-01-01T00:00:00Z", "until=2026-01-02");
    const since = Date.parse("2026-01-01T00:00:00Z");
    expect(decide(filter, at(since - 1), at(since), at(since + 86_399_999), at(since + 86_400_000))).toEqual([
      "not-selected",
      "send",
      "send",
      "not-selected",
    ]);
    expect(decide(filterOf("until=2023-11-15"), deadLetter(1))).toEqual(["send"]);
  });

  const parked = (offset: number, at: string): KafkaRecord =>
    deadLetter(offset, { "cdckit.parked-behind": "101", "cdckit.timestamp": String(Date.parse(at)) });
  const failed = (at: string, code = "malformed"): KafkaRecord =>
    deadLetter(1, { "__connect.errors.exception.message": `[${code}] no`, "cdckit.timestamp": String(Date.parse(at)) });

  test.each([
    ["since, to which the failed record is too early", ["since=2026-01-02"], "not-selected"],
    ["since, to which the failed record is late enough", ["since=2026-01-01"], "send"],
    ["until, to which what was parked is too late", ["until=2026-01-02"], "send"],
    ["until, to which the failed record is too late", ["until=2026-01-01"], "not-selected"],
    ["code and since, of which the failed record has one", ["code=malformed", "since=2026-01-02"], "not-selected"],
    ["code and until, of which the failed record has both", ["code=malformed", "until=2026-01-02"], "send"],
  ])("by %s, decides for what is parked as for its failed record", (_, filter, decided) => {
    const letters = [failed("2026-01-01T12:00:00Z"), parked(2, "2026-01-01T13:00:00Z"), parked(3, "2026-01-03")];
    expect(decide(filterOf(...filter), ...letters)).toEqual([decided, decided, decided]);
  });

  test("by topic needs no failed record: an earlier redrive may have been through it", () => {
    expect(decide(filterOf("topic=orders"), parked(2, "2026-01-03"))).toEqual(["send"]);
  });

  test.each(["", "topic", "topic=", "=orders", "offset=3", "since=yesterday", "until=2026"])("%j is none", (text) => {
    expect(() => collectFilter(text)).toThrow("It must be");
  });
});
