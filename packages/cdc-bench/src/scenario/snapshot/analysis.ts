import type { FormatSnapshot } from "./result.ts";
import type { SnapshotFormat } from "./formats.ts";

/** What an Avro or Protobuf message spends on naming its schema: a byte and a 4-byte id before the key, and before the value. */
export const frameBytes = 10;

/** What a given price makes of the bytes of a million events. In whatever currency the prices are. */
export interface Prices {
  /** For 10^9 bytes stored for a month. */
  readonly storagePerGbMonth: number | null;
  /** For 10^9 bytes sent. */
  readonly trafficPerGb: number | null;
}

export interface FormatAnalysis {
  readonly format: SnapshotFormat;
  /**
   * The part of a message that is the row and its context, 0 to 1: what Avro needs for the same events without naming its schema, over what
   * this format needs. Null if Avro was not measured.
   */
  readonly usefulShare: number | null;
  readonly schemaBytesPerMessage: number;
  readonly cost: readonly FormatCost[];
  /** When to use it: a sentence or two, with the figures that they rest on. */
  readonly whenToUse: string;
}

export interface FormatCost {
  readonly compression: string;
  /** Of a million events for a month, in one replica. Null without a price. */
  readonly storagePerMillion: number | null;
  /** Of a million events sent once. Null without a price. */
  readonly trafficPerMillion: number | null;
}

export interface SnapshotWinner {
  readonly dimension: string;
  /** Several if they are equal. */
  readonly formats: readonly SnapshotFormat[];
  /** In the unit of the dimension. */
  readonly value: number;
  readonly unit: "bytes" | "messages-per-second" | "ms" | "share" | "services" | "columns" | "registered-columns";
  readonly runnerUp: SnapshotFormat;
  readonly runnerUpValue: number;
}

export interface SnapshotAnalysis {
  readonly formats: readonly FormatAnalysis[];
  /** A dimension in which all formats are equal, or that was not measured, has none. */
  readonly winners: readonly SnapshotWinner[];
}

/** Null if nothing was measured. */
export function analyze(formats: readonly FormatSnapshot[], prices: Prices): SnapshotAnalysis | null {
  if (formats.length === 0) {
    return null;
  }
  const usefulBytes = usefulBytesOf(formats);
  return {
    formats: formats.map((measured) => ({
      format: measured.format,
      usefulShare: usefulBytes === null ? null : Math.min(1, usefulBytes / measured.sizes.avgBytes),
      schemaBytesPerMessage: measured.schemaBytesPerMessage,
      cost: costsOf(measured, prices),
      whenToUse: adviceOf(measured, formats),
    })),
    winners: winnersOf(formats, usefulBytes),
  };
}

function usefulBytesOf(formats: readonly FormatSnapshot[]): number | null {
  const avro = formats.find(({ format }) => format === "avro");
  return avro === undefined ? null : avro.sizes.avgBytes - avro.schemaBytesPerMessage;
}

export function costsOf({ sizes, compression }: Pick<FormatSnapshot, "sizes" | "compression">, prices: Prices): readonly FormatCost[] {
  if (prices.storagePerGbMonth === null && prices.trafficPerGb === null) {
    return [];
  }
  const stored = compression ?? [{ compression: "uncompressed", bytesPerMessage: sizes.avgBytes }];
  return stored.map((each) => ({
    compression: each.compression,
    storagePerMillion: priced(each.bytesPerMessage, prices.storagePerGbMonth),
    trafficPerMillion: priced(each.bytesPerMessage, prices.trafficPerGb),
  }));
}

/** A million events of n bytes are n/1000 of 10^9 bytes. */
function priced(bytesPerMessage: number, pricePerGb: number | null): number | null {
  return pricePerGb === null ? null : (bytesPerMessage / 1e3) * pricePerGb;
}

/** Rates and latencies that lie closer together than this are equal: two runs of the same do not agree better. */
const timedTolerance = 0.05;

interface Dimension {
  readonly dimension: string;
  readonly unit: SnapshotWinner["unit"];
  readonly isBetter: "lower" | "higher";
  /** Null: not measured. */
  readonly valueOf: (measured: FormatSnapshot) => number | null;
}

function winnersOf(formats: readonly FormatSnapshot[], usefulBytes: number | null): readonly SnapshotWinner[] {
  const dimensions: readonly Dimension[] = [
    { dimension: "storage", unit: "bytes", isBetter: "lower", valueOf: ({ sizes }) => sizes.avgBytes },
    { dimension: "storage, zstd", unit: "bytes", isBetter: "lower", valueOf: (measured) => compressedBytes(measured, "zstd") },
    { dimension: "connector", unit: "messages-per-second", isBetter: "higher", valueOf: ({ connector }) => connector.messagesPerSecond },
    { dimension: "consumer", unit: "messages-per-second", isBetter: "higher", valueOf: ({ consumer }) => consumer.messagesPerSecond },
    {
      dimension: "latency p50",
      unit: "ms",
      isBetter: "lower",
      valueOf: ({ tail }) => (tail === null ? null : tail.sinceIntended.p50Ns / 1e6),
    },
    {
      dimension: "latency p99",
      unit: "ms",
      isBetter: "lower",
      valueOf: ({ tail }) => (tail === null ? null : tail.sinceIntended.p99Ns / 1e6),
    },
    { dimension: "readability", unit: "share", isBetter: "higher", valueOf: (measured) => readableShare(measured, usefulBytes) },
    { dimension: "typed columns", unit: "columns", isBetter: "higher", valueOf: ({ typedColumns }) => typedColumns },
    { dimension: "evolution safety", unit: "registered-columns", isBetter: "higher", valueOf: registeredColumns },
    { dimension: "operational simplicity", unit: "services", isBetter: "lower", valueOf: ({ needsRegistry }) => (needsRegistry ? 1 : 0) },
  ];
  return dimensions.flatMap((dimension) => winnerOf(formats, dimension));
}

function winnerOf(formats: readonly FormatSnapshot[], { dimension, unit, isBetter, valueOf }: Dimension): readonly SnapshotWinner[] {
  const ranked = formats
    .flatMap((measured) => {
      const value = valueOf(measured);
      return value === null || !Number.isFinite(value) ? [] : [{ format: measured.format, value }];
    })
    .sort((a, b) => (isBetter === "lower" ? a.value - b.value : b.value - a.value));
  const [first] = ranked;
  if (first === undefined) {
    return [];
  }
  const tolerance = unit === "ms" || unit === "messages-per-second" ? timedTolerance : 0;
  const isEqual = (value: number): boolean => Math.abs(value - first.value) <= tolerance * Math.max(Math.abs(value), Math.abs(first.value));
  const second = ranked.find(({ value }) => !isEqual(value));
  if (second === undefined) {
    return []; // nobody wins against itself, or among equals
  }
  const winners = ranked.filter(({ value }) => isEqual(value)).map(({ format }) => format);
  return [{ dimension, formats: winners, value: first.value, unit, runnerUp: second.format, runnerUpValue: second.value }];
}

export function compressedBytes({ compression }: Pick<FormatSnapshot, "compression">, name: string): number | null {
  return compression?.find((each) => each.compression === name)?.bytesPerMessage ?? null;
}

/** What a text tool shows, as a part of it that is not schema. Binary formats show nothing. */
function readableShare({ needsRegistry, sizes }: FormatSnapshot, usefulBytes: number | null): number | null {
  return needsRegistry ? 0 : usefulBytes === null ? null : usefulBytes / sizes.avgBytes;
}

/**
 * Columns whose types stand in a registry, which can refuse a change that readers could not follow before it is written. A schema in the
 * message types its columns, too, and arrives when the change is written: nothing can refuse it.
 */
function registeredColumns({ typedColumns, needsRegistry }: FormatSnapshot): number {
  return needsRegistry ? typedColumns : 0;
}

function adviceOf(measured: FormatSnapshot, formats: readonly FormatSnapshot[]): string {
  const { format, sizes, timesAvro, schemaBytesPerMessage, consumer } = measured;
  const bytes = Math.round(sizes.avgBytes).toLocaleString("en-US");
  const times = timesAvro === null ? "" : `, ${timesAvro.toFixed(1)} times Avro`;
  const zstd = compressedBytes(measured, "zstd");
  const packed = zstd === null ? "" : ` zstd makes ${Math.round(zstd).toLocaleString("en-US")} B of them.`;
  const rate = `${Math.round(consumer.messagesPerSecond).toLocaleString("en-US")} messages a second`;
  switch (format) {
    case "json-schema":
      return `If consumers need types and no registry can run: ${bytes} B a message${times}, of which ${Math.round(schemaBytesPerMessage).toLocaleString("en-US")} B say the same schema each time.${packed}`;
    case "json": {
      const withSchema = formats.find((each) => each.format === "json-schema");
      const less =
        withSchema === undefined ? "" : `, ${(withSchema.sizes.avgBytes / sizes.avgBytes).toFixed(1)} times less than with schema`;
      return `If people and text tools read the topic, or no registry can run: ${bytes} B a message${times}${less}. Types of ${measured.columns - measured.typedColumns} of ${measured.columns} columns must be agreed on elsewhere.${packed}`;
    }
    case "avro":
      return `If volume, retention or traffic cost, or tables change: ${bytes} B a message, ${rate} consumed, types in a registry, which can refuse a change that readers could not follow.${packed}`;
    case "protobuf":
      return `If the services around it speak Protobuf already: ${bytes} B a message${times}, ${rate} consumed, types in a registry.${packed}`;
  }
}
