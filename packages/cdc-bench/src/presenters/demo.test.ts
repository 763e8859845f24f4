import { describe, expect, test } from "vitest";
import type { FormatComparison } from "../demo/compare-formats.ts";
import { conclusionOf, type DemoParts, demoResult } from "../demo/demo-result.ts";
import { renderText } from "../presentation/render/text.ts";
import { presentDemo } from "./demo.ts";

const durations = { count: 1_000, meanNs: 1_000, p50Ns: 900, p95Ns: 1_500, p99Ns: 2_500, maxNs: 9_000 };
const rates = (median: number): FormatComparison["pipeline"] => ({
  median,
  min: median / 2,
  max: median * 2,
  rounds: [median / 2, median, median * 2],
});

function comparison(title: string, avgBytes: number, ratio: number): FormatComparison {
  return {
    title,
    topic: "t",
    sizes: { count: 2_000, totalBytes: avgBytes * 2_000, avgBytes, medianBytes: avgBytes, p99Bytes: avgBytes + 5, maxBytes: avgBytes + 9 },
    sizeToAvro: avgBytes / 100,
    pipeline: rates(1e8 / avgBytes),
    megabytesPerSecond: 100,
    decode: durations,
    decodeRate: rates(ratio * 1e5),
    peer: { name: title.endsWith("Avro") ? "avsc" : "JSON.parse", rate: rates(1e5) },
    ratio: rates(ratio),
  };
}

const report: DemoParts = {
  startedAt: "2026-11-22T08:00:00.000Z",
  elapsedMs: 15_000,
  aborted: false,
  environment: { cpu: "a processor", cores: 2, memoryBytes: 1, platform: "linux x64", node: "v20.19.0", versions: { avsc: "5.7.9" } },
  detected: [
    {
      topic: "good",
      records: 3,
      formats: [{ framing: "none", encoding: "json", envelope: "debezium" }, "tombstone"],
      kinds: { read: 2, tombstone: 1 },
      error: null,
    },
    {
      topic: "bad",
      records: 9,
      formats: [],
      kinds: {},
      error: { code: "unsupported-format", message: "[unsupported-format] why", records: 9 },
    },
  ],
  compared: [comparison("JSON with schema", 2_200, 6.5), comparison("Confluent Avro", 100, 2.5)],
  verdict: { metrics: [], thresholds: [{ expr: "rate>1k", passed: true, actual: 2_000 }], baseline: [] },
};

const demoText = (parts: DemoParts): string => renderText(presentDemo(demoResult(parts)));

describe("the demo's report", () => {
  test("lists what each topic holds, and what is wrong with one that cannot be read", () => {
    const text = demoText(report);
    expect(text).toMatch(/^good +3 +none \+ json \+ debezium +2 read, 1 tombstone$/m);
    expect(text).toMatch(/^bad +9 +error: unsupported-format$/m);
    expect(text).toContain("bad, 9 records: [unsupported-format] why");
  });

  test("compares rates, sizes and decode times, and has the peers beside", () => {
    const text = demoText(report);
    expect(text).toMatch(/^JSON with schema +45,455 +100 +2,200 +2,200 +2,205 +22\.0x +900 ns +2\.50 µs$/m);
    expect(text).toMatch(/^JSON with schema +650,000 +100,000 +6\.50x +3\.25x +13\.0x +JSON\.parse$/m);
    expect(text).toContain("a processor, 2 cores, linux x64, Node v20.19.0, avsc 5.7.9");
  });

  test("ends in a conclusion", () => {
    expect(conclusionOf(report.compared)).toBe(
      "Confluent Avro is 22.0x smaller than JSON with schema and consumed 22.0x faster.\n" +
        "cdckit decodes JSON with schema 6.50x as fast as JSON.parse, Confluent Avro 2.50x as fast as avsc.",
    );
  });

  test("says first when it is not all, and leaves out what was not measured", () => {
    const text = demoText({ ...report, aborted: true, compared: [] });
    expect(text.startsWith("ABORTED")).toBe(true);
    expect(text).not.toContain("NaN");
    expect(conclusionOf([])).toBe("");
  });

  test("is one object in JSON", () => {
    expect(demoResult(report)).toMatchObject({ schemaVersion: 1, command: "demo", aborted: false, rounds: 7 });
  });
});
