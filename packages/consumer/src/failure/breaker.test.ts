import { describe, expect, test } from "vitest";
import { PoisonBreaker } from "./breaker.ts";

describe("the breaker", () => {
  test("a share of the last 1,000 records may be set aside, and not one more", () => {
    const breaker = new PoisonBreaker({ maxShare: 0.01, maxInARow: 100 });
    const verdicts = Array.from({ length: 11 }, (_, i) => breaker.setAside((i + 1) * 50));
    expect(verdicts.slice(0, 10)).toEqual(verdicts.slice(0, 10).map(() => null));
    expect(verdicts[10]).toContain("11 of the last 1000 records");
  });

  test("earlier records do not count", () => {
    const breaker = new PoisonBreaker({ maxShare: 0.01, maxInARow: 100 });
    for (let records = 100; records <= 1_000_000; records += 100) {
      expect(breaker.setAside(records)).toBeNull();
    }
  });

  test("too many in a row are too many, whatever their share", () => {
    const breaker = new PoisonBreaker({ maxShare: 1, maxInARow: 3 });
    expect([1, 2, 3].map((records) => breaker.setAside(records))).toEqual([null, null, null]);
    expect(breaker.setAside(4)).toContain("4 records in a row");
  });

  test("a record that was handled ends the row, even after a retry", () => {
    const breaker = new PoisonBreaker({ maxShare: 1, maxInARow: 2 });
    expect([1, 2, 4, 5, 7, 9, 10].map((records) => breaker.setAside(records))).toEqual([null, null, null, null, null, null, null]);
    expect(breaker.setAside(11)).toContain("3 records in a row");
  });

  test("records that are set aside long after later ones are in no row with those: between them, others were handled", () => {
    const breaker = new PoisonBreaker({ maxShare: 1, maxInARow: 2 });
    expect([100, 80, 60, 90, 40, 20, 70].map((records) => breaker.setAside(records)).filter((verdict) => verdict !== null)).toEqual([]);
  });

  test("a row is found in whatever order its records are set aside, and each record counts once", () => {
    const breaker = new PoisonBreaker({ maxShare: 1, maxInARow: 4 });
    expect([10, 8, 12, 10, 9, 8, 14].map((records) => breaker.setAside(records)).filter((verdict) => verdict !== null)).toEqual([]);
    expect(breaker.setAside(11)).toContain("5 records in a row");
  });

  test("the last 1,000 records are those before the latest, also when an earlier one is set aside after it", () => {
    const breaker = new PoisonBreaker({ maxShare: 0.002, maxInARow: 100 });
    expect([100, 200, 1_150, 50, 60].map((records) => breaker.setAside(records))).toEqual([null, null, null, null, null]);
    expect(breaker.setAside(180)).toContain("3 of the last 1000 records");
  });

  test("a breaker that is switched off lets everything pass", () => {
    const breaker = new PoisonBreaker(null);
    for (let records = 1; records < 2_000; records++) {
      expect(breaker.setAside(records)).toBeNull();
    }
  });
});
