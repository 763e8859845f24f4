import { formatCount, formatDuration, formatLinkRate, formatRatio } from "../report/quantities.ts";
import type { BenchResult } from "../result/bench-result.ts";
import type { HttpResult, ResponseMeasure } from "../scenario/http/http-result.ts";
import { httpDefaults } from "../scenario/http/defaults.ts";
import { publishedResponses } from "../scenario/http/published.ts";
import type { Block, Cell, FigureCell, LineChart, ReportDocument, Section, StackedBars, Table, Winner } from "../presentation/document.ts";
import { otherRowsText } from "./codec-published.ts";
import { footOf } from "./foot.ts";

/** The report of `http`: the published table, latencies, stages and winners, for each method. */
export function presentHttp(result: BenchResult): ReportDocument {
  const { url, responses, aborted, settings } = result as HttpResult;
  const link = Number(settings["linkBitsPerSecond"] ?? 0);
  const rows = url === null ? Number(settings["rows"]) : null;
  const details = [
    url ?? `an API of ${formatCount(Number(rows))} rows`,
    `${String(settings["concurrency"])} at once`,
    settings["keepAlive"] === true ? "keep-alive" : "a connection for each request",
    ...(link > 0 ? [`over ${formatLinkRate(link)}`] : []),
  ];
  const methods = (["GET", "POST"] as const).map((method) => responses.filter((each) => each.method === method));
  return {
    title: "Requests of an API",
    subtitle: details.join(", "),
    isPartial: aborted,
    sections: [...methods.flatMap((found) => (found.length === 0 ? [] : sectionsOf(found, rows))), ...footOf(result)],
  };
}

/** `rows`: of our own API; null for another one, whose rows are not those that were published. */
function sectionsOf(responses: readonly ResponseMeasure[], rows: number | null): readonly Section[] {
  const method = responses[0]?.method ?? "GET";
  const what = method === "GET" ? "GET: the API answers with rows" : "POST: the API takes rows";
  return [
    {
      title: what,
      blocks: [
        mainTable(responses),
        ...(method === "GET" && rows !== null ? publishedBlocks(responses, rows) : []),
        latencyTable(responses),
        stagesOf(responses),
        curveOf(responses),
        { kind: "winners", rows: winnersOf(responses) },
      ],
    },
  ];
}

function nameOf({ format, encoding }: Pick<ResponseMeasure, "format" | "encoding">): string {
  return `${format}${encoding === "identity" ? "" : `, ${encoding}`}`;
}

function mainTable(responses: readonly ResponseMeasure[]): Table {
  const json = responses.find(({ format, encoding }) => format === "json" && encoding === "identity");
  return {
    kind: "table",
    columns: [
      { title: "body", align: "left" },
      { title: "request, ms" },
      { title: "x" },
      { title: "allocated, MB" },
      { title: "sent, kB" },
      { title: "x" },
      { title: "plain, kB" },
    ],
    rows: responses.map((response) => [
      nameOf(response),
      millisecondsCell(response.request.p50Ns),
      ratioCell(response.request.p50Ns / (json?.request.p50Ns ?? Number.NaN)),
      allocatedCell(response.allocatedBytes),
      kilobytesCell(response.sentBytes),
      ratioCell(response.sentBytes / (json?.sentBytes ?? Number.NaN)),
      kilobytesCell(response.plainBytes),
    ]),
  };
}

function publishedBlocks(responses: readonly ResponseMeasure[], rows: number): readonly Block[] {
  const table = publishedTable(responses);
  return rows === httpDefaults.rows ? [table] : [{ kind: "paragraph", text: otherRowsText(httpDefaults.rows, rows) }, table];
}

function publishedTable(responses: readonly ResponseMeasure[]): Table {
  const first = publishedResponses[0];
  const json = responses.find(({ format, encoding }) => format === "json" && encoding === "identity");
  return {
    kind: "table",
    title: "As published (.NET, AvroConvert), beside the medians here",
    columns: [
      { title: "body", align: "left" },
      { title: "published, ms" },
      { title: "x" },
      { title: "here, ms" },
      { title: "x" },
      { title: "MB" },
      { title: "here" },
      { title: "kB" },
      { title: "here" },
    ],
    rows: publishedResponses.flatMap((published) => {
      const here = responses.find(({ format, encoding }) => format === published.format && encoding === published.encoding);
      if (here === undefined) {
        return [];
      }
      return [
        [
          nameOf(published),
          { text: published.requestMs.toFixed(1), value: published.requestMs * 1e6 },
          ratioCell(published.requestMs / (first?.requestMs ?? Number.NaN)),
          millisecondsCell(here.request.p50Ns),
          ratioCell(here.request.p50Ns / (json?.request.p50Ns ?? Number.NaN)),
          { text: published.allocatedMegabytes.toFixed(2), value: published.allocatedMegabytes * 1e6 },
          allocatedCell(here.allocatedBytes),
          { text: formatCount(published.sentKilobytes), value: published.sentKilobytes * 1e3 },
          kilobytesCell(here.sentBytes),
        ],
      ];
    }),
  };
}

function latencyTable(responses: readonly ResponseMeasure[]): Table {
  return {
    kind: "table",
    columns: [
      { title: "body", align: "left" },
      { title: "requests" },
      { title: "p50" },
      { title: "p95" },
      { title: "p99" },
      { title: "max" },
      { title: "requests/s" },
      { title: "alloc client" },
      { title: "server" },
    ],
    rows: responses.map((response) => {
      const { request, requestsPerSecond, allocatedByClientBytes, allocatedByServerBytes } = response;
      return [
        nameOf(response),
        { text: formatCount(request.count), value: request.count },
        ...[request.p50Ns, request.p95Ns, request.p99Ns, request.maxNs].map((ns) => ({ text: formatDuration(ns), value: ns })),
        { text: requestsPerSecond.toFixed(1), value: requestsPerSecond },
        megabytesCell(allocatedByClientBytes),
        megabytesCell(allocatedByServerBytes),
      ];
    }),
  };
}

function stagesOf(responses: readonly ResponseMeasure[]): StackedBars {
  return {
    kind: "stack",
    title: "mean of a request",
    rows: responses.map((response) => {
      const { prepareNs, waitNs, serverNs, transferNs, decompressNs, decodeNs } = response.stages;
      const server = Math.min(serverNs ?? 0, waitNs);
      const parts: readonly (readonly [label: string, value: number])[] = [
        ...(response.method === "POST" ? [["prepare", prepareNs] as const] : []),
        ...(serverNs === null ? [] : [["server", server] as const]),
        ["wait", waitNs - server],
        ["transfer", transferNs],
        ["decompress", decompressNs],
        ["decode", decodeNs],
      ];
      return { label: nameOf(response), parts: parts.map(([label, value]) => ({ label, value, text: formatDuration(value) })) };
    }),
  };
}

function curveOf(responses: readonly ResponseMeasure[]): LineChart {
  return {
    kind: "lines",
    title: "request by percentile",
    x: { title: "percentile", scale: "percentile", unit: "percent" },
    y: { title: "request", unit: "ns" },
    series: responses.map((response) => ({ label: nameOf(response), points: response.curve })),
  };
}

function winnersOf(responses: readonly ResponseMeasure[]): readonly Winner[] {
  return [
    ...winner("fastest (p50)", responses, ({ request }) => request.p50Ns, formatDuration),
    ...winner(
      "fewest bytes sent",
      responses,
      ({ sentBytes }) => sentBytes,
      (bytes) => `${formatCount(bytes)} B`,
    ),
    ...winner(
      "least allocated",
      responses.filter(({ allocatedBytes }) => allocatedBytes !== null),
      ({ allocatedBytes }) => allocatedBytes ?? Number.NaN,
      (bytes) => `${(bytes / 1e6).toFixed(1)} MB`,
    ),
  ];
}

function winner(
  dimension: string,
  responses: readonly ResponseMeasure[],
  figureOf: (response: ResponseMeasure) => number,
  show: (figure: number) => string,
): readonly Winner[] {
  const [best, second] = responses.toSorted((a, b) => figureOf(a) - figureOf(b));
  if (best === undefined) {
    return [];
  }
  const against = second === undefined ? {} : { against: `${nameOf(second)}: ${formatRatio(figureOf(second) / figureOf(best))}` };
  return [{ dimension, winner: nameOf(best), figure: show(figureOf(best)), ...against }];
}

function millisecondsCell(ns: number): FigureCell {
  return { text: (ns / 1e6).toFixed(1), value: ns };
}

function kilobytesCell(bytes: number): FigureCell {
  return { text: formatCount(bytes / 1e3), value: bytes };
}

function allocatedCell(bytes: number | null): Cell {
  return bytes === null ? "-" : { text: (bytes / 1e6).toFixed(2), value: bytes };
}

function megabytesCell(bytes: number | null): Cell {
  return bytes === null ? "-" : { text: `${(bytes / 1e6).toFixed(1)} MB`, value: bytes };
}

function ratioCell(ratio: number): FigureCell {
  return { text: formatRatio(ratio), value: Number.isFinite(ratio) ? ratio : null };
}
