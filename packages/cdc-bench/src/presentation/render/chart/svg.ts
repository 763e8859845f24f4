import { escapeMarkup } from "../escape.ts";

/** So many colors tell series apart; more series get other dashes. */
export const seriesColors = 8;

/** Widths in which each chart is drawn: a page shows the one that fits its screen, at its own size, so that its texts stay readable. */
export const chartWidths = { wide: 720, narrow: 340 } as const;

/** A chart and where it stands in a page: ids are unique there. */
export interface ChartFrame {
  readonly id: string;
  readonly width: number;
}

export interface Picture extends ChartFrame {
  readonly height: number;
  readonly title: string;
  /** What the picture shows, in words. */
  readonly description: string;
  readonly content: readonly string[];
}

/** An SVG that says what it is to those who do not see it. */
export function pictureSvg({ id, width, height, title, description, content }: Picture): string {
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="chart" viewBox="0 0 ${width} ${round(height)}" width="${width}" height="${round(height)}"`,
    ` role="img" aria-labelledby="${id}-t ${id}-d"><title id="${id}-t">${escapeMarkup(title)}</title>`,
    `<desc id="${id}-d">${escapeMarkup(description)}</desc>`,
    ...content,
    "</svg>",
  ].join("");
}

export interface TextPlace {
  readonly x: number;
  readonly y: number;
  readonly anchor?: "start" | "middle" | "end";
  readonly className?: string;
}

/** Text in a chart; in full in a tooltip if it had to be cut to the width. */
export function textSvg(
  text: string,
  { x, y, anchor = "start", className = "label" }: TextPlace,
  maxWidth: number = Number.POSITIVE_INFINITY,
): string {
  const cut = cutText(text, maxWidth);
  const title = cut === text ? "" : `<title>${escapeMarkup(text)}</title>`;
  const anchored = anchor === "start" ? "" : ` text-anchor="${anchor}"`;
  return `<text class="${className}" x="${round(x)}" y="${round(y)}"${anchored}>${title}${escapeMarkup(cut)}</text>`;
}

/** About how wide a text is in the charts' font of 12 pixels. */
export function widthOf(text: string): number {
  return [...text].length * 6.7;
}

function cutText(text: string, maxWidth: number): string {
  const characters = [...text];
  const room = Math.floor(maxWidth / 6.7);
  return characters.length <= room ? text : `${characters.slice(0, Math.max(0, room - 1)).join("")}…`;
}

export interface Legend {
  readonly svg: string;
  readonly height: number;
}

/** What the colors mean: as many in a line as fit. */
export function legendSvg(labels: readonly string[], width: number, mark: (index: number, x: number, y: number) => string): Legend {
  const markWidth = 26;
  const parts: string[] = [];
  let x = 0;
  let line = 0;
  labels.forEach((label, i) => {
    const size = Math.min(width, markWidth + widthOf(label) + 16);
    if (x > 0 && x + size > width) {
      x = 0;
      line++;
    }
    const y = line * 18 + 13;
    parts.push(mark(i, x, y), textSvg(label, { x: x + markWidth, y }, width - markWidth));
    x += size;
  });
  return { svg: parts.join(""), height: labels.length === 0 ? 0 : (line + 1) * 18 + 6 };
}

/** The color class of a series, and its dashes if colors repeat. */
export function seriesClass(index: number): string {
  return `s${index % seriesColors} d${Math.floor(index / seriesColors) % 4}`;
}

export function round(value: number): number {
  return Number(value.toFixed(2));
}
