import type { StackedBars, StackPart } from "../../document.ts";
import { escapeMarkup } from "../escape.ts";
import { type ChartFrame, legendSvg, pictureSvg, round, seriesClass, textSvg, widthOf } from "./svg.ts";

const barHeight = 22;

/** Each row's parts as shares of that row: all bars are equally long. */
export function stackChartSvg({ title, rows }: StackedBars, frame: ChartFrame): string {
  const { width } = frame;
  const labels = stackLabels(rows);
  const legend = legendSvg(
    labels,
    width,
    (i, x, y) => `<rect class="part ${seriesClass(i)}" x="${round(x)}" y="${round(y - 10)}" width="20" height="12"/>`,
  );
  const hasNames = rows.some(({ label }) => label !== "");
  const rowHeight = barHeight + (hasNames ? 24 : 8);
  const content = rows.flatMap(({ label, parts }, i) => {
    const top = legend.height + i * rowHeight + (hasNames ? 18 : 2);
    return [hasNames ? textSvg(label, { x: 0, y: top - 5 }, width) : "", ...partsSvg(parts, labels, width, top)];
  });
  const height = legend.height + rows.length * rowHeight + 4;
  const description = rows.map(
    ({ label, parts }) =>
      `${label}: ${shares(parts)
        .map(([part, share]) => `${part.label} ${part.text} (${percent(share)})`)
        .join(", ")}`,
  );
  return pictureSvg({ ...frame, height, title, description: description.join("; "), content: [legend.svg, ...content] });
}

/** The names of the parts, in the order in which they are first met. */
export function stackLabels(rows: StackedBars["rows"]): readonly string[] {
  return [...new Set(rows.flatMap(({ parts }) => parts.map(({ label }) => label)))];
}

/** Each part with its share of the row, 0 to 1. */
export function shares(parts: readonly StackPart[]): readonly (readonly [part: StackPart, share: number])[] {
  const amountOf = ({ value }: StackPart): number => (Number.isFinite(value) && value > 0 ? value : 0);
  const total = parts.reduce((sum, part) => sum + amountOf(part), 0);
  return parts.map((part) => [part, total === 0 ? 0 : amountOf(part) / total]);
}

export function percent(share: number): string {
  return `${(share * 100).toFixed(share > 0 && share < 0.0995 ? 1 : 0)}%`;
}

function partsSvg(parts: readonly StackPart[], labels: readonly string[], width: number, top: number): readonly string[] {
  let x = 0;
  return shares(parts).map(([part, share]) => {
    const size = share * width;
    const text = percent(share);
    const fits = widthOf(text) + 6 <= size;
    const rect = `<rect class="part ${seriesClass(labels.indexOf(part.label))}" x="${round(x)}" y="${round(top)}" width="${round(size)}" height="${barHeight}"/>`;
    const said = fits ? textSvg(text, { x: x + size / 2, y: top + 15, anchor: "middle", className: "on-part" }) : "";
    x += size;
    return size === 0 ? "" : `<g><title>${escapeMarkup(`${part.label}: ${part.text}, ${text}`)}</title>${rect}${said}</g>`;
  });
}
