import type { Explanation } from "./explanation.ts";
import { BoundedMap } from "./detect/bounded-map.ts";
import { Engine } from "./detect/engine.ts";
import { explainCandidates } from "./detect/explain.ts";
import { loadSchema } from "./detect/load-schema.ts";
import { type ResolvedHints, TopicDecoder } from "./detect/topic-decoder.ts";
import { type DecodeError, isDecodeError } from "./errors.ts";
import type { CdcEvent } from "./event.ts";
import { type DecodeLimits, resolveLimits, resolveValueOptions, type ValueOptions } from "./options.ts";
import { type KafkaRecord, type RecordCursor, SingleRecordBatch } from "./record.ts";
import type { SchemaId, SchemaSource } from "./schema-source.ts";
import type { Semantic } from "./values/conversion.ts";

/** What a topic's bytes cannot say by themselves. */
export interface TopicHints {
  /** The table that rows without an envelope belong to. */
  readonly table?: { readonly database?: string; readonly schema?: string; readonly name: string };
  /** Column name to semantic type name (`io.debezium.time.MicroTimestamp`), for encodings that carry no types. */
  readonly columns?: Readonly<Record<string, string | { readonly name: string; readonly parameters?: Readonly<Record<string, string>> }>>;
  /**
   * Whether a Debezium schema must belong to the topic or the table that the bytes name.
   * @default "check"
   */
  readonly schemaIdentity?: "check" | "trust";
}

export interface DecoderOptions {
  /** Where schema ids lead; without it, only messages that carry their schema or need none decode. */
  readonly schemas?: SchemaSource;
  readonly values?: ValueOptions;
  /** Hints by topic name. */
  readonly topics?: Readonly<Record<string, TopicHints>>;
  readonly limits?: DecodeLimits;
}

export interface Decoder {
  /** The record's events; a promise only when a schema must be fetched first. Throws, or rejects with, `DecodeError`. */
  decode(record: KafkaRecord): readonly CdcEvent[] | Promise<readonly CdcEvent[]>;
  /** The same for a record in place. The cursor may be moved on as soon as the call has returned. */
  decodeAt(cursor: RecordCursor): readonly CdcEvent[] | Promise<readonly CdcEvent[]>;
  /** Every candidate tried, its evidence, why it won or lost. Fetches schemas if it must. */
  explain(record: KafkaRecord): Promise<Explanation>;
}

/** Decodes the records of any number of topics, each in whatever format it turns out to be. */
export function createDecoder(options: DecoderOptions = {}): Decoder {
  return new DetectingDecoder(options);
}

class DetectingDecoder implements Decoder {
  readonly #engine: Engine;
  readonly #hints: Readonly<Record<string, TopicHints>>;
  readonly #topics: BoundedMap<string, TopicDecoder>;
  #lastTopic = "";
  #last: TopicDecoder | null = null;

  constructor(options: DecoderOptions) {
    this.#engine = new Engine(resolveValueOptions(options.values), resolveLimits(options.limits), options.schemas ?? null);
    this.#hints = options.topics ?? {};
    this.#topics = new BoundedMap(this.#engine.limits.maxTopics);
  }

  decode(record: KafkaRecord): readonly CdcEvent[] | Promise<readonly CdcEvent[]> {
    return this.decodeAt(new SingleRecordBatch(record));
  }

  decodeAt(cursor: RecordCursor): readonly CdcEvent[] | Promise<readonly CdcEvent[]> {
    const { topic } = cursor.batch;
    const decoder = this.#last !== null && this.#lastTopic === topic ? this.#last : this.#decoderFor(topic);
    try {
      return decoder.read(cursor, null) ?? this.#whenLoaded(decoder, decoder.pendingId, positionOf(cursor));
    } catch (error) {
      throw located(error, cursor);
    }
  }

  async explain(record: KafkaRecord): Promise<Explanation> {
    const decoder = new TopicDecoder(this.#engine, record.topic, this.#hintsFor(record.topic));
    const cursor = new SingleRecordBatch(record);
    const candidates = await explainCandidates(record, this.#engine);
    try {
      await (decoder.read(cursor, null) ?? this.#whenLoaded(decoder, decoder.pendingId, cursor));
      return { candidates, error: null };
    } catch (error) {
      return { candidates, error: located(error, cursor) };
    }
  }

  /** Loads schemas until the record can be read. The cursor is a copy: the driver's may have moved on. */
  async #whenLoaded(decoder: TopicDecoder, firstId: SchemaId, cursor: RecordCursor): Promise<readonly CdcEvent[]> {
    const failed = new Map<SchemaId, DecodeError>();
    for (let id = firstId; ; id = decoder.pendingId) {
      const failure = await loadSchema(this.#engine, id);
      if (failure !== null) {
        failed.set(id, failure);
      }
      try {
        const events = decoder.read(cursor, failed);
        if (events !== null) {
          return events;
        }
      } catch (error) {
        throw located(error, cursor);
      }
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
    const columns = Object.entries(hints?.columns ?? {}).map(([name, stated]): [string, Semantic] =>
      typeof stated === "string"
        ? [name, { name: stated, parameters: {} }]
        : [name, { name: stated.name, parameters: stated.parameters ?? {} }],
    );
    return { table: hints?.table ?? null, columns: new Map(columns), trustsSchemas: hints?.schemaIdentity === "trust" };
  }
}

/** A cursor's position, which outlives the cursor. */
function positionOf(cursor: RecordCursor): RecordCursor {
  const { batch, record, keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd } = cursor;
  return { batch, record, keyBytes, keyStart, keyEnd, valueBytes, valueStart, valueEnd };
}

function located(error: unknown, { batch, record }: RecordCursor): Error {
  if (isDecodeError(error)) {
    return error.locatedAt({ topic: batch.topic, partition: batch.partition, offset: batch.offsetAt(record) });
  }
  return error instanceof Error ? error : new Error(String(error));
}
