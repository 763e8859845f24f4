import type { Block, Section } from "../../document.ts";
import { escapeMarkup } from "../escape.ts";
import { barsHtml, flameHtml, linesHtml, stackHtml } from "./figure.ts";
import type { PageContext } from "./page-context.ts";
import { scrollBox, tableHtml, winnersHtml } from "./table.ts";

export function sectionHtml({ title, blocks }: Section, id: string, context: PageContext): string {
  return `<section id="${id}" aria-labelledby="${id}-h"><h3 id="${id}-h">${escapeMarkup(title)}</h3>${blocks.map((block) => blockHtml(block, title, context)).join("")}</section>`;
}

function blockHtml(block: Block, sectionTitle: string, context: PageContext): string {
  switch (block.kind) {
    case "paragraph":
      return `<p>${escapeMarkup(block.text)}</p>`;
    case "list":
      return `<ul class="list">${block.items.map((item) => `<li>${escapeMarkup(item)}</li>`).join("")}</ul>`;
    case "table":
      return tableHtml(block, sectionTitle);
    case "bars":
      return barsHtml(block, context);
    case "lines":
      return linesHtml(block, context);
    case "stack":
      return stackHtml(block, context);
    case "winners":
      return winnersHtml(block);
    case "code":
      return codeHtml(block.title, block.text);
    case "flame":
      return flameHtml(block, context);
  }
}

function codeHtml(title: string | undefined, text: string): string {
  const heading = title === undefined ? "" : `<h4>${escapeMarkup(title)}</h4>`;
  return `${heading}${scrollBox(`<pre><code>${escapeMarkup(text)}</code></pre>`, title ?? "Text to copy")}`;
}
