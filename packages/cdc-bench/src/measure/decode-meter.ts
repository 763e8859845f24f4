import {
  type CdcEvent,
  type Decoder,
  type EncodingName,
  type EnvelopeName,
  type FramingName,
  isDecodeError,
  type RecordCursor,
} from "@cdckit/decode";
import { performance } from "node:perf_hooks";
import { isRegistryAtFault } from "../registry-fault.ts";
import { SeededRandom } from "../seeded-random.ts";
import { clockCostNs, DurationHistogram, type DurationSummary } from "./duration-histogram.ts";
import { SizeTally, type SizeSummary } from "./size-tally.ts";

/** One record in this many is timed: reading the clock twice, and noting the time, takes about 150 ns, and a fast decode 500 ns. */
const decodeSampling = 32;

/** The three answers that make up a format; `tombstone` if there is no value. */
export type FormatKey = { readonly framing: FramingName; readonly encoding: EncodingName; readonly envelope: EnvelopeName } | "tombstone";

/** What one format of one topic cost. */
export interface FormatMeasure {
  readonly topic: string;
  readonly format: FormatKey;
  readonly records: number;
  readonly events: number;
  /** Key and value, without headers. */
  readonly sizes: SizeSummary;
  /** Decoding a record and reading operation, table, key and both rows: one record in thirty-two, without the first. */
  readonly decode: DurationSummary;
}

/** Records of one topic that failed in one way. */
export interface DecodeErrorCount {
  readonly topic: string;
  readonly code: string;
  readonly records: number;
  /** The first of them, in words. */
  readonly example: string;
}

/** A decoder that counts what passes through it. */
export interface DecodeMeter {
  /** Hands on what the inner decoder gives, except that a record that cannot be decoded gives no events and is counted. */
  readonly decoder: Decoder;
  readonly records: number;
  readonly bytes: number;
  readonly errorRecords: number;
  /** How long the registry has given no schema that a record waits for. 0 if no record waits. */
  readonly registryAwayMs: number;
  /** Time in which a record waited for its schema to be fetched. */
  readonly schemaMs: number;
  /** All decoding so far, extrapolated from the records that were timed. */
  decodeMs(): number;
  formats(): readonly FormatMeasure[];
  errors(): readonly DecodeErrorCount[];
}

export function meterDecoder(inner: Decoder): DecodeMeter {
  return new Meter(inner);
}

/** Reads what a handler reads, so that work which a decoder defers is measured, too. */
export function readEvent(event: CdcEvent): void {
  void event.key;
  if (event.kind === "change") {
    void event.op;
    void event.table;
    void event.before;
    void event.after;
  } else if (event.kind === "row") {
    void event.row;
  }
}

class FormatTally {
  readonly topic: string;
  readonly format: FormatKey;
  readonly sizes = new SizeTally();
  readonly durations = new DurationHistogram();
  events = 0;

  constructor(topic: string, format: FormatKey) {
    this.topic = topic;
    this.format = format;
  }

  matches(topic: string, event: CdcEvent): boolean {
    if (this.topic !== topic || this.format === "tombstone") {
      return false;
    }
    const { framing, encoding, envelope } = this.format;
    return event.framing === framing && event.encoding === encoding && event.envelope === envelope;
  }

  measure(): FormatMeasure {
    const { topic, format, events } = this;
    return { topic, format, records: this.sizes.count, events, sizes: this.sizes.summary(), decode: this.durations.summary() };
  }
}

class Meter implements DecodeMeter {
  /** Held: where imports are wrapped, as in tests, looking one up costs more than reading the clock. */
  readonly #clock = performance;
  readonly decoder: Decoder;
  records = 0;
  bytes = 0;
  errorRecords = 0;
  schemaMs = 0;
  readonly #clockCostNs = clockCostNs();
  readonly #tallies = new Map<string, FormatTally>();
  readonly #errors = new Map<string, { topic: string; code: string; records: number; example: string }>();
  #last: FormatTally | undefined;
  readonly #random = new SeededRandom(1);
  /** As many records come before the next one that is timed. */
  #nextSample = 0;
  #sampledNs = 0;
  #sampled = 0;
  #compilingNs = 0;
  #registryAwaySinceMs: number | null = null;

  constructor(inner: Decoder) {
    this.decoder = {
      decode: (record) => inner.decode(record),
      decodeAt: (cursor) => this.#decodeAt(inner, cursor),
      explain: (record) => inner.explain(record),
    };
  }

  get registryAwayMs(): number {
    return this.#registryAwaySinceMs === null ? 0 : performance.now() - this.#registryAwaySinceMs;
  }

  decodeMs(): number {
    const perRecordNs = this.#sampled === 0 ? 0 : this.#sampledNs / this.#sampled;
    return (this.#compilingNs + perRecordNs * this.records) / 1e6;
  }

  formats(): readonly FormatMeasure[] {
    return [...this.#tallies.values()].map((tally) => tally.measure());
  }

  errors(): readonly DecodeErrorCount[] {
    return [...this.#errors.values()];
  }

  #decodeAt(inner: Decoder, cursor: RecordCursor): readonly CdcEvent[] | Promise<readonly CdcEvent[]> {
    const { topic } = cursor.batch;
    const bytes = cursor.keyEnd - cursor.keyStart + (cursor.valueEnd - cursor.valueStart);
    const isTombstone = cursor.valueBytes === null;
    const isSampled = this.records >= this.#nextSample;
    if (isSampled) {
      // By chance: of formats that take turns, records at equal distances could all be of one.
      this.#nextSample = this.records + this.#random.integer(1, 2 * decodeSampling - 1);
    }
    const startMs = isSampled ? this.#clock.now() : 0;
    try {
      const events = inner.decodeAt(cursor);
      if (events instanceof Promise) {
        return this.#whenSchemaIsThere(events, topic, bytes, isTombstone);
      }
      for (let i = 0; i < events.length; i++) {
        readEvent(events[i]!);
      }
      return this.#count(topic, bytes, isTombstone, events, isSampled ? this.#nsSince(startMs) : -1);
    } catch (error) {
      const durationNs = isSampled ? this.#nsSince(startMs) : -1;
      const none = this.#countError(topic, bytes, error);
      if (durationNs !== -1) {
        this.#add(durationNs, this.errorRecords === 1);
      }
      return none;
    }
  }

  /** Waiting for a schema is not decoding, so it is counted apart. */
  async #whenSchemaIsThere(
    events: Promise<readonly CdcEvent[]>,
    topic: string,
    bytes: number,
    isTombstone: boolean,
  ): Promise<readonly CdcEvent[]> {
    const startMs = performance.now();
    try {
      const given = await events;
      this.#registryAwaySinceMs = null; // it has answered
      return this.#count(topic, bytes, isTombstone, given);
    } catch (error) {
      return this.#countError(topic, bytes, error);
    } finally {
      this.schemaMs += performance.now() - startMs;
    }
  }

  #count(topic: string, bytes: number, isTombstone: boolean, events: readonly CdcEvent[], durationNs = -1): readonly CdcEvent[] {
    this.records++;
    this.bytes += bytes;
    const tally = this.#tallyOf(topic, isTombstone ? undefined : events[0]);
    tally.sizes.add(bytes);
    tally.events += events.length;
    if (durationNs !== -1) {
      const isFirst = tally.sizes.count === 1;
      this.#add(durationNs, isFirst);
      if (!isFirst) {
        tally.durations.recordNs(durationNs);
      }
    }
    return events;
  }

  #nsSince(startMs: number): number {
    return Math.max(0, (this.#clock.now() - startMs) * 1e6 - this.#clockCostNs);
  }

  /** The first record of a format is the one that its reader is compiled for: a cost of its own, not of every record. */
  #add(durationNs: number, isFirst: boolean): void {
    if (isFirst) {
      this.#compilingNs += durationNs;
    } else {
      this.#sampledNs += durationNs;
      this.#sampled++;
    }
  }

  #tallyOf(topic: string, event: CdcEvent | undefined): FormatTally {
    if (event !== undefined && this.#last?.matches(topic, event) === true) {
      return this.#last;
    }
    const format: FormatKey =
      event === undefined ? "tombstone" : { framing: event.framing, encoding: event.encoding, envelope: event.envelope };
    const name = JSON.stringify([topic, format]);
    const tally = this.#tallies.get(name) ?? new FormatTally(topic, format);
    this.#tallies.set(name, tally);
    this.#last = tally;
    return tally;
  }

  /**
   * Counts a record whose bytes are at fault. Anything else is thrown: the consumer decodes a record again whose schema cannot be had yet, so
   * that it must not count here, and it ends the run for the rest.
   */
  #countError(topic: string, bytes: number, error: unknown): readonly CdcEvent[] {
    if (!isDecodeError(error)) {
      throw error;
    }
    if (isRegistryAtFault(error)) {
      this.#registryAwaySinceMs ??= performance.now();
      throw error;
    }
    this.records++;
    this.bytes += bytes;
    const name = JSON.stringify([topic, error.code]);
    const counted = this.#errors.get(name) ?? { topic, code: error.code, records: 0, example: error.message };
    counted.records++;
    this.errorRecords++;
    this.#errors.set(name, counted);
    return [];
  }
}
