import { formatCount, formatDuration } from "../report/quantities.ts";
import type { BenchResult } from "../result/bench-result.ts";
import type { Drift } from "../scenario/soak/drift.ts";
import { type DriftName, driftNames, type SoakFormat, type SoakResult } from "../scenario/soak/soak-result.ts";
import type { Block, Cell, LineChart, ReportDocument, Winner } from "../presentation/document.ts";
import { footOf } from "./foot.ts";
import { settingsText } from "./settings-text.ts";

/** The document of `soak`. */
export function presentSoak(result: BenchResult): ReportDocument {
  const soak = result as SoakResult;
  const { formats, rssDrift } = soak;
  const elapsedMs = Math.max(0, ...formats.map((format) => format.elapsedMs));
  return {
    title: "Soak",
    subtitle: `${formats.map(({ title }) => title).join(" beside ")} for ${formatDuration(elapsedMs * 1e6)}`,
    isPartial: soak.aborted,
    sections: [
      { title: "Side by side", blocks: [ratesTable(formats), { kind: "winners", rows: winnersOf(formats) }] },
      {
        title: "Drift: the last third against the first",
        blocks: [driftTable(formats, rssDrift)],
      },
      { title: "Over time", blocks: chartsOf(formats) },
      { title: "Configuration", blocks: [{ kind: "code", language: "text", text: settingsText(soak.settings) }] },
      ...footOf(soak),
    ],
  };
}

function ratesTable(formats: readonly SoakFormat[]): Block {
  return {
    kind: "table",
    columns: [
      { title: "format", align: "left" },
      { title: "events" },
      { title: "events/s" },
      { title: "p50" },
      { title: "p95" },
      { title: "p99" },
      { title: "busy" },
      { title: "GC" },
      { title: "errors" },
    ],
    rows: formats.map(({ title, events, perSecond, latency, windows, errorRecords }): readonly Cell[] => {
      const lengthMs = windows.reduce((sum, window) => sum + window.lengthMs, 0) || 1;
      const busy = windows.reduce((sum, window) => sum + window.busyShare * window.lengthMs, 0) / lengthMs;
      const gc = windows.reduce((sum, window) => sum + window.gcMs, 0) / lengthMs;
      const cell = (durationNs: number | undefined): Cell =>
        durationNs === undefined ? "-" : { text: formatDuration(durationNs), value: durationNs };
      return [
        title,
        { text: formatCount(events), value: events },
        { text: formatCount(perSecond), value: perSecond },
        cell(latency?.p50Ns),
        cell(latency?.p95Ns),
        cell(latency?.p99Ns),
        { text: `${Math.round(busy * 100)}%`, value: busy },
        { text: `${(gc * 100).toFixed(1)}%`, value: gc },
        { text: formatCount(errorRecords), value: errorRecords, ...(errorRecords > 0 && { mark: "warning" as const }) },
      ];
    }),
  };
}

function winnersOf(formats: readonly SoakFormat[]): readonly Winner[] {
  const busyPerEvent = (format: SoakFormat): number => {
    const busyMs = format.windows.reduce((sum, window) => sum + window.busyShare * window.lengthMs, 0);
    return (busyMs * 1e6) / Math.max(1, format.events);
  };
  const ranked = formats.map((format) => ({ format, ns: busyPerEvent(format) })).toSorted((a, b) => a.ns - b.ns);
  const [best, next] = ranked;
  if (best === undefined || next === undefined || best.format.events === 0) {
    return [];
  }
  return [
    {
      dimension: "thread time an event",
      winner: best.format.title,
      figure: formatDuration(best.ns),
      against: `${next.format.title}: ${formatDuration(next.ns)}`,
    },
  ];
}

function driftTable(formats: readonly SoakFormat[], rssDrift: Drift | null): Block {
  const rows = [
    ...formats.flatMap((format) => driftNames.map((name) => ({ label: `${format.title}, ${name}`, name, drift: format.drift[name] }))),
    { label: "process, RSS", name: "rss" as const, drift: rssDrift },
  ];
  return {
    kind: "table",
    columns: [
      { title: "figure", align: "left" },
      { title: "first" },
      { title: "last" },
      { title: "change" },
      { title: "an hour" },
      { title: "±" },
      { title: "", align: "left" },
    ],
    rows: rows.flatMap(({ label, name, drift }): readonly (readonly Cell[])[] => {
      if (drift === null) {
        return [];
      }
      const isJudged = drift.verdict === "rises" || drift.verdict === "falls";
      return [
        [
          label,
          figureText(name, drift.first),
          figureText(name, drift.last),
          { text: `${drift.changePercent > 0 ? "+" : ""}${drift.changePercent.toFixed(1)}%`, value: drift.changePercent },
          figureText(name, drift.slopePerHour),
          figureText(name, drift.slopeErrorPerHour),
          { text: drift.verdict.replace("-", " "), value: null, ...(isJudged && { mark: "warning" as const }) },
        ],
      ];
    }),
  };
}

function figureText(name: DriftName | "rss", value: number): string {
  const sign = value < 0 ? "-" : "";
  const amount = Math.abs(value);
  switch (name) {
    case "rate":
      return `${sign}${formatCount(amount)}`;
    case "heap":
    case "rss":
      return `${sign}${(amount / 1e6).toFixed(1)} MB`;
    default:
      return `${sign}${formatDuration(amount * 1e6)}`;
  }
}

function chartsOf(formats: readonly SoakFormat[]): readonly Block[] {
  const chart = (
    title: string,
    unit: NonNullable<LineChart["y"]["unit"]>,
    of: (window: SoakFormat["windows"][number]) => number | null,
  ): LineChart => ({
    kind: "lines",
    title,
    isTimeSeries: true,
    x: { title: "since the start", unit: "s" },
    y: { title, unit },
    series: formats.map(({ title: label, windows }) => ({
      label,
      points: windows.flatMap((window) => {
        const value = of(window);
        return value === null ? [] : [[window.fromMs / 1e3, value] as const];
      }),
    })),
  });
  const charts = [
    chart("events a second", "per-second", ({ events, lengthMs }) => (events / lengthMs) * 1e3),
    chart("latency p99, ms", "ms", ({ latencyMs }) => latencyMs?.p99 ?? null),
    chart("heap", "bytes", ({ heapBytes }) => heapBytes),
    chart("RSS of the process", "bytes", ({ rssBytes }) => rssBytes),
  ];
  return charts.filter(({ series }) => series.some(({ points }) => points.length > 0));
}
