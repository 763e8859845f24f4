import type { Cell, Table, TableHead, Winners } from "../../document.ts";
import { escapeMarkup } from "../escape.ts";

/** A table in a box of its own that scrolls if the screen is narrower: by keyboard, too. */
export function tableHtml({ title, columns, rows }: Table, name: string): string {
  const caption = title === undefined ? "" : `<caption>${escapeMarkup(title)}</caption>`;
  const head = columns.map((column) => `<th scope="col"${alignment(column)}>${escapeMarkup(column.title)}</th>`).join("");
  const body = rows.map((row) => `<tr>${row.map((cell, i) => cellHtml(cell, columns[i], i)).join("")}</tr>`).join("");
  return scrollBox(`<table>${caption}<thead><tr>${head}</tr></thead><tbody>${body}</tbody></table>`, `Table: ${title ?? name}`);
}

/** What may be wider than the screen. */
export function scrollBox(html: string, label: string): string {
  return `<div class="scroll" role="region" tabindex="0" aria-label="${escapeMarkup(label)}">${html}</div>`;
}

function cellHtml(cell: Cell, column: TableHead | undefined, index: number): string {
  const { text, bar, mark } = typeof cell === "string" ? { text: cell, bar: undefined, mark: undefined } : cell;
  const tag = mark === undefined ? "" : ` <span class="tag ${mark}">${mark === "best" ? "best" : "look"}</span>`;
  const content = `${escapeMarkup(text)}${tag}${bar === undefined ? "" : barSvg(bar)}`;
  // What a row is about stands in its first cell.
  return index === 0 ? `<th scope="row"${alignment(column)}>${content}</th>` : `<td${alignment(column)}>${content}</td>`;
}

function alignment(column: TableHead | undefined): string {
  return column?.align === "left" ? ' class="text"' : "";
}

function barSvg(share: number): string {
  const percent = Number.isFinite(share) ? (Math.min(1, Math.max(0, share)) * 100).toFixed(1) : "0";
  return `<svg class="cell-bar" width="100%" height="5" aria-hidden="true"><rect width="${percent}%" height="5"/></svg>`;
}

/** A card for each dimension: who won, with which figure, and against whom. */
export function winnersHtml({ rows }: Winners): string {
  const cards = rows.map(({ dimension, winner, figure, against }) => {
    const next = against === undefined ? "" : `<p class="against">${escapeMarkup(against)}</p>`;
    return `<li><p class="dimension">${escapeMarkup(dimension)}</p><p class="winner">${escapeMarkup(winner)}</p><p class="figure">${escapeMarkup(figure)}</p>${next}</li>`;
  });
  return `<ul class="winners">${cards.join("")}</ul>`;
}
