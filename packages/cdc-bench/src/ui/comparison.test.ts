import { expect, test } from "vitest";
import type { Metric } from "../verdict/metric.ts";
import { compareFigures, metricsIn } from "./comparison.ts";

function metric(name: Metric["name"], value: number, scope = "orders"): Metric {
  return { name, scope, value };
}

test("figures stand side by side with their ratio, and are judged as a baseline is", () => {
  const before = [
    metric("rate", 100),
    metric("decode.p50", 1_000),
    metric("decode.p99", 1_000),
    metric("size.avg", 50),
    metric("errors", 0),
    metric("drift.heap", -0.3),
  ];
  const now = [
    metric("rate", 50),
    metric("decode.p50", 500),
    metric("decode.p99", 9_000),
    metric("size.avg", 51),
    metric("errors", 3),
    metric("drift.heap", 0.6),
  ];
  const rows = compareFigures(before, now).map(({ name, before: then, now: here, ratio, verdict }) => [
    name,
    then?.text,
    here?.text,
    ratio,
    verdict,
  ]);
  expect(rows).toEqual([
    ["rate", "100/s", "50/s", 0.5, "worse"],
    ["decode.p50", "1.00 µs", "500 ns", 0.5, "better"],
    ["decode.p99", "1.00 µs", "9.00 µs", 9, null], // it does not repeat well
    ["size.avg", "50 B", "51 B", 1.02, "same"],
    ["errors", "0", "3", null, "worse"],
    ["drift.heap", "-0.3%", "0.6%", null, null], // a part of a percentage says nothing
  ]);
});

test("what only one run has is shown without a ratio, the earlier run's at the end", () => {
  const rows = compareFigures([metric("rate", 1, "gone"), metric("rate", 2)], [metric("rate", 2), metric("rate", 3, "new")]);
  expect(rows.map(({ scope, ratio, verdict }) => [scope, ratio, verdict])).toEqual([
    ["orders", 1, "same"],
    ["new", null, null],
    ["gone", null, null],
  ]);
});

test.each([null, {}, { metrics: "x" }, { metrics: [{ name: "unknown", scope: "a", value: 1 }, null, { name: "rate", value: 1 }] }])(
  "%j has no figures",
  (result) => {
    expect(metricsIn(result)).toEqual([]);
  },
);
