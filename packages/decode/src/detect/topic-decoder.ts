import type { ColumnHints } from "../encoding/json/learn.ts";
import { Tombstone } from "../envelope/control-events.ts";
import { checkEventCost } from "../envelope/event-count.ts";
import type { EnvelopeFormat, EnvelopeScope, Route } from "../envelope/envelope.ts";
import { originalOf } from "../envelope/extra.ts";
import { Origin } from "../envelope/origin.ts";
import { DecodeError } from "../errors.ts";
import type { BinaryHandling } from "../options.ts";
import type { CdcEvent, TableName } from "../event.ts";
import type { Side } from "../framing/framing.ts";
import type { RecordCursor } from "../record.ts";
import { ColumnSemantics, type LearnedNames, losesSemantics } from "./column-semantics.ts";
import type { Engine } from "./engine.ts";
import { isBuiltInFraming } from "./formats.ts";
import { type RoutePair, RoutePairs } from "./route-pairs.ts";
import { type FastPath, compileFastPath } from "./fast-path.ts";
import { openWithFallback } from "./open-with-fallback.ts";
import { type Failures, type Pending, pendingValue } from "./pending.ts";
import { readAsWanted, readLearned } from "./read-learned.ts";
import { debeziumNamespace, identityError } from "./schema-identity.ts";
import { SideDecoder } from "./side-decoder.ts";
import { ManyValues, noHints, rawRoute, type SideRoute, type HintedFormat } from "./side-route.ts";
import { type EnvelopeOverride, SideDecoderCache } from "./side-decoder-cache.ts";

/** What the user has said of a topic, in the form that readers use. */
export interface ResolvedHints {
  readonly table: TableName | null;
  readonly columns: ColumnHints;
  readonly trustsSchemas: boolean;
  /** Whether a value of no bytes is a tombstone too. */
  readonly emptyIsTombstone: boolean;
  /** How the connector writes bytes as text; null where that is not stated. */
  readonly binaryHandling: BinaryHandling | null;
  readonly key: HintedFormat;
  readonly value: HintedFormat;
}

const noRoute = rawRoute("bytes");
const noBytes = new Uint8Array(0);

/** Reads the records of one topic. */
export class TopicDecoder {
  /** What the last `read` must wait for. */
  pending: Pending | null = null;
  readonly #engine: Engine;
  readonly #hints: ResolvedHints;
  readonly #scope: EnvelopeScope;
  readonly #semantics: ColumnSemantics;
  readonly #keys: SideDecoderCache;
  readonly #values: SideDecoderCache;
  /** Of these, the ones for the last record's headers. */
  #key: SideDecoder;
  #value: SideDecoder;
  #headerNames: readonly string[] = [];
  readonly #pairs: RoutePairs = new RoutePairs(
    (key, value) => this.#isSimple(key, value),
    (pair) => this.#compileFor(pair),
  );
  /** How the rows of the last value were read: those of a message inside of it as that one was. */
  #rows: SideRoute = noRoute;
  /** Reads messages inside of values; made when the first is met. */
  #inner: { readonly decoder: SideDecoder; readonly inside: EnvelopeFormat } | null = null;

  constructor(engine: Engine, topic: string, hints: ResolvedHints) {
    this.#engine = engine;
    this.#hints = hints;
    const { values, limits, parseJson } = engine;
    const { binaryHandling, columns } = hints;
    const memory = engine.learn.schemaChanges;
    const addCost = (cost: number): void => engine.embeddedJsonBudget.addCost(cost, limits);
    const topicTable = hints.table ?? tableOfTopic(topic);
    this.#scope = Object.freeze({ topic, topicTable, values, limits, parseJson, binaryHandling, columns, memory, addCost });
    const { trustsSchemas } = hints;
    this.#semantics = new ColumnSemantics(hints.columns, engine.learn);
    this.#keys = new SideDecoderCache(engine, { topic, side: "key", semantics: new ColumnSemantics(), hinted: hints.key, trustsSchemas });
    this.#values = new SideDecoderCache(engine, { topic, side: "value", semantics: this.#semantics, hinted: hints.value, trustsSchemas });
    this.#key = this.#keys.forHeaders([]);
    this.#value = this.#values.forHeaders([]);
  }

  /** The routes of the last record that was read to its end: how its two sides were written. */
  get routes(): Readonly<Record<Side, SideRoute>> {
    return { key: this.#key.route, value: this.#value.route };
  }

  /** The columns whose meanings were learned, among those that the last record was read with. */
  get learned(): LearnedNames {
    return this.#semantics.learnedNames;
  }

  /** The record's events, or null where `pending` must be loaded first. */
  read(cursor: RecordCursor, failed: Failures | null): readonly CdcEvent[] | null {
    const { batch, record } = cursor;
    if (!batch.headerNamesAre(record, this.#headerNames)) {
      this.#lookAtHeaders(batch.headersAt(record).map(([name]) => name));
    }
    return this.#pairs.fastPath?.(cursor) ?? this.#readSlowPath(cursor, failed);
  }

  /** A record that has no fast path: its key first, which tells how its value may be read. */
  #readSlowPath(cursor: RecordCursor, failed: Failures | null): readonly CdcEvent[] | null {
    const { keyBytes } = cursor;
    const valueBytes = this.#hints.emptyIsTombstone && cursor.valueStart === cursor.valueEnd ? null : cursor.valueBytes;
    this.#engine.embeddedJsonBudget.begin();
    const key = keyBytes === null ? null : this.#key.read(this.#engine.buffer(keyBytes), cursor.keyStart, cursor.keyEnd, cursor, failed);
    if (key === pendingValue) {
      return this.#wait(this.#key);
    }
    const keyRoute = keyBytes === null ? noRoute : this.#key.route;
    if (valueBytes === null) {
      return valuesOf(key).map((one) => new Tombstone(this.#origin(one, withoutSchema(keyRoute), cursor)));
    }
    if (this.#semantics.areLearned) {
      return this.#readLearned(key, keyRoute, valueBytes, cursor, failed);
    }
    const events = this.#readValue(key, keyRoute, valueBytes, cursor, failed);
    return events === null || !this.#semantics.learnsBeside(keyRoute.type) || !losesSemantics(this.#rows)
      ? events
      : this.#readAsWanted(events, key, keyRoute, valueBytes, cursor, failed);
  }

  // What closes over a record's parts is kept out of the functions above: they would keep them for every record, learned or not.

  #readLearned(
    key: unknown,
    keyRoute: SideRoute,
    valueBytes: Uint8Array,
    cursor: RecordCursor,
    failed: Failures | null,
  ): readonly CdcEvent[] | null {
    const semantics = this.#semantics;
    const read = (): readonly CdcEvent[] | null => this.#readValue(key, keyRoute, valueBytes, cursor, failed);
    return readLearned(semantics, read, (events) => semantics.wantedFor(events, keyRoute.type, this.#rows));
  }

  #readAsWanted(
    events: readonly CdcEvent[],
    key: unknown,
    keyRoute: SideRoute,
    valueBytes: Uint8Array,
    cursor: RecordCursor,
    failed: Failures | null,
  ): readonly CdcEvent[] | null {
    const wanted = this.#semantics.wantedFor(events, keyRoute.type, this.#rows);
    return wanted === this.#semantics.columns
      ? events
      : readAsWanted(this.#semantics, events, wanted, () => this.#readValue(key, keyRoute, valueBytes, cursor, failed));
  }

  #readValue(
    key: unknown,
    keyRoute: SideRoute,
    valueBytes: Uint8Array,
    cursor: RecordCursor,
    failed: Failures | null,
  ): readonly CdcEvent[] | null {
    this.#engine.embeddedJsonBudget.begin();
    const value = this.#value.read(this.#engine.buffer(valueBytes), cursor.valueStart, cursor.valueEnd, cursor, failed);
    if (value === pendingValue) {
      return this.#wait(this.#value);
    }
    const { route } = this.#value;
    this.#rows = route;
    if (!this.#pairs.see(keyRoute, route).isSimple || value === null) {
      return this.#openPair(key, keyRoute, value, route, cursor, failed);
    }
    const origin = this.#origin(key, route, cursor);
    return route.envelopeFormat.open(value, origin) ?? this.#openWithFallback(origin, route, cursor, failed, null);
  }

  /** Whether a record whose sides are read so is one value with nothing inside, whose sides need not be checked against each other. */
  #isSimple(key: SideRoute, value: SideRoute): boolean {
    return this.#holdsOne(key) && this.#holdsOne(value) && value.envelopeFormat.inner === undefined && isKeyOf(key, value);
  }

  /** None where what the next record means may be learned from anything but its key's schema. */
  #compileFor(pair: RoutePair): FastPath | null {
    const key = pair.key === noRoute ? "none" : this.#key.fastPathMatch;
    const value = this.#value.fastPathMatch;
    return key === null || value === null || this.#semantics.mayChange(pair.key.type, pair.value)
      ? null
      : compileFastPath({ engine: this.#engine, scope: this.#scope, key, value, route: pair.value, semantics: this.#semantics });
  }

  /** Whether no message of this framing holds several values. */
  #holdsOne({ framing }: SideRoute): boolean {
    return (framing === "none" || framing === "confluent") && this.#engine.formats.framings.every(isBuiltInFraming);
  }

  #openPair(
    key: unknown,
    keyRoute: SideRoute,
    value: unknown,
    route: SideRoute,
    cursor: RecordCursor,
    failed: Failures | null,
  ): readonly CdcEvent[] | null {
    if (!isKeyOf(keyRoute, route)) {
      throw keyError(keyRoute, route, this.#scope.topic);
    }
    if (route.envelopeFormat.name === "ticdc-open" && route.framing === "ticdc" && keyRoute.framing !== "ticdc") {
      throw unpaired();
    }
    return value instanceof ManyValues || key instanceof ManyValues
      ? this.#openEach(valuesOf(key), valuesOf(value), value instanceof ManyValues ? value.byteLength : 0, route, cursor, failed)
      : this.#open(key, value, route, cursor, failed, null);
  }

  /** `nth`: which of a record's several values it is; null where it is the only one. */
  #open(
    key: unknown,
    value: unknown,
    route: SideRoute,
    cursor: RecordCursor,
    failed: Failures | null,
    nth: number | null,
  ): readonly CdcEvent[] | null {
    const origin = this.#origin(key, route, cursor);
    if (value === null && route.encoding === "connect-json") {
      return [new Tombstone(this.#origin(key, { ...route, envelope: "none" }, cursor))]; // null is in no envelope
    }
    const inside = route.envelopeFormat.inner?.(value) ?? null;
    if (inside === null) {
      return route.envelopeFormat.open(value, origin) ?? this.#openWithFallback(origin, route, cursor, failed, nth);
    }
    const inner = this.#innerDecoder(originalOf(route.envelopeFormat));
    const bytes = this.#engine.buffer(inside);
    const innerValue = inner.read(bytes, 0, bytes.length, cursor, failed);
    if (innerValue === pendingValue) {
      return this.#wait(inner);
    }
    this.#rows = inner.route;
    return route.envelopeFormat.open(value, origin, innerValue) ?? this.#openWithFallback(origin, route, cursor, failed, nth);
  }

  #openWithFallback(
    origin: Origin,
    route: SideRoute,
    cursor: RecordCursor,
    failed: Failures | null,
    nth: number | null,
  ): readonly CdcEvent[] {
    return openWithFallback(origin, route, this.#engine.formats.envelopes, (override) =>
      this.#readWithOverride(override, cursor, failed, nth),
    );
  }

  /** The value as another envelope wants it. Its schema is at hand: it has been read once. */
  #readWithOverride(override: EnvelopeOverride, cursor: RecordCursor, failed: Failures | null, nth: number | null): unknown {
    this.#engine.embeddedJsonBudget.begin();
    const decoder = this.#values.forHeaders(this.#headerNames, override);
    const bytes = this.#engine.buffer(cursor.valueBytes ?? noBytes);
    const value = decoder.read(bytes, cursor.valueStart, cursor.valueEnd, cursor, failed);
    return value instanceof ManyValues && nth !== null ? value.values[nth] : value;
  }

  /** Several values of one record, each with its own key where the key has as many. */
  #openEach(
    keys: readonly unknown[],
    values: readonly unknown[],
    byteLength: number,
    route: SideRoute,
    cursor: RecordCursor,
    failed: Failures | null,
  ): readonly CdcEvent[] | null {
    const events: CdcEvent[] = [];
    checkEventCost(values.length, byteLength, this.#engine.limits);
    for (const [i, value] of values.entries()) {
      const key = keys.length === values.length ? keys[i] : (keys[0] ?? null);
      const opened = this.#open(key, value, route, cursor, failed, i);
      if (opened === null) {
        return null;
      }
      events.push(...opened);
    }
    return events;
  }

  #wait(side: SideDecoder): null {
    this.pending = side.pending;
    return null;
  }

  #innerDecoder(inside: EnvelopeFormat): SideDecoder {
    if (this.#inner?.inside !== inside) {
      const { trustsSchemas } = this.#hints;
      const { topic } = this.#scope;
      const scope = {
        topic,
        side: "value",
        headerNames: [],
        announced: [],
        inside,
        semantics: this.#semantics,
        hinted: noHints,
        trustsSchemas,
      } as const;
      this.#inner = { inside, decoder: new SideDecoder(this.#engine, scope) };
    }
    return this.#inner.decoder;
  }

  #origin(key: unknown, route: Route, { batch, record }: RecordCursor): Origin {
    return new Origin(key, route, this.#scope, batch, record);
  }

  /** Called when a record's header names differ from the last one's: names can change the format, values cannot. */
  #lookAtHeaders(names: readonly string[]): void {
    const key = this.#keys.forHeaders(names);
    const value = this.#values.forHeaders(names);
    if (key !== this.#key || value !== this.#value) {
      this.#pairs.interrupt();
    }
    this.#key = key;
    this.#value = value;
    this.#headerNames = names;
  }
}

/** TiCDC's open protocol says in the key what the value is: eight bytes 00 are an empty value to it, and to nobody else. */
function unpaired(): DecodeError {
  return new DecodeError("unknown-format", "expected a key of TiCDC's open protocol before a value of it, found another");
}

function valuesOf(side: unknown): readonly unknown[] {
  return side instanceof ManyValues ? side.values : [side];
}

function withoutSchema(route: SideRoute): Route {
  return { framing: route.framing, encoding: route.encoding, envelope: "none", schemaId: null };
}

/**
 * The table that Debezium's default topic names end in: `prefix.container.table`. Whether the container is a schema or a database the
 * name does not say; it is called a schema.
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

/** A key of a Debezium schema belongs to the topic, or to the table that the value was found to belong to. */
function isKeyOf({ schemaId, namespaceToCheck }: SideRoute, value: SideRoute): boolean {
  return schemaId === null || namespaceToCheck === null || debeziumNamespace(value.typeName) === namespaceToCheck;
}

function keyError({ schemaId, typeName }: SideRoute, value: SideRoute, topic: string): DecodeError {
  return identityError(
    schemaId ?? "",
    typeName,
    `the key of a message whose value is ${value.typeName ?? "of no schema"}, on topic ${topic}`,
  );
}
