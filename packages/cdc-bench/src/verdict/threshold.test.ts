import { describe, expect, test } from "vitest";
import { checkThresholds, collectThresholds } from "./threshold.ts";

describe("a threshold", () => {
  test.each([
    ["decode.p99<250us", { metric: "decode.p99", operator: "<", bound: 250_000 }],
    ["decode.p50 <= 1.5 µs", { metric: "decode.p50", operator: "<=", bound: 1_500 }],
    ["latency.p95<2s", { metric: "latency.p95", operator: "<", bound: 2e9 }],
    ["rate>=100k", { metric: "rate", operator: ">=", bound: 100_000 }],
    ["throughput>20MB/s", { metric: "throughput", operator: ">", bound: 20e6 }],
    ["size.avg<1kB", { metric: "size.avg", operator: "<", bound: 1_000 }],
    ["drift.rate>-10", { metric: "drift.rate", operator: ">", bound: -10 }],
    ["drift.rate >= -2.5", { metric: "drift.rate", operator: ">=", bound: -2.5 }],
    ["errors<1", { metric: "errors", operator: "<", bound: 1 }],
  ])("%s is read", (text, read) => {
    expect(collectThresholds(text)).toEqual([{ expr: text, ...read }]);
  });

  test.each([
    ["decode.p98<1us", "There is no figure decode.p98; there are rate"],
    ["constructor<1", "There is no figure constructor"],
    ["decode.p99<250", "needs a unit of ns, us, ms or s, not a bare number"],
    ["rate>5ms", "needs a number, perhaps with k or m, not ms"],
    ["rate>1constructor", "needs a number"],
    ["rate", "a figure, a comparison and a bound"],
    ["rate>--5", "a figure, a comparison and a bound"],
    ["rate=5", "a figure, a comparison and a bound"],
    ["", "a figure, a comparison and a bound"],
  ])("%j is refused, and what would do is said", (text, said) => {
    expect(() => collectThresholds(text)).toThrow(said);
  });

  test("holds only if the worst of all topics and formats keeps it", () => {
    const metrics = [
      { name: "decode.p99", scope: "a", value: 100 },
      { name: "decode.p99", scope: "b", value: 300 },
      { name: "rate", scope: "a", value: 10 },
      { name: "rate", scope: "b", value: 20 },
    ] as const;
    const check = (expr: string): unknown => checkThresholds(collectThresholds(expr), metrics)[0];
    expect(check("decode.p99<250ns")).toEqual({ expr: "decode.p99<250ns", passed: false, actual: 300 });
    expect(check("decode.p99<=300ns")).toMatchObject({ passed: true });
    expect(check("rate>10")).toMatchObject({ passed: false, actual: 10 });
    expect(check("rate>=10")).toMatchObject({ passed: true });
  });

  test("about something that was not measured is missed", () => {
    expect(checkThresholds(collectThresholds("latency.p99<1s"), [])).toEqual([{ expr: "latency.p99<1s", passed: false, actual: null }]);
  });
});
