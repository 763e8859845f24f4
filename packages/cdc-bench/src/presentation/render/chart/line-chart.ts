import type { Axis, LineChart, Series } from "../../document.ts";
import { thinOut } from "./thin-out.ts";
import { createScale, type Scale } from "./scale.ts";
import { type ChartFrame, legendSvg, pictureSvg, round, seriesClass, textSvg, widthOf } from "./svg.ts";
import { tickText } from "./tick-text.ts";

/** So few points are shown one by one. */
const maxDots = 40;

/** The area in which the lines are. */
interface Plot {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
  readonly x: Scale;
  readonly y: Scale;
}

/** Curves over axes with named ticks; what is marked is named beside its point. */
export function lineChartSvg(chart: LineChart, frame: ChartFrame): string {
  const { width } = frame;
  const series = chart.series.map(({ label, points }) => ({
    label,
    points: points.filter(([x, y]) => Number.isFinite(x) && Number.isFinite(y)),
  }));
  const points = series.flatMap((each) => each.points);
  const legend = legendSvg(
    series.map(({ label }) => label),
    width,
    (i, x, y) => `<path class="line ${seriesClass(i)}" d="M${round(x)} ${round(y - 4)}h20"/>`,
  );
  const plotHeight = width < 480 ? 190 : 240;
  const y = createScale(
    points.map(([, value]) => value),
    chart.y.scale,
    true,
    6,
  );
  const left = Math.max(24, ...y.ticks.map((tick) => widthOf(tickText(tick, chart.y.unit)))) + 10;
  const x = createScale(
    points.map(([value]) => value),
    chart.x.scale,
    chart.x.scale !== undefined && chart.x.scale !== "linear",
    Math.max(2, Math.floor((width - left) / 90)),
  );
  const plot: Plot = { left, top: legend.height + 22, width: width - left - 14, height: plotHeight, x, y };
  const content = [
    legend.svg,
    textSvg(chart.y.title, { x: 0, y: legend.height + 12, className: "axis-title" }, width),
    ...yAxis(plot, chart.y),
    ...xAxis(plot, chart.x),
    textSvg(
      chart.x.title,
      { x: plot.left + plot.width, y: plot.top + plot.height + 36, anchor: "end", className: "axis-title" },
      plot.width,
    ),
    ...series.map((each, i) => lineSvg(each, seriesClass(i), plot)),
    ...(chart.markers ?? []).map((marker) => markerSvg(marker, plot)),
  ];
  const height = plot.top + plot.height + 42;
  return pictureSvg({ ...frame, height, title: chart.title, description: describe(chart, series), content });
}

function yAxis({ left, top, width, height, y }: Plot, { unit }: Axis): readonly string[] {
  return y.ticks.flatMap((tick) => {
    const at = round(top + (1 - y.place(tick)) * height);
    return [
      `<line class="grid" x1="${round(left)}" x2="${round(left + width)}" y1="${at}" y2="${at}"/>`,
      textSvg(tickText(tick, unit), { x: left - 6, y: at + 4, anchor: "end", className: "tick" }),
    ];
  });
}

/** Ticks whose texts would touch the one before have a line and no text. */
function xAxis({ left, top, width, height, x }: Plot, { unit, scale }: Axis): readonly string[] {
  let free = 0;
  return x.ticks.flatMap((tick) => {
    const at = left + x.place(tick) * width;
    const text = scale === "percentile" ? `${tick}%` : tickText(tick, unit);
    const half = widthOf(text) / 2;
    const middle = Math.min(at, left + width + 14 - half);
    const line = `<line class="grid" x1="${round(at)}" x2="${round(at)}" y1="${round(top)}" y2="${round(top + height)}"/>`;
    if (middle - half < free) {
      return [line];
    }
    free = middle + half + 8;
    return [line, textSvg(text, { x: middle, y: top + height + 17, anchor: "middle", className: "tick" })];
  });
}

function lineSvg({ points }: Series, className: string, { left, top, width, height, x, y }: Plot): string {
  const places = thinOut(points, Math.floor(width / 2)).map(
    ([at, value]) => [round(left + x.place(at) * width), round(top + (1 - y.place(value)) * height)] as const,
  );
  if (places.length === 0) {
    return "";
  }
  const line = `<path class="line ${className}" d="M${places.map(([px, py]) => `${px} ${py}`).join("L")}"/>`;
  const dots = places.length > maxDots ? [] : places.map(([px, py]) => `<circle class="dot ${className}" cx="${px}" cy="${py}" r="2.5"/>`);
  return [line, ...dots].join("");
}

function markerSvg(
  { x: at, y: value, label }: { readonly x: number; readonly y: number; readonly label: string },
  { left, top, width, height, x, y }: Plot,
): string {
  if (!Number.isFinite(at) || !Number.isFinite(value)) {
    return "";
  }
  const [px, py] = [left + x.place(at) * width, top + (1 - y.place(value)) * height];
  const isRight = px > left + width / 2;
  const room = isRight ? px - left - 10 : left + width - px - 10;
  const text = textSvg(
    label,
    { x: px + (isRight ? -9 : 9), y: py < top + 16 ? py + 18 : py - 8, anchor: isRight ? "end" : "start", className: "marker-label" },
    room,
  );
  return `<circle class="marker" cx="${round(px)}" cy="${round(py)}" r="5"/>${text}`;
}

function describe({ x, y, markers = [] }: LineChart, series: readonly Series[]): string {
  const curves = series.map(({ label, points }) => {
    const values = points.map(([, value]) => value);
    const [low, high] = values.reduce(
      ([min, max], value) => [Math.min(min, value), Math.max(max, value)],
      [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
    );
    return values.length === 0
      ? `${label}: nothing was measured`
      : `${label}: ${values.length} points from ${tickText(low, y.unit)} to ${tickText(high, y.unit)}, at the end ${tickText(values.at(-1) ?? 0, y.unit)}`;
  });
  const named = markers.map(({ x: at, y: value, label }) => `${label} at ${tickText(at, x.unit)}, ${tickText(value, y.unit)}`);
  return `${y.title} over ${x.title}. ${[...curves, ...named].join("; ")}`;
}
