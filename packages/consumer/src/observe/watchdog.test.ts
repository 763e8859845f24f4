import { describe, expect, test } from "vitest";
import type { LogRange, PartitionAssignment } from "../driver.ts";
import { type Suspicion, suspicionText, suspicionTexts, Watchdog, type WatchedPartition } from "./watchdog.ts";

const assignment: PartitionAssignment = { topic: "t", partition: 3, epoch: 1 };
const at = (handledTo: bigint | null, isAtWork = false, startedAt: bigint | null = null): readonly WatchedPartition[] => [
  { assignment, handledTo, startedAt, isAtWork },
];
const ending = (end: bigint, committed: bigint | null = null): readonly LogRange[] => [{ assignment, start: 0n, end, committed }];

type Look = readonly [atMs: number, partitions: readonly WatchedPartition[], ranges: readonly LogRange[] | null];

function textsOf(...looks: readonly Look[]): readonly string[] {
  const watchdog = new Watchdog(60_000, 10_000);
  return (
    looks
      .map(([nowMs, partitions, ranges]) => watchdog.look(nowMs, partitions, ranges).map((suspicion) => suspicionText(suspicion)))
      .at(-1) ?? []
  );
}

describe("the watchdog", () => {
  test("finds a partition that has records to read and does not move", () => {
    const [text] = textsOf([0, at(5n), ending(9n)], [30_000, at(5n), ending(12n)], [60_000, at(5n), ending(12n)]);
    expect(text).toBe("t[3] has 7 records to read, and nothing has moved for 60 s: the client does not fetch");
  });

  test("finds it although some looks have no answer, and while there is none", () => {
    const looks: readonly Look[] = [
      [0, at(5n), ending(9n)],
      [10_000, at(5n), null],
      [20_000, at(5n), ending(9n)],
      [30_000, at(5n), []],
      [60_000, at(5n), ending(9n)],
      [70_000, at(5n), null],
    ];
    expect(textsOf(...looks)).toEqual([expect.stringMatching(/^t\[3\] has 4 records to read, and nothing has moved for 70 s/)]);
    expect(textsOf(...looks, [80_000, at(6n), null])).toEqual([]);
    expect(textsOf(...looks, [90_001, at(5n), null]), "nobody has answered for half of the time").toEqual([]);
    expect(textsOf(...looks, [120_000, at(5n), null]), "the brokers are gone").toEqual([
      "the brokers have not said for 60 s where the logs end",
    ]);
    expect(textsOf(...looks, [120_000, at(5n), null], [121_000, at(5n), ending(9n)]), "they are back").toEqual([]);
  });

  test("does not suspect the client while nobody answers", () => {
    expect(textsOf([0, at(5n), ending(9n)], [40_000, at(5n), ending(9n)], [65_000, at(5n), null])).toEqual([]);
  });

  test("finds a partition that never moved from the group's offset", () => {
    expect(textsOf([0, at(null), ending(9n, 4n)], [30_000, at(null), ending(9n, 4n)], [60_000, at(null), ending(9n, 4n)])).toEqual([
      expect.stringMatching(/^t\[3\] has 5 records/),
    ]);
  });

  test("finds a partition that never moved from where it started", () => {
    const started = at(null, false, 7n);
    for (const log of [ending(9n), ending(9n, 4n)]) {
      expect(textsOf([0, started, log], [30_000, started, log], [60_000, started, log])).toEqual([
        expect.stringMatching(/^t\[3\] has 2 records/),
      ]);
    }
  });

  test.each<readonly [string, readonly Look[]]>([
    [
      "has started at the end, after the group's offset",
      [
        [0, at(null, false, 9n), ending(9n, 4n)],
        [30_000, at(null, false, 9n), ending(9n, 4n)],
        [60_000, at(null, false, 9n), ending(9n, 4n)],
      ],
    ],
    [
      "moves",
      [
        [0, at(5n), ending(9n)],
        [60_000, at(6n), ending(9n)],
      ],
    ],
    [
      "has nothing to read",
      [
        [0, at(9n), ending(9n)],
        [60_000, at(9n), ending(9n)],
      ],
    ],
    [
      "has had something to read for a moment only",
      [
        [0, at(9n), ending(9n)],
        [59_000, at(9n), ending(10n)],
        [61_000, at(9n), ending(10n)],
      ],
    ],
    [
      "is at work",
      [
        [0, at(5n, true), ending(9n)],
        [60_000, at(5n, true), ending(9n)],
      ],
    ],
    [
      "has handled more than the last known end, while nobody answers",
      [
        [0, at(5n), ending(9n)],
        [30_000, at(12n), null],
        [61_000, at(12n), ending(12n)],
        [120_000, at(13n), null],
      ],
    ],
    [
      "moves while nobody answers",
      [
        [0, at(5n), ending(9n)],
        [30_000, at(6n), null],
        [60_000, at(6n), ending(9n)],
      ],
    ],
    [
      "was at work until now",
      [
        [0, at(5n), ending(9n)],
        [50_000, at(5n, true), ending(9n)],
        [100_000, at(5n), ending(9n)],
      ],
    ],
    [
      "is held anew",
      [
        [0, at(5n), ending(9n)],
        [30_000, [], []],
        [60_000, at(5n), ending(9n)],
      ],
    ],
  ])("does not report a partition that %s", (_name, looks) => {
    expect(textsOf(...looks)).toEqual([]);
  });

  test("finds a log that ends below what was handled, at once", () => {
    expect(textsOf([0, at(5n), ending(3n)])[0]).toMatch(
      /^t\[3\] ends at offset 3, and everything below 5 was handled: the log was truncated/,
    );
  });

  test("says when the brokers do not answer", () => {
    expect(textsOf([0, at(5n), ending(9n)], [30_000, at(5n), null], [59_000, at(5n), null])).toEqual([]);
    expect(textsOf([0, at(5n), ending(9n)], [30_000, at(5n), null], [60_000, at(5n), null])).toEqual([
      "the brokers have not said for 60 s where the logs end",
    ]);
  });

  test("says when the brokers answer for others, and not for one partition: its lag and its end are those of then", () => {
    const other: PartitionAssignment = { topic: "t", partition: 4, epoch: 1 };
    const both: readonly WatchedPartition[] = [...at(9n), { assignment: other, handledTo: 9n, startedAt: null, isAtWork: false }];
    const answered = [...ending(9n), { assignment: other, start: 0n, end: 9n, committed: null }];
    const looks: readonly Look[] = [
      [0, both, answered],
      [30_000, both, answered.slice(1)],
      [59_000, both, answered.slice(1)],
    ];
    expect(textsOf(...looks)).toEqual([]);
    expect(textsOf(...looks, [60_000, both, answered.slice(1)])).toEqual(["the brokers have not said for 60 s where the log of t[3] ends"]);
    expect(textsOf(...looks, [60_000, both, answered])).toEqual([]);
  });
});

test("a client that fetches none of its many partitions is reported in a few sentences", () => {
  const stuck = Array.from({ length: 200 }, (_, partition): Suspicion => {
    return { kind: "stuck", assignment: { topic: "t", partition, epoch: 1 }, forMs: 60_000, lag: 1n };
  });
  const texts = suspicionTexts(stuck, false);
  expect(texts).toHaveLength(11);
  expect(texts.at(-1)).toBe("190 more partitions do not move, or nobody says where their logs end");
});
