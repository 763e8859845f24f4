import { formatCount, formatDuration } from "../report/quantities.ts";
import type { FormatSnapshot, SnapshotResult } from "../scenario/snapshot/result.ts";
import type { BenchResult } from "../result/bench-result.ts";
import type { Bar, Block, Cell, ReportDocument, Section, Table } from "../presentation/document.ts";
import { footOf } from "./foot.ts";
import { analysisSections } from "./snapshot-analysis.ts";
import { byFormat, count, figure, type Row } from "./snapshot-table.ts";

/** A column for each format, as in the published table. */
export function presentSnapshot(result: BenchResult): ReportDocument {
  const { table, tableRows, formats, analysis, aborted, settings } = result as SnapshotResult;
  const rows = tableRows === null ? "" : `, ${formatCount(tableRows)} rows`;
  const rounds = Number(settings["rounds"]);
  return {
    title: "snapshot",
    subtitle: `${table}${rows}, through Debezium, ${rounds} round${rounds === 1 ? "" : "s"}`,
    isPartial: aborted,
    sections:
      formats.length === 0 ? footOf(result) : [...measuredSections(formats), ...analysisSections(formats, analysis), ...footOf(result)],
  };
}

function measuredSections(formats: readonly FormatSnapshot[]): readonly Section[] {
  return [
    { title: "The published table, on this machine", blocks: [publishedTable(formats)] },
    { title: "Connector and consumer apart", blocks: [apartTable(formats), rateBars(formats), stages(formats)] },
    { title: "Bytes after compression", blocks: compressionBlocks(formats) },
    { title: "What the services used", blocks: processBlocks(formats) },
  ];
}

function seconds(ms: number): Cell {
  return figure(ms * 1e6, (ms / 1e3).toFixed(1));
}

function publishedTable(formats: readonly FormatSnapshot[]): Table {
  const latency =
    (of: "p50Ns" | "p95Ns" | "p99Ns"): Row[1] =>
    ({ tail }) =>
      tail === null ? "-" : figure(tail.sinceIntended[of], millis(tail.sinceIntended[of]));
  return byFormat(formats, [
    ["messages", ({ messages }) => count(messages)],
    ["total time, s", ({ totalMs }) => seconds(totalMs)],
    ["messages/s", ({ messagesPerSecond }) => count(messagesPerSecond)],
    ["MB/s", ({ megabytesPerSecond }) => figure(megabytesPerSecond * 1e6, megabytesPerSecond.toFixed(2))],
    ["total size, MB", ({ totalBytes }) => figure(totalBytes, (totalBytes / 1e6).toFixed(1))],
    ["message size avg, B", ({ sizes }) => count(sizes.avgBytes)],
    ["message size median, B", ({ sizes }) => count(sizes.medianBytes)],
    ["message size p99, B", ({ sizes }) => count(sizes.p99Bytes)],
    ["size against Avro", ({ timesAvro }) => (timesAvro === null ? "-" : figure(timesAvro, `${timesAvro.toFixed(2)}x`))],
    ["latency p50, ms (live)", latency("p50Ns")],
    ["latency p95, ms (live)", latency("p95Ns")],
    ["latency p99, ms (live)", latency("p99Ns")],
  ]);
}

function millis(durationNs: number): string {
  const ms = durationNs / 1e6;
  return ms >= 100 ? formatCount(ms) : ms.toFixed(1);
}

function apartTable(formats: readonly FormatSnapshot[]): Table {
  return byFormat(formats, [
    ["connector: start, s", ({ connector }) => seconds(connector.startMs)],
    ["connector: writes, s", ({ connector }) => seconds(connector.writeMs)],
    ["connector: messages/s", ({ connector }) => count(connector.messagesPerSecond)],
    ["consumer: joins, s", ({ consumer }) => seconds(consumer.stages.joinMs)],
    ["consumer: reads, s", ({ consumer }) => seconds(consumer.elapsedMs)],
    ["consumer: messages/s", ({ consumer }) => count(consumer.messagesPerSecond)],
    [
      "  slowest and fastest round",
      ({ consumer }) => `${thousands(consumer.minMessagesPerSecond)}-${thousands(consumer.maxMessagesPerSecond)}k`,
    ],
    ["consumer: MB/s", ({ consumer }) => figure(consumer.megabytesPerSecond * 1e6, consumer.megabytesPerSecond.toFixed(1))],
    ["decode p50", ({ consumer }) => figure(consumer.decode.p50Ns, formatDuration(consumer.decode.p50Ns))],
    ["decode p99", ({ consumer }) => figure(consumer.decode.p99Ns, formatDuration(consumer.decode.p99Ns))],
    ["age of the backlog p50, s", ({ backlogAge }) => figure(backlogAge.p50Ns, (backlogAge.p50Ns / 1e9).toFixed(1))],
    [
      "live: since the record, p50, ms",
      ({ tail }) => (tail === null ? "-" : figure(tail.sinceRecord.p50Ns, millis(tail.sinceRecord.p50Ns))),
    ],
    ["live: rows/s", ({ tail }) => (tail === null ? "-" : count(tail.rowsPerSecond))],
  ]);
}

function thousands(value: number): string {
  return (value / 1e3).toFixed(value < 1e4 ? 1 : 0);
}

function rateBars(formats: readonly FormatSnapshot[]): Block {
  const bars = formats.flatMap(({ label, connector, consumer }): readonly Bar[] => [
    barOf(`${label}, connector`, connector.messagesPerSecond, [connector.minMessagesPerSecond, connector.maxMessagesPerSecond]),
    barOf(`${label}, consumer`, consumer.messagesPerSecond, [consumer.minMessagesPerSecond, consumer.maxMessagesPerSecond]),
  ]);
  return { kind: "bars", title: "messages/s", bars };
}

function barOf(label: string, value: number, spread: readonly [number, number]): Bar {
  return { label, value, text: formatCount(value), spread };
}

function stages(formats: readonly FormatSnapshot[]): Block {
  return {
    kind: "stack",
    title: "consumer's time",
    rows: formats.map(({ label, consumer: { stages: of } }) => ({
      label,
      parts: [
        { label: "fetch", value: of.fetchMs },
        { label: "schemas", value: of.schemaMs },
        { label: "decode", value: of.decodeMs },
        { label: "handle", value: of.handleMs },
      ].map((part) => ({ ...part, text: formatDuration(part.value * 1e6) })),
    })),
  };
}

function compressionBlocks(formats: readonly FormatSnapshot[]): readonly Block[] {
  const measured = formats.filter(({ compression }) => compression !== null);
  const names = measured[0]?.compression?.map(({ compression }) => compression) ?? [];
  if (names.length === 0) {
    return [{ kind: "paragraph", text: "The brokers do not tell how large their logs are: it needs Describe on the cluster." }];
  }
  return [
    byFormat(
      measured,
      [
        ...names.map(
          (name): Row => [
            name,
            ({ compression }) => {
              const found = compression?.find((each) => each.compression === name);
              return found === undefined
                ? "-"
                : figure(found.bytesPerMessage, `${formatCount(found.bytesPerMessage)} (${Math.round(found.share * 100)}%)`);
            },
          ],
        ),
        [
          "the topic as it is stored",
          ({ storedBytes, messages }) => (storedBytes === null ? "-" : figure(storedBytes / messages, formatCount(storedBytes / messages))),
        ],
      ],
      "bytes a message in the log",
    ),
  ];
}

function processBlocks(formats: readonly FormatSnapshot[]): readonly Block[] {
  const services = [...new Set(formats.flatMap(({ processes }) => processes.map(({ service }) => service)))];
  const rows = services.flatMap((service): readonly Row[] => {
    const of = (measured: FormatSnapshot): FormatSnapshot["processes"][number] | undefined =>
      measured.processes.find((process) => process.service === service);
    return [
      [`${service}, snapshot`, (measured) => cpuCell(of(measured)?.snapshotCpuMs, measured)],
      ...(service === "broker"
        ? [[`${service}, consumption`, (measured: FormatSnapshot) => cpuCell(of(measured)?.drainCpuMs, measured)] as const]
        : []),
    ];
  });
  const written: readonly Row[] = [
    [
      "broker, MB written to disk",
      ({ processes }) => {
        const bytes = processes.find(({ service }) => service === "broker")?.writtenBytes;
        return bytes === undefined || bytes === null ? "-" : figure(bytes, (bytes / 1e6).toFixed(1));
      },
    ],
  ];
  return [
    byFormat(
      formats,
      [
        ...rows,
        ["this consumer", (measured) => cpuCell(measured.consumer.cpuMs, measured)],
        ...(services.includes("broker") ? written : []),
      ],
      "processor, s a million messages",
    ),
    ...(services.length === 0
      ? [{ kind: "paragraph", text: "Services on other machines, or of other users, are not seen from here." } as const]
      : []),
  ];
}

function cpuCell(cpuMs: number | undefined, { messages }: FormatSnapshot): Cell {
  if (cpuMs === undefined || messages === 0) {
    return "-";
  }
  const msPerMillion = (cpuMs / messages) * 1e6;
  return figure(msPerMillion * 1e6, (msPerMillion / 1e3).toFixed(1));
}
