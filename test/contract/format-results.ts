import type { Sample } from "../vectors/sample.ts";

/** What is read of one format. */
export interface FormatResult {
  /** How many messages, by the program that wrote them. */
  readonly writtenBy: Readonly<Record<string, number>>;
  /** How many messages, by whose published ones they are. */
  readonly publishedIn: Readonly<Record<string, number>>;
  /** How many messages were written by hand, after documentation and sources. */
  readonly byHand: number;
  readonly keys: number;
  readonly values: number;
  /** The kinds of events that came out of values. */
  readonly kinds: readonly string[];
}

export type FormatResults = Readonly<Record<"framing" | "encoding" | "envelope", Readonly<Record<string, FormatResult>>>>;

/** What the samples show of each format, the layers in the order of the questions. */
export function formatResults(samples: readonly Sample[]): FormatResults {
  return { framing: layer(samples, 0), encoding: layer(samples, 1), envelope: layer(samples, 2) };
}

function layer(samples: readonly Sample[], place: 0 | 1 | 2): Readonly<Record<string, FormatResult>> {
  const names = new Set(samples.flatMap(({ formats, keyFormats }) => [formats[place], keyFormats[place]]));
  const sorted = [...names].filter((name) => name !== undefined).sort();
  return Object.fromEntries(sorted.map((name) => [name, resultOf(name, place, samples)]));
}

function resultOf(name: string, place: 0 | 1 | 2, samples: readonly Sample[]): FormatResult {
  const values = samples.filter(({ formats }) => formats[place] === name);
  const keys = samples.filter(({ keyFormats }) => keyFormats[place] === name);
  const seen = [...new Set([...values, ...keys])];
  // A serializer that wrote a message has not written the envelope in it: only a CDC system does.
  const isWriter = place === 2 && name !== "none" ? isCdcSystem : () => true;
  const writers = seen.map(({ writtenBy }) => (writtenBy !== null && isWriter(writtenBy) ? writtenBy : null));
  const publishers = seen.map(({ publishedIn }) => publishedIn);
  const kinds = values.flatMap(({ events }) => (events ?? []).map((event) => event["kind"])).filter((kind) => typeof kind === "string");
  return {
    writtenBy: countedBy(writers),
    publishedIn: countedBy(publishers),
    byHand: writers.filter((writer, i) => writer === null && publishers[i] === null).length,
    keys: keys.length,
    values: values.length,
    kinds: [...new Set(kinds)].sort(),
  };
}

function isCdcSystem(program: string): boolean {
  return /^(?:Debezium|Canal|MongoDB Kafka connector|TiCDC|DeltaForge|Maxwell) /.test(program);
}

function countedBy(names: readonly (string | null)[]): Readonly<Record<string, number>> {
  const counts = new Map<string, number>();
  for (const name of names) {
    if (name !== null) {
      counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  return Object.fromEntries([...counts].sort(([a], [b]) => (a < b ? -1 : 1)));
}
