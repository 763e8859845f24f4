import { formatCount, formatDuration } from "../../report/quantities.ts";
import type { FlameGraph } from "../document.ts";
import type { ProfileArea } from "../../result/profile-frame.ts";
import { areaShares, type FlameLayout, layoutFlame, minFlameShare, type PlacedFrame } from "../flame-layout.ts";
import { escapeMarkup } from "./escape.ts";

/** What the time in each area was for, and its color: dark text is readable on all of them. */
export const profileAreas: Readonly<Record<ProfileArea, { readonly color: string; readonly about: string }>> = {
  fetch: { color: "#8fbfec", about: "the client of Kafka or Redis: sockets, requests, splitting what came into records" },
  decompress: { color: "#8ed1c0", about: "gzip, Snappy, LZ4 and zstd of batches" },
  decode: { color: "#f6ab63", about: "from bytes to events: framing, encoding, envelope, values" },
  validate: { color: "#e7cd55", about: "checks of decoded values against a schema" },
  handler: { color: "#9bcb78", about: "what the program does with an event" },
  commit: { color: "#cfa9e6", about: "bookkeeping of offsets and their commits" },
  gc: { color: "#f29a9a", about: "garbage collection" },
  idle: { color: "#dfe3e8", about: "waiting: nothing to do" },
  other: { color: "#d3c3ae", about: "Node.js, and what belongs to none of these" },
};

const width = 1200;
const margin = 12;
const rowHeight = 18;
const lineHeight = 17;
/** Of the font in which frames are labeled: every character takes as much. */
const characterWidth = 6.05;
const charactersInLine = 180;
const ink = "#1b2026";

/**
 * A flame graph as an SVG of its own: the root on top, callers above what they call, widths in proportion to time, colors by what the time
 * was for. It needs no script and no style sheet. Each frame carries its place (`data-start`, `data-share`, `data-depth`) and its name, so
 * that a page can zoom into it.
 */
export function flameGraphSvg(flame: FlameGraph): string {
  const layout = layoutFlame(flame.root);
  const subtitle = wrapped(flame.subtitle, charactersInLine);
  const framesTop = margin + 24 + subtitle.length * lineHeight + 6;
  const keyTop = framesTop + layout.depth * rowHeight + 14;
  const key = areaShares(flame.root);
  const height = keyTop + (key.length + 1) * lineHeight + margin;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" class="flame" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}"`,
    ` role="group" aria-label="${escapeMarkup(`Flame graph: ${flame.title}`)}" font-family="ui-monospace, Menlo, Consolas, monospace">`,
    `<desc>${escapeMarkup(textAlternative(flame))}</desc>`,
    `<rect class="ground" width="${width}" height="${height}" fill="#ffffff"/>`,
    textAt(margin, margin + 14, flame.title, 16, ' font-weight="bold"'),
    ...subtitle.map((line, i) => textAt(margin, margin + 34 + i * lineHeight, line, 11)),
    `<g class="frames" data-left="${margin}" data-width="${width - 2 * margin}">`,
    ...layout.frames.map((frame) => frameSvg(frame, framesTop)),
    "</g>",
    ...key.map(({ area, share, selfUs }, i) => keySvg(area, `${percent(share)}, ${formatDuration(selfUs * 1e3)}`, keyTop + i * lineHeight)),
    textAt(margin, keyTop + key.length * lineHeight + 12, footText(layout), 11),
    "</svg>",
  ].join("");
}

function frameSvg({ name, area, valueUs, start, share, depth }: PlacedFrame, top: number): string {
  const x = margin + start * (width - 2 * margin);
  const frameWidth = share * (width - 2 * margin);
  const y = top + depth * rowHeight;
  const about = `${name}: ${formatDuration(valueUs * 1e3)}, ${percent(share)}, ${area}`;
  const place = `data-start="${round(start, 6)}" data-share="${round(share, 6)}" data-depth="${depth}" data-name="${escapeMarkup(name)}"`;
  return [
    `<g class="frame" ${place}><title>${escapeMarkup(about)}</title>`,
    `<rect x="${round(x)}" y="${y}" width="${round(frameWidth)}" height="${rowHeight - 1}" fill="${profileAreas[area].color}" rx="1"`,
    ' stroke="#ffffff" stroke-width="0.5"/>',
    `<text x="${round(x + 3)}" y="${y + 13}" font-size="10" fill="${ink}">${escapeMarkup(labelFor(name, frameWidth))}</text></g>`,
  ].join("");
}

/** As much of a name as fits; nothing if that would be less than three characters. */
function labelFor(name: string, frameWidth: number): string {
  const room = Math.floor((frameWidth - 6) / characterWidth);
  const characters = [...name];
  if (characters.length <= room) {
    return name;
  }
  return room < 3 ? "" : `${characters.slice(0, room - 2).join("")}..`;
}

function keySvg(area: ProfileArea, figures: string, y: number): string {
  const { color, about } = profileAreas[area];
  return `<rect x="${margin}" y="${y}" width="12" height="12" fill="${color}" stroke="#6b7480" stroke-width="0.5"/>${textAt(margin + 20, y + 10, `${area.padEnd(10, "\u00a0")} ${figures}: ${about}`, 11)}`;
}

function footText({ frames, leftOut }: FlameLayout): string {
  const left = leftOut === 0 ? "" : ` ${formatCount(leftOut)} that took less than ${minFlameShare * 100}%, or are too deep, are left out.`;
  return `${formatCount(frames.length)} calls. Width is time on the processor, with what was called.${left}`;
}

/** What the picture shows, for those who do not see it. */
function textAlternative({ title, subtitle, root }: FlameGraph): string {
  const areas = areaShares(root).map(({ area, share }) => `${area} ${percent(share)}`);
  return `${title}. ${subtitle}. Time by area: ${areas.join(", ")}.`;
}

function textAt(x: number, y: number, text: string, size: number, more = ""): string {
  return `<text class="ink" x="${x}" y="${y}" font-size="${size}" fill="${ink}"${more}>${escapeMarkup(text)}</text>`;
}

function wrapped(text: string, characters: number): readonly string[] {
  const lines: string[] = [];
  for (const word of text.split(/\s+/).flatMap((long) => long.match(new RegExp(`.{1,${characters}}`, "gsu")) ?? [])) {
    const line = lines.at(-1);
    if (line === undefined || line.length + 1 + word.length > characters) {
      lines.push(word);
    } else {
      lines[lines.length - 1] = `${line} ${word}`;
    }
  }
  return lines;
}

function percent(share: number): string {
  return `${(share * 100).toFixed(share >= 0.1 ? 0 : share >= 0.01 ? 1 : 2)}%`;
}

function round(value: number, digits = 2): number {
  return Number(value.toFixed(digits));
}
