import { formatCount, formatDuration, formatMegabytesPerSecond } from "../report/quantities.ts";
import type { RateSummary } from "../measure/rounds.ts";
import type { BenchResult } from "../result/bench-result.ts";
import type { DrainResult } from "../scenario/drain/drain-result.ts";
import type { Block, Cell, FigureCell, ReportDocument, Section, Series } from "../presentation/document.ts";
import { footOf } from "./foot.ts";
import { settingsText } from "./settings-text.ts";

/** The document of `drain`. */
export function presentDrain(result: BenchResult): ReportDocument {
  const drain = result as DrainResult;
  const { backlog } = drain;
  return {
    title: "Backlog drain",
    subtitle: `${formatCount(backlog.records)} events in ${backlog.format}, ${backlog.partitions} partitions, ${backlog.writers} writers`,
    isPartial: drain.aborted,
    sections: [
      { title: "Catching up", blocks: [ratesTable(drain), chart(drain), detailsTable(drain)] },
      ...capsSection(drain),
      ...costSection(drain),
      ...slowSinkSection(drain),
      { title: "The backlog", blocks: [{ kind: "paragraph", text: backlogText(drain) }] },
      {
        title: "Configuration",
        blocks: [
          { kind: "code", title: "To paste", language: "ts", text: drain.configuration },
          { kind: "code", title: "As measured", language: "text", text: settingsText(drain.settings) },
        ],
      },
      ...footOf(drain),
    ],
  };
}

function ratesTable({ drains }: DrainResult): Block {
  const best = Math.max(...drains.map(({ avg }) => avg.median));
  return {
    kind: "table",
    columns: [
      { title: "to, delivery", align: "left" },
      { title: "events/s" },
      { title: "±" },
      { title: "p50" },
      { title: "peak" },
      { title: "MB/s" },
    ],
    rows: drains.map(({ label, avg, p50, peak, bytesPerSecond }) => [
      label,
      { text: formatCount(avg.median), value: avg.median, ...(drains.length > 1 && avg.median === best && { mark: "best" as const }) },
      spreadText(avg),
      rateCell(p50),
      rateCell(peak),
      { text: formatMegabytesPerSecond(bytesPerSecond.median), value: bytesPerSecond.median },
    ]),
  };
}

function detailsTable({ drains }: DrainResult): Block {
  return {
    kind: "table",
    title: "The last round of each",
    columns: [
      { title: "to, delivery", align: "left" },
      { title: "1st event" },
      { title: "drain" },
      { title: "decode" },
      { title: "batches" },
      { title: "batch p50" },
      { title: "p99" },
    ],
    rows: drains.map(({ label, rounds }): readonly Cell[] => {
      const last = rounds.at(-1);
      if (last === undefined) {
        return [label];
      }
      return [
        label,
        last.firstEventMs === null ? "-" : durationCell(last.firstEventMs),
        durationCell(last.rate.elapsedMs),
        { text: `${Math.round(last.decodeShare * 100)}%`, value: last.decodeShare },
        { text: formatCount(last.batches === 0 ? last.fetches : last.batches), value: last.batches === 0 ? last.fetches : last.batches },
        last.calls.count === 0 ? "-" : { text: formatDuration(last.calls.p50Ns), value: last.calls.p50Ns },
        last.calls.count === 0 ? "-" : { text: formatDuration(last.calls.p99Ns), value: last.calls.p99Ns },
      ];
    }),
  };
}

function chart({ drains }: DrainResult): Block {
  return {
    kind: "lines",
    title: "events/s over time",
    isTimeSeries: true,
    x: { title: "since the first event", unit: "s" },
    y: { title: "events a second", unit: "per-second" },
    series: drains.map(({ label, rounds }): Series => {
      return { label, points: (rounds.at(-1)?.rate.series ?? []).map(([fromMs, perSecond]) => [fromMs / 1e3, perSecond]) };
    }),
  };
}

function capsSection({ drains, settings }: DrainResult): readonly Section[] {
  const capped = drains.flatMap(({ label, rounds }) => {
    const caps = rounds.at(-1)?.caps ?? null;
    return caps === null ? [] : [{ label, caps }];
  });
  if (capped.length === 0) {
    return [];
  }
  const limit = (name: string): string => (typeof settings[name] === "number" ? formatCount(settings[name]) : "none");
  return [
    {
      title: "Which cap closed a batch",
      blocks: [
        {
          kind: "table",
          columns: [
            { title: "to, delivery", align: "left" },
            { title: `max events (${limit("batchEvents")})` },
            { title: `max bytes (${limit("batchBytes")})` },
            { title: "max ms" },
            { title: "first", align: "left" },
          ],
          rows: capped.map(({ label, caps }) => [
            label,
            { text: formatCount(caps["max-events"]), value: caps["max-events"] },
            { text: formatCount(caps["max-bytes"]), value: caps["max-bytes"] },
            { text: formatCount(caps["max-ms"]), value: caps["max-ms"] },
            Object.entries(caps).toSorted(([, a], [, b]) => b - a)[0]?.[0] ?? "-",
          ]),
        },
      ],
    },
  ];
}

function costSection({ deliveryCosts }: DrainResult): readonly Section[] {
  if (deliveryCosts.length === 0) {
    return [];
  }
  return [
    {
      title: "What effectively-once costs",
      blocks: [
        {
          kind: "table",
          columns: [
            { title: "to", align: "left" },
            { title: "slower by" },
            { title: "range" },
            { title: "ms a commit" },
            { title: "range" },
          ],
          rows: deliveryCosts.map(({ target, percent, msPerCommit }) => [
            target,
            { text: `${percent.median.toFixed(1)}%`, value: percent.median },
            `${percent.min.toFixed(1)} to ${percent.max.toFixed(1)}%`,
            { text: msPerCommit.median.toFixed(2), value: msPerCommit.median },
            `${msPerCommit.min.toFixed(2)} to ${msPerCommit.max.toFixed(2)}`,
          ]),
        },
      ],
    },
  ];
}

function slowSinkSection({ slowSink }: DrainResult): readonly Section[] {
  if (slowSink === null) {
    return [];
  }
  const { alone, fast, slow, delayMs } = slowSink;
  const rows = [
    ["fast sink alone", alone],
    ["fast sink beside the slow one", fast],
    [`slow sink (${delayMs} ms a batch)`, slow],
  ] as const;
  return [
    {
      title: "Two sinks, each with its checkpoint",
      blocks: [
        {
          kind: "table",
          columns: [{ title: "sink", align: "left" }, { title: "events/s" }, { title: "done after" }, { title: "of alone" }],
          rows: rows.map(([label, { perSecond, elapsedMs }]) => [
            label,
            { text: formatCount(perSecond.avg), value: perSecond.avg },
            durationCell(elapsedMs),
            { text: `${Math.round((perSecond.avg / alone.perSecond.avg) * 100)}%`, value: perSecond.avg / alone.perSecond.avg },
          ]),
        },
      ],
    },
  ];
}

function backlogText({ backlog }: DrainResult): string {
  const { records, bytes, writers, writtenPerSecond, writeMs, via, checkpointRecords, insertedPerSecond } = backlog;
  const inserted = insertedPerSecond === undefined ? "" : ` The writers inserted ${formatCount(insertedPerSecond)} rows/s.`;
  const how = via === "kafka" ? `${writers} writers straight to Kafka` : `${writers} writers through PostgreSQL and Debezium`;
  const size = bytes === null ? "" : `, ${(bytes / 1e6).toFixed(1)} MB`;
  return `${formatCount(records)} events${size}, after a checkpoint at ${formatCount(checkpointRecords)}: written by ${how} at ${formatCount(writtenPerSecond)} events/s in ${formatDuration(writeMs * 1e6)}.${inserted}`;
}

function rateCell(rate: number | null): Cell {
  return rate === null ? "-" : ({ text: formatCount(rate), value: rate } satisfies FigureCell);
}

function durationCell(durationMs: number): FigureCell {
  return { text: formatDuration(durationMs * 1e6), value: durationMs * 1e6 };
}

/** `±3%`: how far the farthest round is from the median. */
function spreadText({ median, min, max, rounds }: RateSummary): string {
  return rounds.length < 2 ? "-" : `${((Math.max(max - median, median - min) / median) * 100).toFixed(1)}%`;
}
