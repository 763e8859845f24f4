import { describe, expect, test } from "vitest";
import { peersReport, peersTable } from "../scripts/published/peers-report.mjs";

const environment = {
  date: "2026-11-23T12:00:00Z",
  commit: "abc",
  cpu: "A CPU",
  cores: 2,
  memoryGiB: 8,
  os: "linux",
  node: "v20.20.2",
  loadAverage: 0.1,
  versions: { kafkajs: "2.2.4" },
};

const figures = { format: "json", compression: "none", isLong: false, processorNs: [], brokerNs: [], residentMiB: [] };

const result = {
  environment,
  isQuick: false,
  seconds: 600,
  rounds: 3,
  messages: { json: 200_000 },
  longMessages: { json: 400_000 },
  bytesPerBatch: 65_536,
  sides: [{ name: "cdckit, kafkajs", kind: "ours", about: "createConsumer" }],
  rows: [
    {
      figure: "kafkajs driver against kafkajs by hand",
      wanted: "2x",
      cells: [
        { text: "4.00x", verdict: "held" },
        { text: "0.90x; **kafkajs by hand is faster**", verdict: "missed" },
        { text: "not run: kcat is not installed", verdict: "not run" },
      ],
    },
    { figure: "an idle consumer", wanted: "below 1%", cells: [{ text: "0.30%", verdict: "held" }] },
  ],
  consume: [
    { ...figures, side: "cdckit, kafkajs", kind: "ours", perSecond: [100, 300, 200], residentMiB: [150], notRun: null },
    { ...figures, side: "kafkajs by hand", kind: "peer", perSecond: [400], notRun: null },
    { ...figures, side: "kcat", kind: "undecoded", perSecond: [], notRun: "kcat is not installed" },
  ],
};

describe("the report of the suite peers", () => {
  test("says of each figure whether it held, and names a peer that is faster", () => {
    expect(peersTable(result)).toContain(
      "| kafkajs driver against kafkajs by hand | 2x | 4.00x: held | 0.90x; **kafkajs by hand is faster**: **missed** | not run: kcat is not installed |",
    );
  });

  test("does not call a ratio above its own ceiling held, nor hides a round that failed", () => {
    const doubtful = { figure: "two workers against one", wanted: "1.6x", cells: [{ text: "1.92x, at most 1.36x", verdict: "in doubt" }] };
    expect(peersTable({ ...result, rows: [doubtful] })).toContain("| 1.92x, at most 1.36x: **the baseline is in doubt** |");
    const consume = [{ ...figures, side: "kcat", kind: "undecoded", perSecond: [400], notRun: "failed in round 2: no answer" }];
    expect(peersReport({ ...result, consume })).toContain("| kcat | 400 [400 to 400]; not run: failed in round 2: no answer |");
  });

  test("has figures of no format in the first column", () => {
    expect(peersTable(result)).toContain("| an idle consumer | below 1% | 0.30%: held |  |  |");
  });

  test("says where, with what and how often it was measured", () => {
    expect(peersTable(result)).toMatch(
      /Measured on 2026-11-23 at abc: A CPU, 2 cores, 8 GiB, linux, Node v20\.20\.2, load 0\.1 .* rounds: 3/,
    );
  });

  test("has the median and the spread of each side, the slowest too, and why one was not run", () => {
    const report = peersReport(result);
    expect(report).toContain("| cdckit, kafkajs | 200 [100 to 300] | ██████▓▓▓▓▓▓░░░░░░ |  |  | 150 MiB |");
    expect(report).toContain(`| kafkajs by hand | 400 [400 to 400] | ${"█".repeat(24)} |`);
    expect(report).toContain("| kcat | not run: kcat is not installed |");
  });

  test("says below a chart that a peer is the fastest, if it is, and leaves out who does not decode", () => {
    expect(peersReport(result)).toContain("**kafkajs by hand is the fastest that decodes.**");
    const faster = result.consume.map((one) => (one.kind === "ours" ? { ...one, perSecond: [500] } : one));
    const undecoded = { ...figures, side: "Java", kind: "undecoded", perSecond: [900], notRun: null };
    expect(peersReport({ ...result, consume: [...faster, undecoded] })).not.toContain("is the fastest that decodes");
  });

  test("warns that a quick run means nothing", () => {
    expect(peersReport(result)).not.toContain("mean nothing");
    expect(peersReport({ ...result, isQuick: true })).toContain("its figures mean nothing");
  });
});
