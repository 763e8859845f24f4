import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { SeededRandom } from "../seeded-random.ts";
import { isUndecided, ratioInterval, variationOf } from "./ratio.ts";

const rate = fc.double({ min: 1, max: 1e9, noNaN: true });
const rounds = fc.array(fc.tuple(rate, rate), { minLength: 2, maxLength: 40 });
const split = (pairs: readonly (readonly [number, number])[]): readonly [number[], number[]] => [
  pairs.map(([a]) => a),
  pairs.map(([, b]) => b),
];

describe("the interval of a ratio", () => {
  test("contains the ratio", () => {
    fc.assert(
      fc.property(rounds, (pairs) => {
        const { low, ratio, high } = ratioInterval(...split(pairs));
        expect(low).toBeLessThanOrEqual(ratio * (1 + 1e-12));
        expect(high).toBeGreaterThanOrEqual(ratio * (1 - 1e-12));
      }),
    );
  });

  test("reads the same in both directions", () => {
    fc.assert(
      fc.property(rounds, (pairs) => {
        const [a, b] = split(pairs);
        const there = ratioInterval(a, b);
        const back = ratioInterval(b, a);
        expect(back.ratio * there.ratio).toBeCloseTo(1, 9);
        expect(Math.log(back.low) + Math.log(there.high)).toBeCloseTo(0, 9);
        expect(isUndecided(back)).toBe(isUndecided(there));
      }),
    );
  });

  test("does not depend on how fast the machine was in a round", () => {
    fc.assert(
      fc.property(rounds, fc.double({ min: 0.1, max: 10, noNaN: true }), (pairs, pace) => {
        const slowed = pairs.map(([a, b], round): [number, number] => (round % 2 === 0 ? [a * pace, b * pace] : [a, b]));
        expect(Math.log(ratioInterval(...split(slowed)).high)).toBeCloseTo(Math.log(ratioInterval(...split(pairs)).high), 9);
      }),
    );
  });

  test("contains the true ratio in about 95 of 100 experiments", () => {
    const random = new SeededRandom(7);
    const noise = (): number => Math.exp((Array.from({ length: 12 }, () => random.next()).reduce((sum, x) => sum + x, 0) - 6) * 0.1);
    const experiments = 2_000;
    let contained = 0;
    for (let i = 0; i < experiments; i++) {
      const { low, high } = ratioInterval(
        Array.from({ length: 5 }, () => 2 * noise()),
        Array.from({ length: 5 }, noise),
      );
      contained += low <= 2 && high >= 2 ? 1 : 0;
    }
    expect(contained / experiments).toBeGreaterThan(0.935);
    expect(contained / experiments).toBeLessThan(0.965);
  });

  test("one round has no interval, and decides nothing", () => {
    const only = ratioInterval([3], [1]);
    expect(only).toEqual({ ratio: expect.closeTo(3) as number, low: only.ratio, high: only.ratio, plusMinus: 0, rounds: 1 });
    expect(isUndecided(only)).toBe(true);
  });
});

test("variation is a part of the mean", () => {
  expect(variationOf([100, 100, 100])).toBe(0);
  expect(variationOf([90, 110])).toBeCloseTo(0.1414, 3);
  expect(variationOf([5])).toBe(0);
});
