import type { BarChart, Cell, FlameGraph, LineChart, Series, StackedBars, Table } from "../../document.ts";
import { areaShares } from "../../flame-layout.ts";
import { formatCount, formatDuration } from "../../../report/quantities.ts";
import { barChartSvg } from "../chart/bar-chart.ts";
import { lineChartSvg } from "../chart/line-chart.ts";
import { percent, shares, stackChartSvg, stackLabels } from "../chart/stack-chart.ts";
import { type ChartFrame, chartWidths } from "../chart/svg.ts";
import { tickText } from "../chart/tick-text.ts";
import { escapeMarkup } from "../escape.ts";
import { flameGraphSvg } from "../flame.ts";
import type { PageContext } from "./page-context.ts";
import { scrollBox, tableHtml } from "./table.ts";

/** Shorter time series can be read as they are. */
const minPointsForZoom = 30;
/** Rows of the table below a curve: the raw JSON has all of its points. */
const maxRows = 24;

export function barsHtml(chart: BarChart, context: PageContext): string {
  const hasSpread = chart.bars.some(({ spread }) => spread !== undefined);
  const rounds = ({ spread }: BarChart["bars"][number]): readonly Cell[] => (hasSpread ? (spread ?? ["", ""]).map(plainNumber) : []);
  const numbers: Table = {
    kind: "table",
    columns: [
      { title: "", align: "left" },
      { title: "value" },
      ...(hasSpread ? [{ title: "lowest round" }, { title: "highest round" }] : []),
    ],
    rows: chart.bars.map((bar) => [bar.label, bar.text, ...rounds(bar)]),
  };
  return figureHtml(chart.title, (frame) => barChartSvg(chart, frame), numbers, context.nextId("chart"));
}

export function stackHtml(chart: StackedBars, context: PageContext): string {
  const labels = stackLabels(chart.rows);
  const numbers: Table = {
    kind: "table",
    columns: [{ title: "", align: "left" }, ...labels.map((title) => ({ title }))],
    rows: chart.rows.map(({ label, parts }) => {
      const known = shares(parts);
      const cells = labels.map((wanted) => {
        const found = known.find(([part]) => part.label === wanted);
        return found === undefined ? "-" : `${found[0].text} (${percent(found[1])})`;
      });
      return [label, ...cells];
    }),
  };
  return figureHtml(chart.title, (frame) => stackChartSvg(chart, frame), numbers, context.nextId("chart"));
}

export function linesHtml(chart: LineChart, context: PageContext): string {
  const id = context.nextId("chart");
  if (chart.isTimeSeries === true && chart.series.some(({ points }) => points.length >= minPointsForZoom)) {
    context.timeSeries.set(id, chart);
  }
  const numbers: Table = {
    kind: "table",
    columns: [{ title: "curve", align: "left" }, { title: chart.x.title }, { title: chart.y.title }],
    rows: chart.series.flatMap(({ label, points }) =>
      sampled(points).map(([x, y]) => [label, tickText(x, chart.x.unit), tickText(y, chart.y.unit)]),
    ),
  };
  return figureHtml(chart.title, (frame) => lineChartSvg(chart, frame), numbers, id);
}

/** A flame graph: the page's script lets it be zoomed, and without script it is a picture with tooltips. */
export function flameHtml(flame: FlameGraph, context: PageContext): string {
  const numbers: Table = {
    kind: "table",
    columns: [{ title: "area", align: "left" }, { title: "time" }, { title: "share" }],
    rows: areaShares(flame.root).map(({ area, selfUs, share }) => [area, formatDuration(selfUs * 1e3), percent(share)]),
  };
  const id = context.nextId("flame");
  return [
    `<figure class="flame-figure" id="${id}"><figcaption>${escapeMarkup(flame.title)}</figcaption>`,
    scrollBox(flameGraphSvg(flame), `Flame graph: ${flame.title}`),
    `<p class="flame-line" role="status">Tab and the arrow keys, or the mouse, name a call. Enter or a click zooms in, Escape zooms out.</p>`,
    numbersHtml(numbers, flame.title),
    "</figure>",
  ].join("");
}

function figureHtml(title: string, draw: (frame: ChartFrame) => string, numbers: Table, id: string): string {
  const pictures = Object.entries(chartWidths).map(
    ([name, width]) => `<div class="static ${name}">${draw({ id: `${id}-${name}`, width })}</div>`,
  );
  return `<figure id="${id}"><figcaption>${escapeMarkup(title)}</figcaption>${pictures.join("")}${numbersHtml(numbers, title)}</figure>`;
}

function numbersHtml(table: Table, title: string): string {
  return `<details class="numbers"><summary>Numbers<span class="unseen"> of ${escapeMarkup(title)}</span></summary>${tableHtml(table, title)}</details>`;
}

/** Evenly spread, with the first and the last. */
function sampled(points: Series["points"]): Series["points"] {
  const rows = Math.min(maxRows, points.length);
  return Array.from(
    { length: rows },
    (_, row) => points[rows === 1 ? 0 : Math.round((row * (points.length - 1)) / (rows - 1))] ?? [Number.NaN, Number.NaN],
  );
}

function plainNumber(value: number | string): string {
  return typeof value === "string" ? value : value >= 100 ? formatCount(value) : String(Number(value.toPrecision(3)));
}
