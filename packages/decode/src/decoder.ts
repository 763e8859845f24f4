import type { ColumnSelector } from "./column-selector.ts";
import type { Explanation } from "./explanation.ts";
import { BoundedMap } from "./bounded-map.ts";
import { Engine } from "./detect/engine.ts";
import { explainCandidates } from "./detect/explain/explain.ts";
import { type Formats, formatsWith } from "./detect/formats.ts";
import { type Failures, isPending, load, type Pending } from "./detect/pending.ts";
import type { RecordReading } from "./detect/record-reading.ts";
import type { HintedFormat } from "./detect/route.ts";
import { type ResolvedHints, TopicDecoder } from "./detect/topic-decoder.ts";
import { type DecodeError, isDecodeError, isError, thrownText } from "./errors.ts";
import type { CdcEvent, EncodingName } from "./event.ts";
import {
  type ApicurioIdSpace,
  type BinaryHandling,
  type DecodeLimits,
  resolveApicurioIds,
  resolveBinaryHandling,
  resolveLimits,
  resolveValidation,
  resolveValueOptions,
  type ValidationMode,
  type ValueOptions,
} from "./options.ts";
import { checkOptionNames } from "./option-names.ts";
import { failureOf } from "./wrong-record.ts";
import { type KafkaRecord, type RecordCursor, SingleRecordBatch } from "./record.ts";
import type { SchemaListener } from "./schema-seen.ts";
import type { SchemaId, SchemaReference, SchemaSource, SchemaType } from "./schema-source.ts";
import type { SchemaChangeLearner } from "./stream/learned-columns.ts";
import type { JsonSchemaValidator } from "./json-schema-validator.ts";
import type { Semantic } from "./values/conversion.ts";
import { wrongWithSemantic } from "./values/known-semantic.ts";
import { bindMethods } from "./bind-methods.ts";

/** Facts about a topic that its bytes do not state. */
export interface TopicHints {
  /** The table of rows without an envelope, and of tombstones. */
  readonly table?: { readonly database?: string; readonly schema?: string; readonly name: string };
  /**
   * The semantic type of columns, by column name, for encodings without types, in rows and in keys. A value is the name of a semantic
   * type (`io.debezium.time.MicroTimestamp`), or a name with parameters. An unknown name is a `TypeError` of `createDecoder`.
   */
  readonly columns?: Readonly<Record<string, string | { readonly name: string; readonly parameters?: Readonly<Record<string, string>> }>>;
  /**
   * Whether a Debezium schema must belong to the topic, or to the table that the bytes name. With `"check"`, a schema of another table is a
   * `schema-mismatch` error.
   * @default "check"
   */
  readonly schemaIdentity?: "check" | "trust";
  /**
   * Whether `_uXXXX` in the names of an Avro schema's fields is the character that it stands for. Debezium writes such names if its
   * `field.name.adjustment.mode` is `avro_unicode`.
   * @default "as-written"
   */
  readonly fieldNames?: "as-written" | "unescaped";
  /**
   * Whether an empty value is a tombstone, like null. Set it if something between the producer and this consumer cannot write null.
   * @default false
   */
  readonly emptyAsTombstone?: boolean;
  /**
   * The connector's `binary.handling.mode`. The content of its logical messages arrives as text if nothing in the message says that it is
   * bytes (JSON without schema, and every mode but `bytes`). With this hint, the content becomes bytes, and text in another form is an
   * error.
   * @default the text as it is
   */
  readonly binaryHandling?: BinaryHandling;
  /** The format of the key, if its bytes do not state it. */
  readonly key?: SideHints;
  /** The format of the value, if its bytes do not state it. */
  readonly value?: SideHints;
}

/** The format of one side of a topic, if its bytes do not state it: there is no framing, or the encoding looks like others. */
export interface SideHints {
  /**
   * The encoding of all messages of this side:
   * - `"json"`, `"msgpack"`, `"cbor"`, `"text"`, `"bytes"`;
   * - `"canal-protobuf"`: Canal without `flatMessage`;
   * - `"int16"`, `"int32"`, `"int64"`, `"float32"`, `"float64"`: a number as Kafka's own serializers write it;
   * - `"uuid"`: a UUID in 16 bytes;
   * - with a `schema` or `schemaId`, an encoding that differs from the schema's own (`"avro-json"`).
   * @default detected
   */
  readonly encoding?: EncodingName;
  /** The id of the schema that all messages were written with. The schema source is asked for it. */
  readonly schemaId?: SchemaId;
  /** The schema that all messages were written with. */
  readonly schema?: { readonly schemaType: SchemaType; readonly schema: string; readonly references?: readonly SchemaReference[] };
  /**
   * The Avro schema that values are resolved to, for any writer schema: its names, its defaults, its promotions, by Avro's rules of schema
   * resolution.
   * @default the schema that each value was written with
   */
  readonly readerSchema?: string;
  /**
   * The Protobuf message: its full name, or its message indexes as in Confluent's `use.message.indexes`. The first index counts among the
   * messages of the file, the next one among the messages inside of that message, and so on, each from 0.
   * @default the first message of the schema
   */
  readonly message?: string | readonly number[];
  /**
   * Which Protobuf message indexes are accepted:
   * - `"standard"`: correct indexes. Inside of a message, some writers count the messages that Protobuf makes for map fields, and others do
   * not. The bytes decide between the two, and a message that fits both is an error;
   * - `"map-entries-counted"`: messages of map fields count (writers in Python, Go and .NET);
   * - `"map-entries-left-out"`: messages of map fields do not count (writers in Java and JavaScript);
   * - `"tolerant"`: also the indexes of writers with known bugs: in reverse order (confluent-kafka-dotnet 2.10.1), or missing (old kafkajs
   * producers).
   * @default "standard"
   */
  readonly messageIndexes?: "standard" | "tolerant" | "map-entries-counted" | "map-entries-left-out";
}

/**
 * The sources of column semantics for Debezium's values without types: JSON without a schema, Protobuf. A learned type that conflicts with
 * a record is ignored for that record. Records that were decoded before do not change.
 */
export interface LearnOptions {
  /**
   * Whether the key's schema gives the meanings of the columns with the same names in the value. They are the same columns of the same row.
   * @default true
   */
  readonly keys?: boolean;
  /**
   * A learner that is given each decoded schema-change event and asked for the meanings of a table's columns. Rows get these meanings after
   * their table's schema change was read: read that topic first, or pass a learner that has read it. A key's schema has priority. Without a
   * learner, rows of TiCDC's simple protocol are text, even after schema messages.
   * @default none
   */
  readonly schemaChanges?: SchemaChangeLearner;
}

/** The options of `createDecoder`. All of them may be left out. */
export interface DecoderOptions {
  /**
   * The source of schemas by id. Without it, a message that names a schema is a `schema-source-missing` error. Messages that carry their
   * schema, or need none, decode.
   */
  readonly schemas?: SchemaSource;
  /**
   * How values are made: integers, decimals, times, bits, JSON columns.
   * @default those of its members
   */
  readonly values?: ValueOptions;
  /** Hints by topic name. */
  readonly topics?: Readonly<Record<string, TopicHints>>;
  /**
   * Bounds on time, memory and depth for bytes that nobody trusts, and on what is kept between records.
   * @default those of its members
   */
  readonly limits?: DecodeLimits;
  /**
   * Whether values are checked against the rules of their JSON Schema.
   * @default "on" with a `jsonSchemaValidator`, "off" without one
   */
  readonly validation?: ValidationMode;
  /**
   * The validator: `jsonSchemaValidator` of `@cdckit/json-schema`, a package that is installed separately.
   * @default none, so that `validation` is an error
   */
  readonly jsonSchemaValidator?: JsonSchemaValidator;
  /** Further sources of column semantics for values without types. A topic's `columns` have priority over them. */
  readonly learn?: LearnOptions;
  /**
   * The kind of the eight-byte ids that Apicurio's serializers write before payloads, and of the ids in the JSON of its ExtJsonConverter. The
   * ids do not state it. Version 3 writes content ids, unless `apicurio.registry.use-id` is `globalId`. Version 2 writes global ids.
   * @default found for each message: an id is of the kind whose schema exists, fits, and is named after the topic, if only one does. If both
   * may be right, eight bytes are a global id, and the id in JSON is a content id
   */
  readonly apicurioIds?: ApicurioIdSpace;
  /** Your own formats. They are asked before the built-in formats of their layer. */
  readonly formats?: Partial<Formats>;
  /**
   * Called for every schema that a topic's keys or values were written with, once per topic, side and table (and again after the schema was
   * forgotten, see `limits.maxSchemas`).
   */
  readonly onSchema?: SchemaListener;
  /**
   * Called for a topic before its first record is read. The result says which columns are wanted of the rows of each table; null: all. Rows
   * then have no other columns. In most encodings, the others are skipped in the bytes, and are neither converted nor checked.
   * @default all columns of all tables
   */
  readonly selectColumns?: (topic: string) => ColumnSelector | null;
}

/** Makes events of records. What it gives for a record depends on the record, the schemas and the hints alone. */
export interface Decoder {
  /**
   * The record's events, or a promise if a schema must be fetched first. Throws, or rejects with, `DecodeError`. If the record cannot be
   * read because it is no `KafkaRecord` (text as its value, no headers), throws a `TypeError` that names the wrong part.
   */
  decode(record: KafkaRecord): readonly CdcEvent[] | Promise<readonly CdcEvent[]>;
  /** The events of the record at a cursor, whose bytes stay in the batch. The cursor may be moved as soon as the call has returned. */
  decodeAt(cursor: RecordCursor): readonly CdcEvent[] | Promise<readonly CdcEvent[]>;
  /**
   * Every candidate that was tried, its evidence, and why it won or lost. Fetches schemas if needed. Rejects with the `TypeError` of
   * `decode` if the record is no `KafkaRecord`.
   */
  explain(record: KafkaRecord): Promise<Explanation>;
}

/** Creates a decoder for the records of any number of topics, in any format that it detects. */
export function createDecoder(options: DecoderOptions = {}): Decoder {
  return new DetectingDecoder(options);
}

class DetectingDecoder implements Decoder {
  readonly #engine: Engine;
  readonly #hints: Readonly<Record<string, TopicHints>>;
  readonly #topics: BoundedMap<string, TopicDecoder>;
  readonly #learner: SchemaChangeLearner | null;
  #lastTopic = "";
  #last: TopicDecoder | null = null;

  constructor(options: DecoderOptions) {
    checkOptionNames(options);
    this.#learner = options.learn?.schemaChanges ?? null;
    this.#engine = new Engine({
      values: resolveValueOptions(options.values),
      limits: resolveLimits(options.limits),
      schemas: options.schemas ?? null,
      formats: formatsWith(options.formats, resolveApicurioIds(options.apicurioIds)),
      validation: resolveValidation(options.validation, options.jsonSchemaValidator),
      onSchema: options.onSchema ?? null,
      learn: { keys: options.learn?.keys ?? true, schemaChanges: this.#learner },
      selectColumns: options.selectColumns ?? null,
    });
    this.#hints = options.topics ?? {};
    checkColumnHints(this.#hints);
    this.#topics = new BoundedMap(this.#engine.limits.maxTopics);
    bindMethods(this);
  }

  decode(record: KafkaRecord): readonly CdcEvent[] | Promise<readonly CdcEvent[]> {
    try {
      return this.decodeAt(new SingleRecordBatch(record));
    } catch (error) {
      throw failureOf(record, error);
    }
  }

  decodeAt(cursor: RecordCursor): readonly CdcEvent[] | Promise<readonly CdcEvent[]> {
    const { topic } = cursor.batch;
    const decoder = this.#last !== null && this.#lastTopic === topic ? this.#last : this.#decoderFor(topic);
    try {
      const read = decoder.read(cursor);
      if (isPending(read)) {
        return this.#whenLoaded(decoder, read, positionOf(cursor)).then(({ events }) => this.#learned(events));
      }
      return this.#learner === null ? read : this.#learned(read);
    } catch (error) {
      throw located(error, cursor);
    }
  }

  /** A schema change is learned before its event is returned. */
  #learned(events: readonly CdcEvent[]): readonly CdcEvent[] {
    if (this.#learner !== null && events[0]?.kind === "schema-change") {
      learnAll(this.#learner, events);
    }
    return events;
  }

  async explain(record: KafkaRecord): Promise<Explanation> {
    try {
      return await this.#explain(record);
    } catch (error) {
      throw failureOf(record, error);
    }
  }

  async #explain(record: KafkaRecord): Promise<Explanation> {
    const decoder = new TopicDecoder(this.#engine, record.topic, this.#hintsFor(record.topic), false);
    const cursor = new SingleRecordBatch(record);
    try {
      const first = decoder.readSlowPath(cursor, null);
      const { events, reading } = isPending(first.outcome)
        ? await this.#whenLoaded(decoder, first.outcome, cursor)
        : { events: first.outcome, reading: first };
      const routes = { key: reading.keyRoute, value: reading.valueRoute };
      const { learned } = decoder;
      return { candidates: explainCandidates(record, this.#engine, { events, routes, learned, error: null }), error: null };
    } catch (thrown) {
      const error = located(thrown, cursor);
      if (failureOf(record, error) !== error) {
        throw error;
      }
      return { candidates: explainCandidates(record, this.#engine, { error }), error };
    }
  }

  /** Loads what the record waits for until it can be read. The cursor is a copy, because the driver may have moved its own. */
  async #whenLoaded(decoder: TopicDecoder, first: Pending, cursor: RecordCursor): Promise<Loaded> {
    const failed = new Map<SchemaId, DecodeError>();
    for (let pending = first; ; ) {
      const failure = await load(this.#engine, pending);
      if (failure !== null) {
        failed.set(pending.id, failure);
      }
      const reading = readAfterLoad(decoder, cursor, failed);
      if (!isPending(reading.outcome)) {
        return { events: reading.outcome, reading };
      }
      pending = reading.outcome;
    }
  }

  #decoderFor(topic: string): TopicDecoder {
    let decoder = this.#topics.get(topic);
    if (decoder === undefined) {
      decoder = new TopicDecoder(this.#engine, topic, this.#hintsFor(topic));
      this.#topics.set(topic, decoder);
    }
    this.#lastTopic = topic;
    this.#last = decoder;
    return decoder;
  }

  #hintsFor(topic: string): ResolvedHints {
    const hints = Object.hasOwn(this.#hints, topic) ? this.#hints[topic] : undefined;
    return {
      table: hints?.table ?? null,
      columns: new Map(columnsOf(hints)),
      trustsSchemas: hints?.schemaIdentity === "trust",
      emptyIsTombstone: hints?.emptyAsTombstone === true,
      binaryHandling: resolveBinaryHandling(topic, hints?.binaryHandling),
      key: hintedFormat(topic, "key", hints),
      value: hintedFormat(topic, "value", hints),
    };
  }
}

/** A record that had to wait, with its events. */
interface Loaded {
  readonly events: readonly CdcEvent[];
  readonly reading: RecordReading;
}

function columnsOf(hints: TopicHints | undefined): readonly (readonly [string, Semantic])[] {
  return Object.entries(hints?.columns ?? {}).map(([name, hinted]) =>
    typeof hinted === "string"
      ? [name, { name: hinted, parameters: {} }]
      : [name, { name: hinted.name, parameters: hinted.parameters ?? {} }],
  );
}

/** Checks the hints. A wrong type name would otherwise leave its column unconverted without any message. */
function checkColumnHints(topics: Readonly<Record<string, TopicHints>>): void {
  for (const [topic, hints] of Object.entries(topics)) {
    for (const [column, semantic] of columnsOf(hints)) {
      const wrong = wrongWithSemantic(semantic);
      if (wrong !== null) {
        throw new TypeError(`topics[${JSON.stringify(topic)}].columns[${JSON.stringify(column)}]: ${wrong}`);
      }
    }
  }
}

function hintedFormat(topic: string, side: "key" | "value", hints: TopicHints = {}): HintedFormat {
  const { encoding, schemaId, schema, readerSchema, message, messageIndexes } = hints[side] ?? {};
  return {
    encoding: encoding ?? null,
    schemaId: schemaId ?? null,
    schema: schema === undefined ? null : { id: schemaId ?? `topics["${topic}"].${side}.schema`, ...schema },
    readerSchema:
      readerSchema === undefined ? null : { id: `topics["${topic}"].${side}.readerSchema`, schemaType: "AVRO", schema: readerSchema },
    unescapesNames: hints.fieldNames === "unescaped",
    message:
      message === undefined ? null : typeof message === "string" ? { kind: "name", name: message } : { kind: "path", path: [...message] },
    isTolerant: messageIndexes === "tolerant",
    countsMapEntries: messageIndexes?.startsWith("map-entries") === true ? messageIndexes === "map-entries-counted" : null,
  };
}

function readAfterLoad(decoder: TopicDecoder, cursor: RecordCursor, failed: Failures): RecordReading {
  try {
    return decoder.readSlowPath(cursor, failed);
  } catch (error) {
    throw located(error, cursor);
  }
}

/** A copy of a cursor's position, which stays valid after the cursor was moved. */
function positionOf(cursor: RecordCursor): RecordCursor {
  const { batch, record, keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd } = cursor;
  return { batch, record, keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd };
}

function located(error: unknown, { batch, record }: RecordCursor): Error {
  if (isDecodeError(error)) {
    return error.locatedAt({ topic: batch.topic, partition: batch.partition, offset: batch.offsetAt(record) });
  }
  return isError(error) ? error : new Error(thrownText(error), { cause: error });
}

function learnAll(learner: SchemaChangeLearner, events: readonly CdcEvent[]): void {
  for (const event of events) {
    if (event.kind === "schema-change") {
      learner.learn(event);
    }
  }
}
