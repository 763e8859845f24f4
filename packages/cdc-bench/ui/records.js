/** Records of topics as `inspect` sees them, with what was decided about each. */
import { element } from "./dom.js";
import { parseLossless, valueText } from "./lossless.js";

/** @typedef {{ number: number, json: string | null, place: string }} SeenLine */

/**
 * The item of one line of `inspect --json`.
 * @param {SeenLine} line
 */
export function recordItem({ number, json, place }) {
  if (json === null) {
    return element(
      "li",
      { class: "record", value: number },
      element("strong", {}, place),
      " is too long to be shown here: cdc-bench inspect shows it.",
    );
  }
  const seen = parseLossless(json);
  const { topic, partition, offset, timestamp, error, kind, op, table, key } = seen;
  const name =
    table === null || table === undefined
      ? ""
      : Object.values(table)
          .filter((part) => typeof part === "string")
          .join(".");
  const what = error !== null && error !== undefined ? "cannot be decoded" : (op ?? kind ?? "no event");
  return element(
    "li",
    { class: "record", value: number, "data-place": `${topic}[${partition}]@${valueText(offset)}` },
    element(
      "p",
      { class: "record-head" },
      element("strong", {}, `${topic}[${partition}]@${valueText(offset)}`),
      element("span", { class: `kind kind-${error ? "error" : String(op ?? kind)}` }, String(what)),
      name !== "" && element("span", {}, name),
      timestamp !== undefined && element("time", {}, timeText(Number(valueText(timestamp)))),
    ),
    error && element("p", { class: "problem" }, `${error.message}`),
    key !== null && key !== undefined && element("p", {}, "key ", element("code", {}, valueText(key))),
    rowsOf(seen),
    headersOf(seen),
    deadLetterOf(seen),
    decisionsOf(seen),
  );
}

/**
 * A producer may write any 64 bits for a time, and Kafka writes -1 for none.
 * @param {number} milliseconds
 */
function timeText(milliseconds) {
  return milliseconds >= 0 && milliseconds <= 8.64e15 ? new Date(milliseconds).toISOString() : "no time";
}

/** @param {any} seen */
function rowsOf(seen) {
  const { before, after, row, value, content, ddl } = seen;
  const only = row ?? value ?? content ?? ddl;
  if (isRow(before) || isRow(after)) {
    return rowTable(isRow(before) ? before : null, isRow(after) ? after : null);
  }
  if (isRow(only)) {
    return rowTable(null, only);
  }
  return only === undefined || only === null ? null : element("pre", {}, valueText(only));
}

/** @param {any} value */
function isRow(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/**
 * @param {Record<string, any> | null} before
 * @param {Record<string, any> | null} after
 */
function rowTable(before, after) {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])];
  const text = (/** @type {Record<string, any> | null} */ row, /** @type {string} */ name) =>
    row !== null && Object.hasOwn(row, name) ? valueText(row[name]) : "";
  const heads = [before !== null && "before", after !== null && (before === null ? "value" : "after")].filter((head) => head !== false);
  const rows = names.map((name) => {
    const isChanged = before !== null && after !== null && text(before, name) !== text(after, name);
    return element(
      "tr",
      { class: isChanged ? "changed" : "" },
      element("th", { scope: "row" }, name, isChanged && element("span", { class: "visually-hidden" }, " (changed)")),
      before !== null && element("td", {}, text(before, name)),
      after !== null && element("td", {}, text(after, name)),
    );
  });
  const head = element("tr", {}, element("th", { scope: "col" }, "column"), ...heads.map((one) => element("th", { scope: "col" }, one)));
  return element(
    "div",
    { class: "scroll", tabindex: 0, role: "region", "aria-label": "Row" },
    element("table", { class: "row" }, element("thead", {}, head), element("tbody", {}, ...rows)),
  );
}

/** @param {any} seen */
function headersOf({ headers }) {
  const list = Array.isArray(headers) ? headers : [];
  return (
    list.length > 0 &&
    element(
      "details",
      {},
      element("summary", {}, `${list.length} ${list.length === 1 ? "header" : "headers"}`),
      element("ul", {}, ...list.map(([name, value]) => element("li", {}, element("code", {}, `${name}: ${valueText(value)}`)))),
    )
  );
}

/** @param {any} seen */
function deadLetterOf({ deadLetter }) {
  const fields = Object.entries(deadLetter ?? {}).filter(([, value]) => value !== null);
  return (
    fields.length > 0 &&
    element(
      "details",
      { open: true },
      element("summary", {}, "a dead letter: where it comes from, and why"),
      element("ul", {}, ...fields.map(([name, value]) => element("li", {}, `${name}: `, element("code", {}, valueText(value))))),
    )
  );
}

/** @param {any} seen */
function decisionsOf({ framing, encoding, envelope, schemaId, explain }) {
  const candidates = Array.isArray(explain) ? explain : [];
  const format = [framing, encoding, envelope].filter((part) => typeof part === "string").join(" + ");
  const schema = schemaId === null || schemaId === undefined ? "" : `, schema ${valueText(schemaId)}`;
  const items = candidates.map(({ side, layer, name, won, evidence }) =>
    element(
      "li",
      { class: won ? "won" : "lost" },
      element("strong", {}, `${won ? "chosen" : "not"}: `),
      `${side} ${layer} ${name}: ${evidence}`,
    ),
  );
  return element(
    "details",
    { class: "decisions" },
    element("summary", {}, format === "" ? "what was tried" : `${format}${schema}: why`),
    items.length === 0 ? element("p", {}, "Nothing had to be decided.") : element("ul", {}, ...items),
  );
}
