import type { Bar, BarChart } from "../../document.ts";
import { createScale } from "./scale.ts";
import { type ChartFrame, pictureSvg, round, textSvg, widthOf } from "./svg.ts";

const barHeight = 16;
/** Below this width, a bar stands under its label. */
const minWidthForLabelColumn = 480;

/** Bars from zero, with the smallest and the largest of their rounds as a line over each. */
export function barChartSvg({ title, bars }: BarChart, frame: ChartFrame): string {
  const shown = bars.filter(({ value }) => Number.isFinite(value));
  const { width } = frame;
  const isStacked = width < minWidthForLabelColumn;
  const valueColumn = Math.min(width * 0.35, Math.max(0, ...shown.map((bar) => widthOf(valueText(bar))))) + 10;
  const labelColumn = isStacked ? 0 : Math.min(width * 0.4, Math.max(0, ...shown.map(({ label }) => widthOf(label)))) + 12;
  const left = labelColumn + 1;
  const room = width - left - (isStacked ? 1 : valueColumn);
  const scale = createScale(
    shown.flatMap(({ value, spread }) => [value, ...(spread ?? [])]),
    "linear",
    true,
    8,
  );
  const rowHeight = isStacked ? 44 : 28;
  const place = (value: number): number => left + scale.place(value) * room;
  const content = shown.flatMap((bar, i) => {
    const top = i * rowHeight + (isStacked ? 20 : 4);
    const textY = isStacked ? top - 6 : top + 12;
    return [
      textSvg(
        bar.label,
        { x: isStacked ? 0 : labelColumn - 8, y: textY, anchor: isStacked ? "start" : "end" },
        isStacked ? width - valueColumn : labelColumn,
      ),
      barSvg(bar, place, top),
      textSvg(
        valueText(bar),
        { x: width - 1, y: textY, anchor: "end", className: bar.mark === undefined ? "value" : `value ${bar.mark}` },
        valueColumn,
      ),
    ];
  });
  const zero = place(0);
  const height = shown.length * rowHeight + 4;
  const axis = `<line class="axis" x1="${round(zero)}" x2="${round(zero)}" y1="0" y2="${round(height)}"/>`;
  return pictureSvg({ ...frame, height, title, description: shown.map(describe).join("; "), content: [...content, axis] });
}

function barSvg({ value, spread, mark }: Bar, place: (value: number) => number, top: number): string {
  const [from, to] = [place(Math.min(0, value)), place(Math.max(0, value))];
  const rect = `<rect class="bar ${mark ?? "plain"}" x="${round(from)}" y="${round(top)}" width="${round(to - from)}" height="${barHeight}"/>`;
  if (spread === undefined || !spread.every(Number.isFinite)) {
    return rect;
  }
  const [low, high] = [round(place(Math.min(...spread))), round(place(Math.max(...spread)))];
  const middle = top + barHeight / 2;
  return `${rect}<path class="spread" d="M${low} ${middle}H${high}M${low} ${middle - 4}v8M${high} ${middle - 4}v8"/>`;
}

function valueText({ text, mark }: Bar): string {
  return mark === undefined ? text : `${text} ${mark === "best" ? "★" : "⚠"}`;
}

function describe({ label, text, spread, mark }: Bar): string {
  const rounds = spread === undefined ? "" : `, rounds from ${compact(spread[0])} to ${compact(spread[1])}`;
  const said = mark === undefined ? "" : `, ${mark}`;
  return `${label}: ${text}${rounds}${said}`;
}

function compact(value: number): string {
  return Number(value.toPrecision(4)).toLocaleString("en-US");
}
