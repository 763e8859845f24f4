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
    expect([1, 2, 4, 5, 7].map((records) => breaker.setAside(records))).toEqual([null, null, null, null, null]);
    breaker.handled();
    expect([8, 9].map((records) => breaker.setAside(records))).toEqual([null, null]);
    expect(breaker.setAside(10)).toContain("3 records in a row");
  });

  test("a breaker that is switched off lets everything pass", () => {
    const breaker = new PoisonBreaker(null);
    for (let records = 1; records < 2_000; records++) {
      expect(breaker.setAside(records)).toBeNull();
    }
  });
});
