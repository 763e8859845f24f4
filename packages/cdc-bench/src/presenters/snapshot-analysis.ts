import { formatBytes, formatCount } from "../report/quantities.ts";
import type { SnapshotAnalysis, SnapshotWinner } from "../scenario/snapshot/analysis.ts";
import { formatLabels } from "../scenario/snapshot/formats.ts";
import type { FormatSnapshot } from "../scenario/snapshot/result.ts";
import type { Block, Cell, Section, Table } from "../presentation/document.ts";
import { byFormat, count, figure, type Row } from "./snapshot-table.ts";

/** What follows from the figures: what the bytes are, what they cost, who wins, and when to use which. */
export function analysisSections(formats: readonly FormatSnapshot[], analysis: SnapshotAnalysis | null): readonly Section[] {
  if (analysis === null) {
    return [];
  }
  const of = (measured: FormatSnapshot): SnapshotAnalysis["formats"][number] | undefined =>
    analysis.formats.find(({ format }) => format === measured.format);
  const shares = byFormat(formats, [
    ["useful payload", (measured) => shareCell(of(measured)?.usefulShare ?? null)],
    ["schema, B a message", ({ schemaBytesPerMessage }) => count(schemaBytesPerMessage)],
    ["Debezium's headers, B a message", ({ headerBytesPerMessage }) => count(headerBytesPerMessage)],
    ["typed columns", ({ typedColumns, columns }) => `${typedColumns} of ${columns}`],
    ["settings of converters", ({ converterSettings }) => count(converterSettings)],
  ]);
  const costs = costTable(formats, analysis);
  const useful = formats.filter((measured) => of(measured)?.usefulShare !== null);
  const bars: Block = {
    kind: "bars",
    title: "message size",
    bars: formats.map(({ label, sizes }) => ({ label, value: sizes.avgBytes, text: formatBytes(sizes.avgBytes) })),
  };
  return [
    { title: "What the bytes are", blocks: useful.length === 0 ? [bars] : [shares, bars] },
    ...(costs === null ? [] : [{ title: "What a million events cost", blocks: [costs] }]),
    ...(analysis.winners.length === 0
      ? []
      : [{ title: "Who wins", blocks: [{ kind: "winners", rows: analysis.winners.map(winnerRow) } as const] }]),
    {
      title: "When to use which",
      blocks: [{ kind: "list", items: analysis.formats.map(({ format, whenToUse }) => `${formatLabels[format]}: ${whenToUse}`) }],
    },
  ];
}

function shareCell(share: number | null): Cell {
  return share === null ? "-" : figure(share, `${(share * 100).toFixed(0)}%`);
}

function costTable(formats: readonly FormatSnapshot[], { formats: analyzed }: SnapshotAnalysis): Table | null {
  const names = analyzed[0]?.cost.map(({ compression }) => compression) ?? [];
  const costOf = (measured: FormatSnapshot, name: string): SnapshotAnalysis["formats"][number]["cost"][number] | undefined =>
    analyzed.find(({ format }) => format === measured.format)?.cost.find(({ compression }) => compression === name);
  const rows = names.flatMap((name): readonly Row[] => [
    [`${name}: stored for a month`, (measured) => priceCell(costOf(measured, name)?.storagePerMillion)],
    [`${name}: sent once`, (measured) => priceCell(costOf(measured, name)?.trafficPerMillion)],
  ]);
  const shown = rows.filter(([, cellOf]) => formats.some((measured) => cellOf(measured) !== "-"));
  return shown.length === 0 ? null : byFormat(formats, shown);
}

function priceCell(price: number | null | undefined): Cell {
  return price === null || price === undefined ? "-" : figure(price, price >= 1 ? price.toFixed(2) : price.toPrecision(2));
}

function winnerRow({ dimension, formats, value, unit, runnerUp, runnerUpValue }: SnapshotWinner): {
  readonly dimension: string;
  readonly winner: string;
  readonly figure: string;
  readonly against: string;
} {
  return {
    dimension,
    winner: formats.map((format) => formatLabels[format]).join(" and "),
    figure: unitText(value, unit),
    against: `${formatLabels[runnerUp]} ${unitText(runnerUpValue, unit)}`,
  };
}

function unitText(value: number, unit: SnapshotWinner["unit"]): string {
  switch (unit) {
    case "bytes":
      return formatBytes(value);
    case "messages-per-second":
      return `${formatCount(value)}/s`;
    case "ms":
      return `${value.toFixed(1)} ms`;
    case "share":
      return `${Math.round(value * 100)}% is row`;
    case "columns":
      return `${value} columns`;
    case "registered-columns":
      return `${value} columns in a registry`;
    case "services":
      return value === 0 ? "no registry" : "a registry";
  }
}
