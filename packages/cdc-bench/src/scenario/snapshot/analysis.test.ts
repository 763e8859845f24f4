import { describe, expect, test } from "vitest";
import { analyze, costsOf } from "./analysis.ts";
import type { SnapshotFormat } from "./formats.ts";
import { formatLabels } from "./formats.ts";
import type { FormatSnapshot } from "./result.ts";
import { rotated } from "./rotation.ts";

const duration = (p50Ms: number): FormatSnapshot["backlogAge"] => ({
  count: 100,
  meanNs: p50Ms * 1e6,
  p50Ns: p50Ms * 1e6,
  p95Ns: p50Ms * 2e6,
  p99Ns: p50Ms * 3e6,
  maxNs: p50Ms * 4e6,
});

interface Figures {
  readonly avgBytes: number;
  readonly zstdBytes: number;
  readonly consumerRate: number;
  readonly schemaBytes: number;
  readonly latencyMs: number;
}

function measured(format: SnapshotFormat, { avgBytes, zstdBytes, consumerRate, schemaBytes, latencyMs }: Figures): FormatSnapshot {
  const rates = { messagesPerSecond: consumerRate, minMessagesPerSecond: consumerRate, maxMessagesPerSecond: consumerRate };
  const isRegistered = format === "avro";
  return {
    format,
    label: formatLabels[format],
    messages: 1_000,
    totalMs: 1_000,
    messagesPerSecond: 1_000,
    megabytesPerSecond: 1,
    totalBytes: avgBytes * 1_000,
    sizes: { avgBytes, medianBytes: avgBytes, p99Bytes: avgBytes, maxBytes: avgBytes },
    timesAvro: avgBytes / 215,
    connector: { startMs: 1, writeMs: 1, ...rates },
    consumer: {
      elapsedMs: 1,
      ...rates,
      megabytesPerSecond: 1,
      stages: { joinMs: 0, fetchMs: 0, decompressMs: 0, schemaMs: 0, decodeMs: 0, validateMs: 0, handleMs: 0, commitMs: 0 },
      decode: duration(1),
      cpuMs: 1,
    },
    backlogAge: duration(1),
    tail: { rows: 100, rowsPerSecond: 10, sinceIntended: duration(latencyMs), sinceRecord: duration(1), missingRows: 0 },
    storedBytes: null,
    compression: [
      { compression: "uncompressed", sampleMessages: 100, bytesPerMessage: avgBytes, share: 1 },
      { compression: "zstd", sampleMessages: 100, bytesPerMessage: zstdBytes, share: zstdBytes / avgBytes },
    ],
    processes: [],
    converterSettings: isRegistered ? 18 : 4,
    needsRegistry: isRegistered,
    typedColumns: format === "json" ? 0 : 12,
    columns: 12,
    schemaBytesPerMessage: schemaBytes,
    headerBytesPerMessage: 0,
    errorRecords: 0,
    rounds: [],
  };
}

/** The published sizes and rates. */
const published = [
  measured("json-schema", { avgBytes: 4624, zstdBytes: 100, consumerRate: 3_876, schemaBytes: 3_945, latencyMs: 20 }),
  measured("json", { avgBytes: 679, zstdBytes: 70, consumerRate: 23_510, schemaBytes: 0, latencyMs: 20.5 }),
  measured("avro", { avgBytes: 215, zstdBytes: 70, consumerRate: 29_674, schemaBytes: 2, latencyMs: 4 }),
];
const noPrices = { storagePerGbMonth: null, trafficPerGb: null };

describe("the analysis of the published figures", () => {
  const analysis = analyze(published, noPrices);
  const winner = (dimension: string) => analysis?.winners.find((each) => each.dimension === dimension);

  test("finds the published shares of useful payload", () => {
    expect(analysis?.formats.map(({ usefulShare }) => Math.round((usefulShare ?? 0) * 100))).toEqual([5, 31, 99]);
  });

  test("names a winner with its number and who comes next", () => {
    expect(winner("storage")).toMatchObject({ formats: ["avro"], value: 215, runnerUp: "json", runnerUpValue: 679 });
    expect(winner("consumer")).toMatchObject({ formats: ["avro"], value: 29_674, runnerUp: "json", runnerUpValue: 23_510 });
    expect(winner("latency p50")).toMatchObject({ formats: ["avro"], value: 4, runnerUp: "json-schema" });
    expect(winner("readability")).toMatchObject({ formats: ["json"], runnerUp: "json-schema" });
  });

  test("counts the columns that are typed apart from those whose types a registry can hold to rules", () => {
    expect(winner("typed columns")).toMatchObject({ formats: ["json-schema", "avro"], value: 12, runnerUp: "json", runnerUpValue: 0 });
    expect(winner("evolution safety")).toMatchObject({ formats: ["avro"], value: 12, unit: "registered-columns", runnerUpValue: 0 });
  });

  test("lets equals win together, against the one that is not equal", () => {
    expect(winner("storage, zstd")).toMatchObject({ formats: ["json", "avro"], value: 70, runnerUp: "json-schema" });
    expect(winner("operational simplicity")).toMatchObject({ formats: ["json-schema", "json"], runnerUp: "avro" });
  });

  test("lets nobody win by less than two runs differ", () => {
    const [withSchema, json] = published as [FormatSnapshot, FormatSnapshot];
    const close = analyze([withSchema, json], noPrices);
    expect(close?.winners.some(({ dimension }) => dimension === "latency p50")).toBe(false);
  });

  test("says when to use which with the figures", () => {
    expect(analysis?.formats.map(({ whenToUse }) => whenToUse)).toEqual([
      expect.stringContaining("4,624 B a message, 21.5 times Avro, of which 3,945 B say the same schema each time"),
      expect.stringContaining("679 B a message, 3.2 times Avro, 6.8 times less than with schema. Types of 12 of 12 columns"),
      expect.stringContaining("215 B a message, 29,674 messages a second consumed"),
    ]);
  });
});

describe("without everything", () => {
  test("nothing measured is no analysis", () => {
    expect(analyze([], noPrices)).toBeNull();
  });

  test("without Avro nobody knows what is useful, and one format wins nothing", () => {
    const alone = analyze(published.slice(0, 1), noPrices);
    expect(alone?.formats[0]?.usefulShare).toBeNull();
    expect(alone?.winners).toEqual([]);
  });
});

describe("the cost of a million events", () => {
  test("is that of their bytes after each compression", () => {
    const [withSchema] = published as [FormatSnapshot];
    // 4,624 B x 10^6 are 4.624 x 10^9 B.
    expect(costsOf(withSchema, { storagePerGbMonth: 0.1, trafficPerGb: 0.5 })).toEqual([
      { compression: "uncompressed", storagePerMillion: expect.closeTo(0.4624), trafficPerMillion: expect.closeTo(2.312) },
      { compression: "zstd", storagePerMillion: expect.closeTo(0.01), trafficPerMillion: expect.closeTo(0.05) },
    ]);
  });

  test("is left out without a price, and is of the plain size if compression is not known", () => {
    const [withSchema] = published as [FormatSnapshot];
    expect(costsOf(withSchema, noPrices)).toEqual([]);
    expect(costsOf({ ...withSchema, compression: null }, { storagePerGbMonth: 1, trafficPerGb: null })).toEqual([
      { compression: "uncompressed", storagePerMillion: expect.closeTo(4.624), trafficPerMillion: null },
    ]);
  });
});

describe("the order of rounds", () => {
  test("lets each come first in turn, and keeps all", () => {
    expect([0, 1, 2, 3].map((round) => rotated(["a", "b", "c"], round).join(""))).toEqual(["abc", "bca", "cab", "abc"]);
    expect(rotated([], 2)).toEqual([]);
  });
});
