import { fastPathMiss } from "../encoding/fast-path.ts";
import type { ColumnHints } from "../encoding/reader.ts";
import type { EnvelopeScope } from "../envelope/envelope.ts";
import type { BinaryHandling } from "../options.ts";
import type { TableName } from "../event.ts";
import type { RecordCursor } from "../record.ts";
import { wrongAnswer } from "../user-answer.ts";
import type { Engine } from "./engine.ts";
import { type CodeOwner, compileFastPath, type FastPath } from "./fast-path/compile.ts";
import { FastPaths, type RoutePair } from "./fast-path/fast-paths.ts";
import { type Failures, isPending, type Outcome } from "./pending.ts";
import { RecordReading } from "./record-reading.ts";
import { type HintedFormat, rawRoute, type SideRoute } from "./route.ts";
import { ColumnSemantics, type LearnedNames } from "./semantics/column-semantics.ts";
import { readWithLearned, rereadIfWanted } from "./semantics/read-with-learned.ts";
import { RowSelector } from "./row-selector.ts";
import { reportSchemas } from "./schema-report.ts";
import type { SideDecoder } from "./side-decoder.ts";
import { type EnvelopeOverride, SideDecoderCache } from "./side-decoder-cache.ts";
import { SideMessage } from "./side-message.ts";
import { SeveralValues, type SideResult } from "./side-result.ts";
import { ValueOpener } from "./value-opener.ts";

/** What the user has hinted about a topic, in the form that readers use. */
export interface ResolvedHints {
  readonly table: TableName | null;
  readonly columns: ColumnHints;
  readonly trustsSchemas: boolean;
  /** Whether an empty value (zero bytes) counts as a tombstone. */
  readonly emptyIsTombstone: boolean;
  /** How the connector writes bytes as text. Null if there is no hint. */
  readonly binaryHandling: BinaryHandling | null;
  readonly key: HintedFormat;
  readonly value: HintedFormat;
}

const noBytes = new Uint8Array(0);

function nothingToDo(): void {}

/** Reads the records of one topic. */
export class TopicDecoder {
  readonly #engine: Engine;
  readonly #hints: ResolvedHints;
  readonly #scope: EnvelopeScope;
  readonly #semantics: ColumnSemantics;
  readonly #keys: SideDecoderCache;
  readonly #values: SideDecoderCache;
  /** The side decoders for the header names of the last record. */
  #key: SideDecoder;
  #value: SideDecoder;
  #headerNames: readonly string[] = [];
  readonly #opener: ValueOpener;
  readonly #fastPaths: FastPaths;
  /** Null: all columns of rows are read. */
  readonly #selector: RowSelector | null;
  /** The route of a key or a value that is null. */
  readonly #noRoute: SideRoute;
  /** Created once. A new closure for each record would keep the batch of that record in memory. */
  readonly #attempt = (cursor: RecordCursor): Outcome => this.#readAny(cursor);
  readonly #reread = (reading: RecordReading): Outcome => this.#readValue(reading);

  /** `mayLearn` is false when the decoder only looks at a record: what it says must not change how later records are read. */
  constructor(engine: Engine, topic: string, hints: ResolvedHints, mayLearn: boolean = true) {
    this.#engine = engine;
    this.#hints = hints;
    const { values, limits, parseJson } = engine;
    const { binaryHandling, columns, trustsSchemas } = hints;
    const memory = engine.learn.schemaChanges;
    const addCost = (cost: number): void => engine.embeddedJsonBudget.addCost(cost, limits);
    const topicTable = hints.table ?? tableOfTopic(topic);
    const select = mayLearn ? (engine.selectColumns?.(topic) ?? null) : null;
    if (select !== null && typeof select !== "function") {
      throw wrongAnswer("selectColumns", "return a function of table and operation, or null", select);
    }
    const selector = select === null ? null : new RowSelector(select);
    this.#selector = selector;
    const needWholeRows = selector?.needWholeRows ?? nothingToDo;
    const ofTopic = { topic, topicTable, binaryHandling, columns };
    this.#scope = Object.freeze({ ...ofTopic, values, limits, parseJson, memory, mayLearn, addCost, needWholeRows });
    this.#noRoute = rawRoute(engine, engine.formats.raw.bytes.name);
    const semantics = new ColumnSemantics(hints.columns, engine.learn);
    this.#semantics = semantics;
    const ofKeys = { side: "key", semantics: new ColumnSemantics(hints.columns), hinted: hints.key, selection: null } as const;
    const ofValues = { side: "value", semantics, hinted: hints.value, selection: selector } as const;
    this.#keys = new SideDecoderCache(engine, { topic, trustsSchemas, ...ofKeys });
    this.#values = new SideDecoderCache(engine, { topic, trustsSchemas, ...ofValues });
    this.#key = this.#keys.forHeaders([]);
    this.#value = this.#values.forHeaders([]);
    const opener = new ValueOpener(engine, this.#scope, { semantics, trustsSchemas, selection: null }, (override, reading) =>
      this.#readWithOverride(override, reading),
    );
    this.#opener = opener;
    this.#fastPaths = new FastPaths(
      ({ key, value }) => value === this.#noRoute || opener.isSimple(key, value),
      (pair, owner) => this.#compileFor(pair, owner),
    );
  }

  /** The columns whose semantics were learned, among those that the last record was read with. */
  get learned(): LearnedNames {
    return this.#semantics.learnedNames;
  }

  /** The events of the record, or what must be loaded first. */
  read(cursor: RecordCursor): Outcome {
    return this.#selector === null ? this.#readAny(cursor) : this.#selector.read(cursor, this.#attempt);
  }

  #readAny(cursor: RecordCursor): Outcome {
    this.#lookAtHeaders(cursor);
    const events = this.#fastPaths.read(cursor);
    if (events === fastPathMiss) {
      return this.#readSlowPath(this.#readingOf(cursor, null));
    }
    if (this.#engine.onSchema !== null) {
      const { key, value } = this.#fastPaths.lastPair;
      reportSchemas(key, value, events); // several tables may have one schema
    }
    return events;
  }

  /** Reads the record without the fast path. `failed` holds what could not be loaded. The reading says how the record was read. */
  readSlowPath(cursor: RecordCursor, failed: Failures | null): RecordReading {
    this.#lookAtHeaders(cursor);
    let reading = this.#readingOf(cursor, failed);
    const attempt = (): Outcome => {
      reading = this.#readingOf(cursor, failed);
      return this.#readSlowPath(reading);
    };
    const outcome = this.#selector === null ? attempt() : this.#selector.read(cursor, attempt);
    reading.outcome = outcome; // of the last attempt
    return reading;
  }

  #readingOf(cursor: RecordCursor, failed: Failures | null): RecordReading {
    return new RecordReading(cursor, failed, this.#noRoute, this.#selector?.isGuess ?? false);
  }

  /** Schemas are reported only now, because the events say which table they are of. */
  #readSlowPath(reading: RecordReading): Outcome {
    const outcome = this.#readSides(reading);
    if (!isPending(outcome)) {
      reportSchemas(reading.keyRoute, reading.valueRoute, outcome);
    }
    return outcome;
  }

  /** The key is read first, because the value may be read with what the key's schema says. */
  #readSides(reading: RecordReading): Outcome {
    const { keyBytes, valueBytes, valueStart, valueEnd } = reading.cursor;
    if (keyBytes !== null) {
      const result = this.#readKey(keyBytes, reading);
      if (result.pending !== null) {
        return result.pending;
      }
      reading.keyRoute = result.route;
      reading.key = result.take();
    }
    const isTombstone = valueBytes === null || (this.#hints.emptyIsTombstone && valueStart === valueEnd);
    if (!isTombstone) {
      return this.#readWithSemantics(reading);
    }
    if (valueBytes === null) {
      this.#fastPaths.see(reading.keyRoute, this.#noRoute);
    }
    return this.#opener.tombstones(reading);
  }

  #readKey(bytes: Uint8Array, reading: RecordReading): SideResult {
    const { embeddedJsonBudget, limits } = this.#engine;
    embeddedJsonBudget.begin();
    const { keyStart: start, keyEnd: end } = reading.cursor;
    return this.#key.read(new SideMessage("key", { bytes: this.#engine.buffer(bytes), start, end }, limits.maxMessageBytes, reading));
  }

  #readWithSemantics(reading: RecordReading): Outcome {
    const semantics = this.#semantics;
    if (semantics.areLearned) {
      return readWithLearned(semantics, reading, this.#reread);
    }
    const outcome = this.#readValue(reading);
    return isPending(outcome) || !semantics.learnsBeside(reading.keyRoute.type) || !reading.rowRoute.losesSemantics
      ? outcome
      : rereadIfWanted(semantics, { reading, events: outcome }, this.#reread);
  }

  #readValue(reading: RecordReading): Outcome {
    const result = this.#readSide(this.#value, reading);
    if (result.pending !== null) {
      return result.pending;
    }
    const { route } = result;
    const value = result.take();
    reading.valueRoute = route;
    reading.rowRoute = route;
    const isOne = !(value instanceof SeveralValues || reading.key instanceof SeveralValues);
    const isSimple = this.#fastPaths.see(reading.keyRoute, route) && isOne;
    return isSimple && value !== null ? this.#opener.openSimple(reading, value) : this.#opener.open(reading, value);
  }

  #readSide(decoder: SideDecoder, reading: RecordReading): SideResult {
    const { embeddedJsonBudget, limits } = this.#engine;
    const { valueBytes, valueStart: start, valueEnd: end } = reading.cursor;
    embeddedJsonBudget.begin();
    const bytes = this.#engine.buffer(valueBytes ?? noBytes);
    return decoder.read(new SideMessage("value", { bytes, start, end }, limits.maxMessageBytes, reading));
  }

  /** Reads the value again for another envelope. The schema is at hand, because the value has been read once. */
  #readWithOverride(override: EnvelopeOverride, reading: RecordReading): unknown {
    return this.#readSide(this.#values.forHeaders(this.#headerNames, override), reading).take();
  }

  /** There is no fast path if the next record may be read with semantics that were learned from anything but the schema of its key. */
  #compileFor({ key, value }: RoutePair, owner: CodeOwner): FastPath | null {
    const isTombstone = value === this.#noRoute;
    const keyMatch = key === this.#noRoute ? null : this.#key.matchOf(key);
    const valueMatch = isTombstone ? null : this.#value.matchOf(value);
    if ((keyMatch === null && key !== this.#noRoute) || (valueMatch === null && !isTombstone)) {
      return null;
    }
    if (!isTombstone && this.#semantics.mayChange(key.type, value)) {
      return null;
    }
    const route = isTombstone ? this.#opener.tombstoneRoute(key) : value;
    const parts = { engine: this.#engine, scope: this.#scope, semantics: this.#semantics };
    return compileFastPath({ ...parts, key: keyMatch, value: valueMatch, route, envelopeFormat: value.envelopeFormat }, owner);
  }

  /** Header names can change the format. Header values cannot. */
  #lookAtHeaders({ batch, record }: RecordCursor): void {
    if (!batch.headerNamesAre(record, this.#headerNames)) {
      this.#turnTo(batch.headersAt(record).map(([name]) => name));
    }
  }

  #turnTo(headerNames: readonly string[]): void {
    const key = this.#keys.forHeaders(headerNames);
    const value = this.#values.forHeaders(headerNames);
    if (key !== this.#key || value !== this.#value) {
      this.#fastPaths.interrupt();
    }
    this.#key = key;
    this.#value = value;
    this.#headerNames = headerNames;
  }
}

/**
 * The table that Debezium's default topic names end in: `prefix.container.table`. The topic name does not say whether the container is a
 * schema or a database, so it is called a schema.
 */
function tableOfTopic(topic: string): TableName | null {
  const parts = topic.split(".");
  const name = parts.at(-1);
  if (name === undefined || name === "" || topic.startsWith("__")) {
    return null;
  }
  const container = parts.length > 2 ? parts.at(-2) : undefined;
  return Object.freeze({ ...(container === undefined ? {} : { schema: container }), name });
}
