/** Charts of a run over time. */
import { countText, element, millisecondsText, rateText } from "./dom.js";
import uPlot from "./vendor/uplot.js";

/** @typedef {{ atS: number, phase: string, perSecond: number | null, lag: number | null, p50Ms: number | null, p95Ms: number | null, p99Ms: number | null }} Point */

const height = 170;

/** @type {{ title: string, unit: (value: number) => string, series: { label: string, of: (point: Point) => number | null, color: string, dash?: number[] }[] }[]} */
const charts = [
  { title: "Rate, a second", unit: rateText, series: [{ label: "rate", of: ({ perSecond }) => perSecond, color: "--chart-1" }] },
  { title: "Lag, records", unit: countText, series: [{ label: "lag", of: ({ lag }) => lag, color: "--chart-2" }] },
  {
    title: "Latency",
    unit: millisecondsText,
    series: [
      { label: "p50", of: ({ p50Ms }) => p50Ms, color: "--chart-1" },
      { label: "p95", of: ({ p95Ms }) => p95Ms, color: "--chart-2", dash: [6, 3] },
      { label: "p99", of: ({ p99Ms }) => p99Ms, color: "--chart-3", dash: [2, 2] },
    ],
  },
];

/**
 * Charts in a place: one for each figure that the run says something of.
 * @param {HTMLElement} place
 */
export function createCharts(place) {
  /** @type {Map<string, { plot: any, box: HTMLElement }>} */
  const shown = new Map();
  const resize = new ResizeObserver(() => shown.forEach(({ plot, box }) => plot.setSize({ width: box.clientWidth, height })));
  resize.observe(place);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => shown.forEach(({ plot }) => plot.redraw()));
  const placeOf = (/** @type {string} */ title) => {
    if (place.children.length === 0) {
      place.append(...charts.map((chart) => element("div", { "data-chart": chart.title })));
    }
    return /** @type {HTMLElement} */ (place.children[charts.findIndex((chart) => chart.title === title)]);
  };
  const clear = () => {
    shown.forEach(({ plot }) => plot.destroy());
    shown.clear();
    place.replaceChildren();
  };
  return {
    clear,
    /** @param {Point[]} points */
    show(points) {
      for (const { title, unit, series } of charts) {
        const columns = series.map(({ of }) => points.map(of));
        const isEmpty = columns.every((column) => column.filter((value) => value !== null).length < 2);
        /** @type {import("uplot").AlignedData} */
        const data = [points.map(({ atS }) => atS), ...columns];
        const found = shown.get(title);
        if (found !== undefined) {
          found.plot.setData(data);
        } else if (!isEmpty) {
          const box = element("div", { class: "chart", role: "img", "aria-label": `Chart over time: ${title}` });
          // In the order of the list, whichever figure came first.
          placeOf(title).append(element("h4", {}, title), box);
          shown.set(title, { box, plot: new uPlot(optionsOf(unit, series, box.clientWidth), data, box) });
        }
      }
    },
  };
}

/**
 * @param {(value: number) => string} unit
 * @param {{ label: string, color: string, dash?: number[] }[]} series
 * @param {number} width
 */
function optionsOf(unit, series, width) {
  const color = (/** @type {string} */ name) => () => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  const axis = { stroke: color("--ink"), grid: { stroke: color("--line"), width: 1 }, ticks: { stroke: color("--line"), width: 1 } };
  const text = (/** @type {unknown} */ _plot, /** @type {number | null} */ value) =>
    value === null || value === undefined ? "-" : unit(value);
  return {
    ...{ width: Math.max(width, 200), height, cursor: { drag: { x: true, y: false } }, scales: { x: { time: false } } },
    axes: [
      { ...axis, values: (/** @type {unknown} */ _plot, /** @type {number[]} */ ticks) => ticks.map((tick) => `${tick} s`) },
      { ...axis, size: 70, values: (/** @type {unknown} */ _plot, /** @type {number[]} */ ticks) => ticks.map(unit) },
    ],
    series: [
      {
        label: "at",
        value: (/** @type {unknown} */ _plot, /** @type {number | null} */ value) => (value === null ? "-" : `${value.toFixed(1)} s`),
      },
      ...series.map(({ label, color: name, dash }) => ({
        label,
        stroke: color(name),
        width: 2,
        spanGaps: true,
        points: { show: false },
        value: text,
        ...(dash && { dash }),
      })),
    ],
  };
}
