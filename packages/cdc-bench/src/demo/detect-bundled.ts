import type { CdcEvent } from "@cdckit/decode";
import { fromBundle } from "@cdckit/registry";
import { bundledRecordings, loadRecording, recording } from "@cdckit/testkit";
import type { FormatKey } from "../measure/decode-meter.ts";
import { measureReading } from "../measure/reading.ts";

/** What the recorded messages of one topic turned out to be. */
export interface DetectedTopic {
  readonly topic: string;
  readonly records: number;
  readonly formats: readonly FormatKey[];
  /** Events by kind; changes by operation. */
  readonly kinds: Readonly<Record<string, number>>;
  readonly error: { readonly code: string; readonly message: string; readonly records: number } | null;
}

/** Sends every small recording through the consumer and the decoder, and says what each topic holds. */
export async function detectBundled(interrupt: AbortSignal): Promise<readonly DetectedTopic[]> {
  const bundled = bundledRecordings().filter(({ name }) => name.startsWith("postgres-debezium-3.5/"));
  const files = bundled.map(({ file }) => file);
  const recorded = countByTopic(await Promise.all(files.map(loadRecording)));
  const kinds = new Map<string, Record<string, number>>();
  const { formats, errors } = await measureReading({
    driver: recording({ file: files }),
    schemas: fromBundle(bundled[0]?.schemasFile ?? ""),
    groupId: "demo",
    topics: [...recorded.keys()],
    from: "earliest",
    end: { maxRecords: [...recorded.values()].reduce((sum, records) => sum + records, 0) },
    maxDurationMs: undefined,
    maxIdleMs: undefined,
    measureLatency: false,
    interrupt,
    onProgress: () => {},
    onEvent: (event) => countKind(kinds, event),
  });
  return [...recorded].map(([topic, records]) => {
    const error = errors.find((counted) => counted.topic === topic);
    return {
      topic,
      records,
      formats: formats.filter((measure) => measure.topic === topic).map(({ format }) => format),
      kinds: kinds.get(topic) ?? {},
      error: error === undefined ? null : { code: error.code, message: error.example, records: error.records },
    };
  });
}

function countByTopic(recordings: readonly (readonly { readonly topic: string }[])[]): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const { topic } of recordings.flat()) {
    counts.set(topic, (counts.get(topic) ?? 0) + 1);
  }
  return counts;
}

function countKind(kinds: Map<string, Record<string, number>>, event: CdcEvent): void {
  const { topic } = event.record;
  const counts = kinds.get(topic) ?? {};
  const kind = event.kind === "change" ? event.op : event.kind;
  counts[kind] = (counts[kind] ?? 0) + 1;
  kinds.set(topic, counts);
}
