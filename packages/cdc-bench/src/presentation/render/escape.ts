// What XML 1.0 does not allow, what half of a character is, and what turns the direction of the text around it: a name must not do that.
const unfit = /(?![\t\n\r])\p{Cc}|[\p{Cs}\u202a-\u202e\u2066-\u2069\ufffe\uffff]/gu;

const entities: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "'": "&#39;" };

/** Text that is safe between tags and in quoted attributes of HTML and SVG, whoever wrote it. */
export function escapeMarkup(text: string): string {
  return visibleText(text).replaceAll(/[&<>"']/g, (character) => entities[character] ?? "");
}

/** The text with what cannot be shown as one replacement character each. */
export function visibleText(text: string): string {
  return text.replaceAll(unfit, "\ufffd");
}
