/** The report of `npm run bench -- peers`, and its table for bench/README.md, of what the run has measured. */

/** @typedef {{ text: string, verdict: string }} Cell */
/** @typedef {{ figure: string, wanted: string, cells: readonly Cell[] }} Row */
/** @typedef {{ side: string, kind: string, format: string, compression: string, perSecond: readonly number[], processorNs: readonly number[], brokerNs: readonly number[], residentMiB: readonly number[], notRun: string | null }} Figures */
/** @typedef {{ environment: Record<string, any>, isQuick: boolean, seconds: number, rounds: number, messages: Record<string, number>, bytesPerBatch: number, sides: readonly { name: string, kind: string, about: string }[], rows: readonly Row[], consume: readonly Figures[] }} PeersResult */

const formats = [
  { id: "json-with-schema", name: "JSON with schema" },
  { id: "json", name: "JSON" },
  { id: "confluent-avro", name: "Avro" },
];

/**
 * The table of figures, and where it was measured.
 * @param {PeersResult} result
 * @returns {string}
 */
export function peersTable(result) {
  const head = ["figure", "wanted", ...formats.map(({ name }) => name)];
  const rows = result.rows.map(({ figure, wanted, cells }) => [figure, wanted, ...formats.map((_, i) => cellText(cells, i))]);
  return [...tableLines([head, ...rows]), "", origin(result)].join("\n");
}

/** A row of one cell fills the first column: its figure is of no format. @param {readonly Cell[]} cells @param {number} i */
function cellText(cells, i) {
  const cell = cells[i];
  if (cell === undefined) return "";
  return cell.verdict === "held" || cell.verdict === "missed"
    ? `${cell.text}: ${cell.verdict === "held" ? "held" : "**missed**"}`
    : cell.text;
}

/**
 * Everything that was measured, as a document.
 * @param {PeersResult} result
 * @returns {string}
 */
export function peersReport(result) {
  const compressions = [...new Set(result.consume.map(({ compression }) => compression))];
  const charts = compressions.flatMap((compression) =>
    formats.flatMap(({ id, name }) => {
      const here = result.consume.filter((one) => one.format === id && one.compression === compression);
      return [`### ${name}, ${compression === "none" ? "uncompressed" : compression}`, "", ...chart(here), ""];
    }),
  );
  const sides = result.sides.map(({ name, about }) => `- **${name}**: ${about}.`);
  return [
    "# Ours beside other clients",
    "",
    `Written by \`npm run bench -- peers${result.isQuick ? " --quick" : ""}\`.${result.isQuick ? " **A quick run: it shows that everything works, and its figures mean nothing.**" : ""}`,
    "",
    peersTable(result),
    "",
    "## Messages a second",
    "",
    "Median of the rounds, and the spread. Processor time a message is that of the side's own process and of the broker; resident memory is",
    "the peak of the process. A bar is as long as its rate is large, beside the others of its topic.",
    "",
    ...charts,
    "## The sides",
    "",
    ...sides,
    "",
  ].join("\n");
}

/** @param {readonly Figures[]} here @returns {readonly string[]} */
function chart(here) {
  const top = Math.max(1, ...here.map(({ perSecond }) => median(perSecond) ?? 0));
  const rows = here.map(({ side, perSecond, processorNs, brokerNs, residentMiB, notRun }) => {
    const middle = median(perSecond);
    if (middle === null) return [side, `not run: ${notRun}`, "", "", "", ""];
    const spread = `${count(middle)} [${count(Math.min(...perSecond))} to ${count(Math.max(...perSecond))}]`;
    const bar = "█".repeat(Math.max(1, Math.round((24 * middle) / top)));
    return [side, spread, bar, nanoseconds(processorNs), nanoseconds(brokerNs), quantity(median(residentMiB), "MiB")];
  });
  return tableLines([["side", "messages/s", "", "processor", "broker", "resident"], ...rows]);
}

/** @param {readonly (readonly string[])[]} rows @returns {readonly string[]} */
function tableLines([head = [], ...rows]) {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`);
}

/** @param {PeersResult} result */
function origin({ environment, rounds, messages, seconds, bytesPerBatch }) {
  const { date, commit, cpu, cores, memoryGiB, os, node, loadAverage, versions } = environment;
  const sizes = formats.map(({ id, name }) => `${name} ${count(messages[id] ?? 0)}`).join(", ");
  const used = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return (
    `Measured on ${String(date).slice(0, 10)} at ${commit}: ${cpu}, ${cores} cores, ${memoryGiB} GiB, ${os}, Node ${node}, load ${loadAverage} at the start; ` +
    `${used.join(", ")}. Messages of a topic: ${sizes}, recorded ones of a real Debezium over and over, in batches of ${bytesPerBatch / 1024} KiB before compression; ` +
    `rounds: ${rounds}, in ${Math.round(seconds / 60)} minutes; medians, and in brackets the spread of the rounds.`
  );
}

/** @param {readonly number[]} values */
function median(values) {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length >> 1;
  if (sorted.length === 0) return null;
  return sorted.length % 2 === 1 ? (sorted[middle] ?? 0) : ((sorted[middle - 1] ?? 0) + (sorted[middle] ?? 0)) / 2;
}

/** @param {number} value */
function count(value) {
  return Math.round(value).toLocaleString("en-US");
}

/** @param {readonly number[]} values */
function nanoseconds(values) {
  return quantity(median(values), "ns");
}

/** @param {number | null} value @param {string} unit */
function quantity(value, unit) {
  return value === null ? "" : `${count(value)} ${unit}`;
}
