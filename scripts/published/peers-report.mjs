/** The report of `npm run bench -- peers`, and its table for bench/README.md, of what the run has measured. */

/** @typedef {{ text: string, verdict: string }} Cell */
/** @typedef {{ figure: string, wanted: string, cells: readonly Cell[] }} Row */
/** @typedef {{ side: string, kind: string, format: string, compression: string, isLong: boolean, perSecond: readonly number[], processorNs: readonly number[], brokerNs: readonly number[], residentMiB: readonly number[], notRun: string | null }} Figures */
/** @typedef {{ environment: Record<string, any>, isQuick: boolean, seconds: number, rounds: number, messages: Record<string, number>, longMessages: Record<string, number>, bytesPerBatch: number, sides: readonly { name: string, kind: string, about: string }[], rows: readonly Row[], consume: readonly Figures[] }} PeersResult */

const barLength = 24;

/** @type {Readonly<Record<string, string>>} */
const verdicts = Object.freeze({ held: "held", missed: "**missed**", "in doubt": "**the baseline is in doubt**" });

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
  const verdict = verdicts[cell.verdict];
  return verdict === undefined ? cell.text : `${cell.text}: ${verdict}`;
}

/**
 * Everything that was measured, as a document.
 * @param {PeersResult} result
 * @returns {string}
 */
export function peersReport(result) {
  const kinds = [...new Set(result.consume.map(kindOf))];
  const charts = kinds.flatMap((kind) =>
    formats.flatMap(({ id, name }) => {
      const here = result.consume.filter((one) => one.format === id && kindOf(one) === kind);
      return here.length === 0 ? [] : [`### ${name}, ${kind}`, "", ...chart(here), "", ...winner(here)];
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
    "the peak of the process. A bar is as long as its rate is large, beside the others of its topic: █ up to the slowest round, ▓ from there to",
    "the median, ░ from there to the fastest round.",
    "",
    ...charts,
    "## The sides",
    "",
    ...sides,
    "",
    "All sides keep the defaults of their clients: the kafkajs driver asks for up to 4 MiB in a fetch of one to three partitions, and kafkajs by hand for",
    "1 MiB of each partition.",
    "",
    "## How the other rows are measured",
    "",
    "- **Two workers against one**: passes over one topic by turns. The first 40% of each pass are left out for both, because each thread compiles",
    "  the same code; `others.workers` of the JSON file has the rates of all tenths. `at most` is what the cores allow: their number, divided by the",
    "  processor seconds that one worker and its broker took for a message, and by that worker's rate. Consumer, broker and the system share the cores.",
    "  A ratio above that is not held: one worker was slower than it should have been, and the baseline is in doubt.",
    "- **An idle consumer**: all of them at once, each in a process of its own. A process is measured once it has settled: when it takes no less",
    "  than 80% of what it took in the window before. The windows are in the JSON file.",
    "- **Latency**: by turns, each side on a topic of its own.",
    "",
  ].join("\n");
}

/** Of topics. @param {Figures} figures */
function kindOf({ compression, isLong }) {
  return `${compression === "none" ? "uncompressed" : compression}${isLong ? ", long topics" : ""}`;
}

/** @param {readonly Figures[]} here @returns {readonly string[]} */
function chart(here) {
  const top = Math.max(1, ...here.flatMap(({ perSecond }) => perSecond));
  const rows = here.map(({ side, perSecond, processorNs, brokerNs, residentMiB, notRun }) => {
    const middle = median(perSecond);
    if (middle === null) return [side, `not run: ${notRun}`, "", "", "", ""];
    const [slowest, fastest] = [Math.min(...perSecond), Math.max(...perSecond)];
    const spread = `${count(middle)} [${count(slowest)} to ${count(fastest)}]${notRun === null ? "" : `; not run: ${notRun}`}`;
    return [
      side,
      spread,
      bar({ slowest, middle, fastest }, top),
      nanoseconds(processorNs),
      nanoseconds(brokerNs),
      quantity(median(residentMiB), "MiB"),
    ];
  });
  return tableLines([["side", "messages/s", "", "processor", "broker", "resident"], ...rows]);
}

/** @param {{ slowest: number, middle: number, fastest: number }} rates @param {number} top */
function bar({ slowest, middle, fastest }, top) {
  const [full, half, light] = [slowest, middle, fastest].map((rate) => Math.max(1, Math.round((barLength * rate) / top)));
  return "█"
    .repeat(full ?? 0)
    .padEnd(half ?? 0, "▓")
    .padEnd(light ?? 0, "░");
}

/** Says so if the fastest of those who decode is not one of ours. @param {readonly Figures[]} here @returns {readonly string[]} */
function winner(here) {
  const [fastest] = here
    .filter(({ kind, perSecond }) => kind !== "undecoded" && perSecond.length > 0)
    .toSorted((a, b) => (median(b.perSecond) ?? 0) - (median(a.perSecond) ?? 0));
  return fastest === undefined || fastest.kind === "ours" ? [] : [`**${fastest.side} is the fastest that decodes.**`, ""];
}

/** @param {readonly (readonly string[])[]} rows @returns {readonly string[]} */
function tableLines([head = [], ...rows]) {
  return [head, head.map(() => "---"), ...rows].map((cells) => `| ${cells.map((cell) => cell.replaceAll("|", "\\|")).join(" | ")} |`);
}

/** @param {PeersResult} result */
function origin({ environment, rounds, messages, longMessages, seconds, bytesPerBatch }) {
  const { date, commit, cpu, cores, memoryGiB, os, node, loadAverage, versions } = environment;
  const [sizes, longSizes] = [messages, longMessages].map((of) =>
    formats.map(({ id, name }) => `${name} ${count(of[id] ?? 0)}`).join(", "),
  );
  const used = Object.entries(versions).map(([name, version]) => `${name} ${version}`);
  return (
    `Measured on ${String(date).slice(0, 10)} at ${commit}: ${cpu}, ${cores} cores, ${memoryGiB} GiB, ${os}, Node ${node}, load ${loadAverage} at the start; ` +
    `${used.join(", ")}. Messages of a topic: ${sizes} (of a long one: ${longSizes}), recorded ones of a real Debezium over and over, in batches of ${bytesPerBatch / 1024} KiB before compression; ` +
    `rounds: ${rounds} (all sides in the first, those of wanted figures in each), in ${Math.round(seconds / 60)} minutes; medians, and in brackets the spread of the rounds.`
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
