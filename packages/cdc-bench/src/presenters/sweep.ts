import { formatBytes, formatCount } from "../report/quantities.ts";
import type { BenchResult } from "../result/bench-result.ts";
import type { SweepCurve, SweepResult } from "../scenario/sweep/sweep-result.ts";
import type { Block, ReportDocument, Section, Winner } from "../presentation/document.ts";
import { footOf } from "./foot.ts";
import { settingsText } from "./settings-text.ts";

/** The document of `sweep`. */
export function presentSweep(result: BenchResult): ReportDocument {
  const sweep = result as SweepResult;
  const { base, noise, curves } = sweep;
  const noiseText = noise === null ? "noise not known" : `noise ±${(noise * 100).toFixed(1)}%`;
  return {
    title: "Settings sweep",
    subtitle: `${curves.length} settings around a base of ${formatCount(base.rate.median)} events/s, ${noiseText}`,
    isPartial: sweep.aborted,
    sections: [
      ...curves.map((curve) => curveSection(curve, base.rate.median)),
      ...winnersSection(sweep),
      {
        title: "Configuration",
        blocks: [
          { kind: "code", title: "To paste", language: "ts", text: sweep.configuration },
          { kind: "code", title: "The base, and how it was measured", language: "text", text: settingsText(sweep.settings) },
        ],
      },
      ...footOf(sweep),
    ],
  };
}

function curveSection({ name, option, unit, points, knee }: SweepCurve, baseRate: number): Section {
  const best = Math.max(...points.map(({ rate }) => rate.median));
  const table: Block = {
    kind: "table",
    columns: [
      { title: unit === "bytes" ? "bytes" : unit },
      { title: "events/s", align: "left" },
      { title: "±" },
      { title: "to base" },
      { title: "", align: "left" },
    ],
    rows: points.map(({ value, rate }) => [
      { text: formatCount(value), value },
      {
        text: formatCount(rate.median).padStart(formatCount(best).length),
        value: rate.median,
        bar: rate.median / best,
        ...(rate.median === best && { mark: "best" as const }),
      },
      rate.rounds.length < 2 ? "-" : `${((Math.max(rate.max - rate.median, rate.median - rate.min) / rate.median) * 100).toFixed(0)}%`,
      { text: `${(rate.median / baseRate).toFixed(2)}x`, value: rate.median / baseRate },
      value === knee?.value ? "knee" : "",
    ]),
  };
  const chart: Block = {
    kind: "lines",
    title: `events/s by ${name}`,
    x: { title: option, scale: "log", unit: unit === "bytes" ? "bytes" : unit === "ms" ? "ms" : "count" },
    y: { title: "events a second", unit: "per-second" },
    series: [{ label: "median", points: points.map(({ value, rate }) => [value, rate.median]) }],
    ...(knee !== null && { markers: [{ x: knee.value, y: knee.rate.median, label: "knee" }] }),
  };
  return { title: `${name} (${option})`, blocks: [table, chart] };
}

function winnersSection({ curves, combined, base }: SweepResult): readonly Section[] {
  const rows: readonly Winner[] = [
    ...curves.flatMap(({ name, knee, isBetter, unit }): readonly Winner[] => {
      if (knee === null) {
        return [];
      }
      const value = unit === "bytes" ? formatBytes(knee.value) : formatCount(knee.value);
      const ratio = `${(knee.rate.median / base.rate.median).toFixed(2)}x the base`;
      return [
        {
          dimension: name,
          winner: isBetter ? value : "the base",
          figure: `${formatCount(isBetter ? knee.rate.median : base.rate.median)} events/s`,
          against: isBetter ? ratio : `knee at ${value}: ${ratio}, within the noise`,
        },
      ];
    }),
    ...(combined === null
      ? []
      : [
          {
            dimension: "all knees together",
            winner: combined.isBetter ? "combined" : "the base",
            figure: `${formatCount(combined.isBetter ? combined.rate.median : combined.baseRate.median)} events/s`,
            against: `${(combined.rate.median / combined.baseRate.median).toFixed(2)}x the base in the same rounds`,
          },
        ]),
  ];
  return rows.length === 0 ? [] : [{ title: "Knees", blocks: [{ kind: "winners", rows }] }];
}
