import { describe, expect, test } from "vitest";
import { faultTextOf, parseFault } from "./fault.ts";

const always = { fromMs: Number.NEGATIVE_INFINITY, toMs: Number.POSITIVE_INFINITY };

describe("a fault is read from", () => {
  test.each([
    ["latency=50ms", { kind: "latency", delayMs: 50, window: always }],
    ["latency=1.5s@2s", { kind: "latency", delayMs: 1_500, window: { fromMs: 2_000, toMs: Number.POSITIVE_INFINITY } }],
    ["bandwidth=10mbit", { kind: "bandwidth", bitsPerSecond: 10e6, window: always }],
    ["bandwidth=1Gbit/s@0s..500ms", { kind: "bandwidth", bitsPerSecond: 1e9, window: { fromMs: 0, toMs: 500 } }],
    ["cut@5s", { kind: "cut", window: { fromMs: 5_000, toMs: 5_000 } }],
    ["cut@5s..10s", { kind: "cut", window: { fromMs: 5_000, toMs: 10_000 } }],
    ["blackhole@5s..10s", { kind: "blackhole", window: { fromMs: 5_000, toMs: 10_000 } }],
    ["blackhole@1m", { kind: "blackhole", window: { fromMs: 60_000, toMs: Number.POSITIVE_INFINITY } }],
  ])("%s", (text, fault) => {
    expect(parseFault(text)).toEqual(fault);
    expect(parseFault(faultTextOf(parseFault(text)))).toEqual(fault);
  });
});

describe("a fault is refused with what is expected, if it is", () => {
  test.each([
    ["", /latency=50ms, bandwidth=10mbit, cut@5s or blackhole@5s\.\.10s/],
    ["jitter=5ms", /It must be latency=50ms/],
    ["latency", /how long/],
    ["latency=50", /how long/],
    ["latency=0ms", /how long/],
    ["latency=61s", /up to 60s/],
    ["bandwidth=10", /rate of a link/],
    ["cut", /cut needs when/],
    ["cut=5@5s", /cut needs when/],
    ["blackhole@10s..5s", /later time last/],
    ["blackhole@5s..6s..7s", /no time of a run/],
    ["blackhole@-5s", /no time of a run/],
  ])("%j", (text, message) => {
    expect(() => parseFault(text)).toThrow(message);
  });
});
