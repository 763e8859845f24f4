import { formatLabel } from "../report/format-label.ts";
import { formatCount, formatDuration, formatMegabytesPerSecond } from "../report/quantities.ts";
import type { GroupMeasure } from "../result/group-measure.ts";
import type { Section, TableHead } from "../presentation/document.ts";

/** What several processes did together, and each of them. */
export function groupSections(group: GroupMeasure): readonly Section[] {
  return [
    { title: "Together", blocks: [together(group), { kind: "list", items: sharesOf(group) }] },
    { title: "By process", blocks: [byProcess(group), ...ratesOf(group)] },
    { title: "Decode times by process and format", blocks: [decodeTimes(group)] },
    ...errorSections(group),
  ];
}

const figures: readonly TableHead[] = [
  { title: "records" },
  { title: "events" },
  { title: "errors" },
  { title: "seconds" },
  { title: "msg/s" },
];

function together(group: GroupMeasure): Section["blocks"][number] {
  const { records, events, errorRecords, elapsedMs, recordsPerSecond, megabytesPerSecond, joinMs, processes, outcome } = group;
  return {
    kind: "table",
    columns: [{ title: "processes" }, ...figures, { title: "MB/s" }, { title: "join" }, { title: "ended because", align: "left" }],
    rows: [
      [
        { text: formatCount(processes.length), value: processes.length },
        ...countCells(records, events, errorRecords, elapsedMs, recordsPerSecond),
        { text: formatMegabytesPerSecond(megabytesPerSecond * 1e6), value: megabytesPerSecond },
        { text: `${(joinMs / 1e3).toFixed(2)} s`, value: joinMs / 1e3 },
        outcomeTexts[outcome],
      ],
    ],
  };
}

const outcomeTexts: Readonly<Record<GroupMeasure["outcome"], string>> = {
  "end-reached": "the end of all topics was reached",
  "time-up": "--duration was over",
  "ran-dry": "nothing came for 10 s, and the end was not reached",
  interrupted: "it was interrupted",
};

function sharesOf({ cores, clientCpuShare, broker }: GroupMeasure): readonly string[] {
  const ofBroker =
    broker === null
      ? "How much of a processor the brokers took is not known: there are several, or they are not on this machine."
      : `The broker took ${percent(broker.cpuShare)} of the ${cores} cores of this machine.`;
  return [`The processes took ${percent(clientCpuShare)} of the ${cores} cores of this machine.`, ofBroker];
}

function byProcess({ processes }: GroupMeasure): Section["blocks"][number] {
  return {
    kind: "table",
    columns: [{ title: "process" }, { title: "partitions" }, ...figures, { title: "share" }, { title: "CPU" }, { title: "MB resident" }],
    rows: processes.map((each) => [
      String(each.number),
      { text: formatCount(each.partitions), value: each.partitions },
      ...countCells(each.records, each.events, each.errorRecords, each.elapsedMs, each.recordsPerSecond),
      { text: percent(each.share), value: each.share },
      { text: `${(each.cpuMs / 1e3).toFixed(2)} s`, value: each.cpuMs / 1e3 },
      { text: formatCount(each.maxRssBytes / 1e6), value: each.maxRssBytes },
    ]),
  };
}

function countCells(
  records: number,
  events: number,
  errorRecords: number,
  elapsedMs: number,
  recordsPerSecond: number,
): readonly { readonly text: string; readonly value: number }[] {
  return [
    { text: formatCount(records), value: records },
    { text: formatCount(events), value: events },
    { text: formatCount(errorRecords), value: errorRecords, ...(errorRecords > 0 && { mark: "warning" as const }) },
    { text: (elapsedMs / 1e3).toFixed(2), value: elapsedMs / 1e3 },
    { text: formatCount(recordsPerSecond), value: recordsPerSecond },
  ];
}

/** One bar alone compares nothing. */
function ratesOf({ processes }: GroupMeasure): Section["blocks"] {
  const bars = processes.map(({ number, recordsPerSecond }) => ({
    label: `process ${number}`,
    value: recordsPerSecond,
    text: `${formatCount(recordsPerSecond)} msg/s`,
  }));
  return bars.length < 2 ? [] : [{ kind: "bars", title: "Messages a second, each over its own time", bars }];
}

function decodeTimes({ processes }: GroupMeasure): Section["blocks"][number] {
  if (processes.every(({ formats }) => formats.length === 0)) {
    return { kind: "paragraph", text: "No record was decoded, so there is no format to tell of." };
  }
  return {
    kind: "table",
    columns: [
      { title: "process" },
      { title: "topic", align: "left" },
      { title: "format", align: "left" },
      { title: "records" },
      { title: "decode p50" },
      { title: "p95" },
      { title: "p99" },
    ],
    rows: processes.flatMap(({ number, formats }) =>
      formats.map(({ topic, format, records, decode }) => [
        String(number),
        topic,
        formatLabel(format),
        { text: formatCount(records), value: records },
        ...[decode.p50Ns, decode.p95Ns, decode.p99Ns].map((ns) =>
          decode.count === 0 ? { text: "-", value: null } : { text: formatDuration(ns), value: ns },
        ),
      ]),
    ),
  };
}

function errorSections({ processes }: GroupMeasure): readonly Section[] {
  const items = processes
    .flatMap(({ errors }) => errors)
    .map(({ topic, code, records, example }) => `${topic}: ${formatCount(records)} records could not be decoded (${code}): ${example}`);
  return items.length === 0 ? [] : [{ title: "Errors", blocks: [{ kind: "list", items }] }];
}

function percent(share: number): string {
  return `${(share * 100).toFixed(0)}%`;
}
