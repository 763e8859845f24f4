import { expect, test } from "vitest";
import { type HealthWord, isShown, isTelling, memberWaitsOf } from "./waiting.ts";

/** Four words a second, from one time to another. */
function wordsOf(pid: number, fromMs: number, toMs: number, change: (atMs: number) => Partial<HealthWord> = () => ({})): HealthWord[] {
  return Array.from({ length: Math.floor((toMs - fromMs) / 250) + 1 }, (_, i) => {
    const atMs = fromMs + i * 250;
    return { pid, atMs, partitions: [1, 2], reasons: [], ...change(atMs) };
  });
}

test("a member that waits for long, and says so within five seconds, has shown it", () => {
  const words = wordsOf(7, 0, 10_000, (atMs) => (atMs >= 5_500 ? { reasons: ["a schema for rows[2]@9 is waited for"] } : {}));
  const [wait, ...others] = memberWaitsOf(
    2,
    [
      { pid: 7, atMs: 500 },
      { pid: 7, atMs: 3_500 },
    ],
    words,
  );
  expect(others).toEqual([]);
  expect(wait).toMatchObject({ pid: 7, fromMs: 500, toMs: 10_000 });
  expect(wait && [isTelling(wait), isShown(wait, "rows[2]"), isShown(wait, "rows[1]")]).toEqual([true, true, false]);
});

test("what is said later than that is too late", () => {
  const words = wordsOf(7, 0, 10_000, (atMs) => (atMs >= 8_000 ? { reasons: ["rows[2]@9"] } : {}));
  expect(memberWaitsOf(2, [{ pid: 7, atMs: 500 }], words).map((wait) => [isTelling(wait), isShown(wait, "rows[2]")])).toEqual([
    [true, false],
  ]);
});

test.each<[string, HealthWord[]]>([
  ["loses its partition", wordsOf(7, 0, 10_000, (atMs) => ({ partitions: atMs < 4_000 ? [2] : [] }))],
  ["has no turn of the processor for a while", [...wordsOf(7, 0, 3_000), ...wordsOf(7, 5_000, 8_000)]],
  ["ends", wordsOf(7, 0, 4_000)],
])("a member that %s meanwhile proves nothing", (_what, words) => {
  expect(memberWaitsOf(2, [{ pid: 7, atMs: 500 }], words).some(isTelling)).toBe(false);
});

test("the next owner's wait begins when it reaches the record", () => {
  const words = [...wordsOf(7, 0, 4_000), ...wordsOf(8, 0, 12_000, (atMs) => ({ partitions: atMs < 4_000 ? [] : [2] }))];
  const waits = memberWaitsOf(
    2,
    [
      { pid: 7, atMs: 500 },
      { pid: 8, atMs: 5_000 },
    ],
    words,
  );
  expect(waits.map(({ pid, fromMs, toMs }) => [pid, fromMs, toMs])).toEqual([
    [7, 500, 4_000],
    [8, 5_000, 12_000],
  ]);
});
