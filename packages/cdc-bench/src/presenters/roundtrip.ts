import type { CodecMeasure, DirectionMeasure } from "../codec/measure-codecs.ts";
import { formatCount, formatDuration, formatRatio } from "../report/quantities.ts";
import type { BenchResult } from "../result/bench-result.ts";
import { publishedRoundtrip } from "../scenario/roundtrip/published.ts";
import type { EvolutionHalf, EvolutionMeasure, RoundtripMeasure, RoundtripResult } from "../scenario/roundtrip/roundtrip-result.ts";
import type { Block, Cell, FigureCell, LineChart, ReportDocument, Section, StackedBars, Table, Winner } from "../presentation/document.ts";
import { footOf } from "./foot.ts";

/** The report of `roundtrip`: the published table, latencies, rates, stages, and who copes with a schema that changes. */
export function presentRoundtrip(result: BenchResult): ReportDocument {
  const { via, payload, memory, roundtrips, evolution, aborted, settings } = result as RoundtripResult;
  const rows = payload.rows === 1 ? "1 row" : `${formatCount(payload.rows)} rows`;
  const settingsText = `${String(settings["place"])}, ${payload.suite} (${rows}), ${String(settings["threads"])} thread(s)`;
  const groups = byMode(roundtrips);
  const single = groups.find(([first]) => first?.mode === "one at a time") ?? [];
  return {
    title: `Round trips over ${viaNames[via] ?? via}`,
    subtitle: settingsText,
    isPartial: aborted,
    sections: [
      ...(single.length === 0 ? [] : [publishedSection(payload.rows, memory, single)]),
      ...groups.map(modeSection),
      ...(memory.length === 0 ? [] : [memorySection(payload.rows, memory)]),
      ...(evolution.length === 0 ? [] : [evolutionSection(evolution)]),
      ...footOf(result),
    ],
  };
}

/** Those that can be compared with each other. */
function byMode(trips: readonly RoundtripMeasure[]): readonly (readonly RoundtripMeasure[])[] {
  const groups = new Map<string, RoundtripMeasure[]>();
  for (const trip of trips) {
    const name = `${trip.mode} ${trip.compression}`;
    groups.set(name, [...(groups.get(name) ?? []), trip]);
  }
  return [...groups.values()];
}

const viaNames: Readonly<Record<string, string>> = {
  kafka: "Kafka",
  redis: "Redis (SET and GET)",
  "redis-streams": "Redis streams (XADD and XREAD)",
};

/** The published table has totals of 100 rounds; it does not say how many calls its times in memory are of: a million fits. */
const callsInMemory = 1e6;

function publishedSection(rows: number, memory: readonly CodecMeasure[], trips: readonly RoundtripMeasure[]): Section {
  const cells = (codec: string): readonly Cell[] => {
    const inMemory = memory.find((each) => each.codec === codec);
    const perMillion = (direction: DirectionMeasure | null | undefined): Cell =>
      direction === null || direction === undefined ? "-" : millisecondsCell((direction.ms.median / rows) * callsInMemory);
    return [perMillion(inMemory?.write), perMillion(inMemory?.read)];
  };
  const table: Table = {
    kind: "table",
    columns: [
      { title: "codec", align: "left" },
      { title: "bytes" },
      { title: "ser., ms/1M" },
      { title: "deser." },
      { title: "rounds" },
      { title: "total, ms" },
      { title: "avg, ms" },
    ],
    rows: trips.map(({ codec, payloadBytes, rounds, latency }) => [
      codec,
      { text: formatCount(payloadBytes), value: payloadBytes },
      ...cells(codec),
      { text: formatCount(rounds), value: rounds },
      { text: ((latency.meanNs * rounds) / 1e6).toFixed(1), value: latency.meanNs * rounds },
      { text: (latency.meanNs / 1e6).toFixed(3), value: latency.meanNs },
    ]),
  };
  return { title: "The published table, one at a time", blocks: [table, publishedTable(), ...comparison(trips)] };
}

function publishedTable(): Table {
  return {
    kind: "table",
    title: "Published (Java, Redis SET and GET, 100 rounds)",
    columns: [
      { title: "codec", align: "left" },
      { title: "bytes" },
      { title: "serialize, ms" },
      { title: "deserialize, ms" },
      { title: "total, ms" },
      { title: "avg, ms" },
    ],
    rows: publishedRoundtrip.map(({ published, sizeBytes, serializeMs, deserializeMs, totalMs, avgMs }) => [
      published,
      { text: formatCount(sizeBytes), value: sizeBytes },
      millisecondsCell(serializeMs),
      millisecondsCell(deserializeMs),
      { text: String(totalMs), value: totalMs * 1e6 },
      { text: avgMs.toFixed(2), value: avgMs * 1e6 },
    ]),
  };
}

/** What was published of JSON against Protobuf, and what came out here. */
function comparison(trips: readonly RoundtripMeasure[]): readonly Block[] {
  const [json, protobuf] = publishedRoundtrip.map(({ codec }) => trips.find((each) => each.codec === codec));
  const [publishedJson, publishedProtobuf] = publishedRoundtrip;
  if (json === undefined || protobuf === undefined || publishedJson === undefined || publishedProtobuf === undefined) {
    return [];
  }
  const here = json.latency.meanNs / protobuf.latency.meanNs;
  const published = publishedJson.avgMs / publishedProtobuf.avgMs;
  return [
    {
      kind: "paragraph",
      text: `Average round trip, JSON to Protobuf: ${here.toFixed(2)}x here, ${published.toFixed(2)}x as published. Bytes: ${formatRatio(json.payloadBytes / protobuf.payloadBytes)} here, ${formatRatio(publishedJson.sizeBytes / publishedProtobuf.sizeBytes)} as published.`,
    },
  ];
}

function modeSection(trips: readonly RoundtripMeasure[]): Section {
  const [first] = trips;
  const { mode = "", compression = "", inFlight = 1, batch = 1, threads = 1 } = first ?? {};
  const details = [
    mode === "pipelined" ? `${inFlight} rounds in flight` : "",
    batch === 1 ? "" : `${batch} values in a round`,
    threads === 1 ? "" : `${threads} threads`,
    compression === "none" ? "" : compression,
  ].filter((text) => text !== "");
  const title = `Latency and rate, ${[mode, ...details].join(", ")}`;
  return { title, blocks: [latencyTable(trips), stagesOf(trips), curveOf(trips), { kind: "winners", rows: winnersOf(trips) }] };
}

function latencyTable(trips: readonly RoundtripMeasure[]): Table {
  const best = Math.max(...trips.map(({ valuesPerSecond }) => valuesPerSecond.median));
  return {
    kind: "table",
    columns: [
      { title: "codec", align: "left" },
      { title: "p50" },
      { title: "p95" },
      { title: "p99" },
      { title: "max" },
      { title: "values/s" },
      { title: "min" },
      { title: "max" },
    ],
    rows: trips.map(({ codec, latency, valuesPerSecond: { median, min, max } }) => [
      codec,
      ...[latency.p50Ns, latency.p95Ns, latency.p99Ns, latency.maxNs].map(durationCell),
      { text: formatCount(median), value: median, ...(median === best && { mark: "best" as const }) },
      { text: formatCount(min), value: min },
      { text: formatCount(max), value: max },
    ]),
  };
}

function stagesOf(trips: readonly RoundtripMeasure[]): StackedBars {
  return {
    kind: "stack",
    title: "mean of a round",
    rows: trips.map(({ codec, stages: { serializeNs, sendNs, receiveNs, deserializeNs } }) => ({
      label: codec,
      parts: (
        [
          ["serialize", serializeNs],
          ["send", sendNs],
          ["receive", receiveNs],
          ["deserialize", deserializeNs],
        ] as const
      ).map(([label, value]) => ({ label, value, text: formatDuration(value) })),
    })),
  };
}

function curveOf(trips: readonly RoundtripMeasure[]): LineChart {
  return {
    kind: "lines",
    title: "latency by percentile",
    x: { title: "percentile", scale: "percentile", unit: "percent" },
    y: { title: "round trip", unit: "ns" },
    series: trips.map(({ codec, curve }) => ({ label: codec, points: curve })),
  };
}

function winnersOf(trips: readonly RoundtripMeasure[]): readonly Winner[] {
  return [
    ...winner("lowest p50", trips, ({ latency }) => latency.p50Ns, formatDuration),
    ...winner("lowest p99", trips, ({ latency }) => latency.p99Ns, formatDuration),
    ...winner(
      "fewest bytes",
      trips,
      ({ payloadBytes }) => payloadBytes,
      (bytes) => `${formatCount(bytes)} B`,
    ),
  ];
}

function winner(
  dimension: string,
  trips: readonly RoundtripMeasure[],
  figureOf: (trip: RoundtripMeasure) => number,
  show: (figure: number) => string,
): readonly Winner[] {
  const [best, second] = trips.toSorted((a, b) => figureOf(a) - figureOf(b));
  if (best === undefined) {
    return [];
  }
  const against = second === undefined ? {} : { against: `${second.codec}: ${formatRatio(figureOf(second) / figureOf(best))}` };
  return [{ dimension, winner: best.codec, figure: show(figureOf(best)), ...against }];
}

function memorySection(rows: number, memory: readonly CodecMeasure[]): Section {
  const perRow = (ms: number): FigureCell => durationCell((ms * 1e6) / rows);
  const table: Table = {
    kind: "table",
    columns: [
      { title: "codec", align: "left" },
      { title: "serialize" },
      { title: "deserialize" },
      { title: "bytes" },
      { title: "allocated" },
    ],
    rows: memory.map(({ codec, write, read, sizeBytes }) => {
      const allocated = ((write?.allocation.bytes ?? 0) + read.allocation.bytes) / rows;
      return [
        codec,
        write === null ? "-" : perRow(write.ms.median),
        perRow(read.ms.median),
        { text: formatCount(sizeBytes / rows), value: sizeBytes / rows },
        { text: `${(allocated / 1e3).toFixed(1)} kB`, value: allocated },
      ];
    }),
  };
  return { title: "In memory, for each object, without network", blocks: [table] };
}

function evolutionSection(evolution: readonly EvolutionMeasure[]): Section {
  const table: Table = {
    kind: "table",
    columns: [
      { title: "codec", align: "left" },
      { title: "reader", align: "left" },
      { title: "old writer", align: "left" },
      { title: "new writer", align: "left" },
      { title: "p50" },
      { title: "after" },
    ],
    rows: evolution.map(({ codec, reader, before, after }) => [
      codec,
      reader,
      halfText(before),
      halfText(after),
      before.p50Ns === 0 ? "-" : durationCell(before.p50Ns),
      after.p50Ns === 0 ? "-" : durationCell(after.p50Ns),
    ]),
  };
  const refused = evolution.filter(({ copes }) => !copes);
  return {
    title: "A field is added at half of the rounds",
    blocks: [
      table,
      {
        kind: "list",
        items:
          refused.length === 0
            ? ["Every codec copes with both writers, whichever schema the reader has."]
            : refused.map(
                ({ codec, reader, before, after }) =>
                  `${codec} does not cope with the ${reader} schema in the reader: ${before.failure ?? after.failure ?? "it gives other values than those written"}.`,
              ),
      },
    ],
  };
}

const copingTexts: Readonly<Record<string, string>> = {
  same: "read",
  default: "default filled in",
  absent: "field absent",
  dropped: "field dropped",
  kept: "field kept",
  wrong: "WRONG VALUES",
};

function halfText({ rounds, failures, copings }: EvolutionHalf): string {
  if (failures === rounds) {
    return "cannot read";
  }
  const texts = Object.keys(copings).map((coping) => copingTexts[coping] ?? coping);
  return [...texts, ...(failures > 0 ? [`${failures} of ${rounds} cannot be read`] : [])].join(", ");
}

function durationCell(durationNs: number): FigureCell {
  return { text: formatDuration(durationNs), value: durationNs };
}

function millisecondsCell(ms: number): FigureCell {
  return { text: formatCount(ms), value: ms * 1e6 };
}
