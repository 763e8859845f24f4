import { describe, expect, test } from "vitest";
import {
  type Assigned,
  type Disturbance,
  expulsions,
  type Handled,
  judge,
  type Loss,
  parseAudit,
  sessionMs,
  uncovered,
  zombies,
} from "./audit.ts";

const lineMs = 100;
const produced = Array.from({ length: 400 }, (_, i): Handled => handledAt(BigInt(i), String(i % 4)));
const kill = (line: number, committed: bigint): Disturbance => ({
  what: "kill",
  line,
  sinceMs: line * lineMs,
  untilMs: line * lineMs,
  committed: new Map([[0, committed]]),
});

function violationsOf(
  handled: readonly Handled[],
  disturbances: readonly Disturbance[] = [],
  expelledAtMs: readonly number[] = [],
): readonly string[] {
  const timed = handled.map((record, line) => ({ ...record, atMs: line * lineMs, startedMs: line * lineMs }));
  return judge(produced, timed, disturbances, expelledAtMs).violations;
}

describe("the oracle", () => {
  test("accepts what was handled once, in order", () => {
    expect(violationsOf(produced)).toEqual([]);
  });

  test("accepts what came again behind what a kill had left committed", () => {
    expect(violationsOf([...produced.slice(0, 300), ...produced.slice(250)], [kill(300, 250n)])).toEqual([]);
  });

  test("accepts what came again after the member that had handled it lost its partition, by its own word", () => {
    const again = [...produced.slice(0, 300), ...produced.slice(250)];
    const loss = (pid: number, partitions: readonly number[]) => [{ pid, partitions, atMs: 299 * lineMs }];
    const late = kill(200, 250n); // explains the repetition, and not the order: it was long before
    const of = (losses: readonly Loss[]): readonly string[] => {
      const timed = again.map((record, line) => ({ ...record, atMs: line * lineMs, startedMs: line * lineMs }));
      return judge(produced, timed, [late], [], losses).violations;
    };
    const pid = produced[0]?.pid ?? 0;
    expect(of(loss(pid, [0]))).toEqual([]);
    expect(of([]).length).toBeGreaterThan(0);
    expect(of(loss(pid + 1, [0])).length).toBeGreaterThan(0);
    expect(of(loss(pid, [1])).length).toBeGreaterThan(0);
  });

  test("accepts what came again after the machine had stood still, and not long before it", () => {
    const again = [...produced.slice(0, 300), ...produced.slice(250)];
    const late = kill(200, 250n); // explains the repetition, and not the order: it was long before
    const of = (untilMs: number): readonly string[] => {
      const timed = again.map((record, line) => ({ ...record, atMs: line * lineMs, startedMs: line * lineMs }));
      return judge(produced, timed, [late], [], [], [{ sinceMs: untilMs - 1_000, untilMs }]).violations;
    };
    expect(of(299 * lineMs)).toEqual([]);
    expect(of(200 * lineMs).length).toBeGreaterThan(0);
  });

  // Each is a bug that a consumer could have.
  test.each<[string, readonly Handled[], readonly Disturbance[], RegExp]>([
    ["a record that is lost", produced.filter(({ offset }) => offset !== 77n), [], /0:77 was never handled/],
    [
      "a lost record that a duplicate makes up for in number",
      [...produced.slice(0, 300), ...produced.slice(299, 300), ...produced.slice(301)],
      [kill(300, 299n)],
      /0:300 was never handled/,
    ],
    ["the last record of a batch that is dropped", produced.slice(0, -1), [], /0:399 was never handled/],
    ["two events of a key that are swapped", swapped(produced, 100, 104), [], /handled first after 104/],
    ["a record that came again without a reason", [...produced, ...produced.slice(399)], [], /handled again/],
    [
      "a record that came again although it was committed",
      [...produced.slice(0, 300), ...produced.slice(200)],
      [kill(300, 250n)],
      /0:200 was handled again/,
    ],
    [
      "records that come again after a freeze, although nothing of them was under way in it",
      [...produced.slice(0, 300), ...produced.slice(250)],
      [{ ...kill(298, 150n), what: "freeze" }],
      /key 3: 0:251 came after 299, and nothing had happened/,
    ],
    [
      "records that come again long after the last thing that happened",
      [...produced.slice(0, 300), ...produced.slice(250)],
      [kill(300 - sessionMs / lineMs - 8, 150n)],
      /key 2: 0:250 came after 298, and nothing had happened/,
    ],
    ["a record that nobody wrote", [...produced, { ...handledAt(0n, "x"), partition: 1 }], [], /1:0 was handled and never written/],
  ])("sees %s", (_name, handled, disturbances, message) => {
    expect(violationsOf(handled, disturbances).join("\n")).toMatch(message);
  });

  test("accepts what comes again after the broker has taken a member out of the group, and no more", () => {
    const again = [...produced.slice(0, 300), ...produced.slice(250)];
    const log = (line: number): string =>
      `${new Date(line * lineMs).toISOString()} executor INFO Member m-1 in group g has failed, removing it from the group. (GroupMetadataManager)\n`;
    expect(violationsOf(again, [kill(200, 150n)], expulsions(log(300), "g"))).toEqual([]);
    expect(violationsOf(again, [kill(200, 150n)], expulsions(log(290), "g")).join("\n")).toMatch(
      /0:250 came after 298, and nothing had happened since a kill, which had been over for 9800 ms/,
    );
    expect(violationsOf(again, [kill(200, 150n)], expulsions(log(300), "another"))).not.toEqual([]);
  });

  test("sees a commit above a record that is not handled", () => {
    const handled = new Set(["0:0", "0:2"]);
    expect(uncovered(new Map([[0, 1n]]), handled)).toEqual([]);
    expect(uncovered(new Map([[0, 3n]]), handled)).toEqual(["0 is committed to 3, and 1 is not handled"]);
  });

  describe("of a process whose partitions are another's", () => {
    const assigned: readonly Assigned[] = [
      { pid: 1, atMs: 0, partitions: [0, 1] },
      { pid: 2, atMs: 500, partitions: [0] },
    ];
    const started = (pid: number, ...times: readonly number[]): readonly Handled[] =>
      times.map((startedMs, turn) => ({ ...handledAt(BigInt(turn), "a"), pid, turn, startedMs, atMs: 1_000 }));

    test("accepts what was under way: handlers that were called before, and those of one turn", () => {
      expect(zombies(started(1, 100, 500), assigned)).toEqual([]);
      expect(zombies([...started(1, 600), ...started(1, 600)], assigned)).toEqual([]);
      expect(zombies(started(2, 600, 700), assigned)).toEqual([]);
    });

    test("sees what it starts then", () => {
      expect(zombies([...started(2, 550), ...started(1, 100, 600, 700)], assigned)).toEqual([
        expect.stringMatching(/process 1 started 2 records in 2 turns, from 0:1 on/),
      ]);
    });

    test("accepts what it starts if the other one has started nothing by then: its word may come late", () => {
      expect(zombies([...started(1, 100, 600, 700), ...started(2, 800)], assigned)).toEqual([]);
    });

    test("accepts what it starts when they are its own again", () => {
      expect(zombies(started(1, 600, 700), [...assigned, { pid: 1, atMs: 600, partitions: [0] }])).toEqual([]);
    });
  });

  test("leaves a line that was not written to its end", () => {
    expect(parseAudit("0 1 a 17 4 1 16\n0 2 b 18 4 2 17\n0 3")).toEqual([
      { partition: 0, offset: 1n, key: "a", atMs: 17, pid: 4, turn: 1, startedMs: 16 },
      { partition: 0, offset: 2n, key: "b", atMs: 18, pid: 4, turn: 2, startedMs: 17 },
    ]);
  });
});

function handledAt(offset: bigint, key: string): Handled {
  return { partition: 0, offset, key, atMs: 0, pid: 1, turn: 0, startedMs: 0 };
}

function swapped(records: readonly Handled[], a: number, b: number): readonly Handled[] {
  const copy = [...records];
  [copy[a], copy[b]] = [copy[b] as Handled, copy[a] as Handled];
  return copy;
}
