import type { ColumnHints } from "../encoding/json/learn.ts";
import { Tombstone } from "../envelope/control-events.ts";
import { recogniseFlattened } from "../envelope/flattened/recognise.ts";
import type { EnvelopeScope, Origin, Route } from "../envelope/envelope.ts";
import type { DecodeError } from "../errors.ts";
import type { CdcEvent, TableName } from "../event.ts";
import { apicurio } from "../framing/apicurio/recognise.ts";
import type { Side } from "../framing/framing.ts";
import type { RecordCursor, RecordHeaders } from "../record.ts";
import type { SchemaId } from "../schema-source.ts";
import { type Engine, envelopes } from "./engine.ts";
import { openValue } from "./open-value.ts";
import { schemaPending } from "./framed-side.ts";
import { debeziumNamespace, identityError } from "./schema-identity.ts";
import { apicurioError, type FailedSchemas, SideDecoder } from "./side-decoder.ts";
import { rawRoute, type SideRoute, type SideScope } from "./side-route.ts";

/** What the user has said of a topic, in the form that readers use. */
export interface ResolvedHints {
  readonly table: TableName | null;
  readonly columns: ColumnHints;
  readonly trustsSchemas: boolean;
}

const noRoute = rawRoute("bytes");
const noBytes = Buffer.alloc(0);

/** Reads the records of one topic. */
export class TopicDecoder {
  /** The schema that the last `read` must wait for. */
  pendingId: SchemaId = 0;
  readonly #engine: Engine;
  readonly #topic: string;
  readonly #scope: EnvelopeScope;
  readonly #key: SideDecoder;
  readonly #plainValue: SideDecoder;
  readonly #valueScope: SideScope;
  /** Reads rows that only their headers tell from plain ones. A topic may have both: a tombstone beside them has no such header. */
  #flattenedValue: SideDecoder | null = null;
  /** Of the two, the one for the last record's headers. */
  #value: SideDecoder;
  #headerNames: readonly string[] = [];
  #headerError: DecodeError | null = null;

  constructor(engine: Engine, topic: string, hints: ResolvedHints) {
    this.#topic = topic;
    const { values, limits } = engine;
    this.#scope = { topic, topicTable: hints.table ?? tableOfTopic(topic), values, limits, parseJson: engine.parseJson };
    const { trustsSchemas } = hints;
    this.#engine = engine;
    this.#valueScope = { topic, side: "value", headerNames: [], hints: hints.columns, trustsSchemas };
    this.#key = new SideDecoder(engine, { topic, side: "key", headerNames: [], hints: new Map(), trustsSchemas });
    this.#plainValue = new SideDecoder(engine, this.#valueScope);
    this.#value = this.#plainValue;
  }

  /** The record's events, or null where the schema `pendingId` must be loaded first. */
  read(cursor: RecordCursor, failed: FailedSchemas | null): readonly CdcEvent[] | null {
    const { batch, record } = cursor;
    if (!batch.headerNamesAre(record, this.#headerNames)) {
      this.#lookAtHeaders(batch.headersAt(record));
    }
    if (this.#headerError !== null) {
      throw this.#headerError;
    }
    const { keyBytes, valueBytes } = cursor;
    const key = keyBytes === null ? null : this.#key.read(this.#engine.buffer(keyBytes), cursor.keyStart, cursor.keyEnd, failed);
    if (key === schemaPending) {
      this.pendingId = this.#key.pendingId;
      return null;
    }
    const keyRoute = keyBytes === null ? noRoute : this.#key.route;
    if (valueBytes === null) {
      return [new Tombstone(this.#origin(key, withoutSchema(keyRoute), cursor))];
    }
    const value = this.#value.read(this.#engine.buffer(valueBytes), cursor.valueStart, cursor.valueEnd, failed);
    if (value === schemaPending) {
      this.pendingId = this.#value.pendingId;
      return null;
    }
    const { route } = this.#value;
    if (keyRoute.typeName !== null) {
      checkKeyIdentity(keyRoute, route, this.#topic);
    }
    if (value === null && route.encoding === "connect-json") {
      return [new Tombstone(this.#origin(key, route, cursor))];
    }
    return openValue(value, this.#origin(key, route, cursor), route.opens, route.shape, envelopes);
  }

  #origin(key: unknown, route: Route, { batch, record }: RecordCursor): Origin {
    return { key, route, batch, record, scope: this.#scope };
  }

  /** Called when a record's header names differ from the last one's: names can change the format, values cannot. */
  #lookAtHeaders(headers: RecordHeaders): void {
    const names = headers.map(([name]) => name);
    const evidence = apicurioHeaders(headers, "value") ?? apicurioHeaders(headers, "key");
    this.#headerError = evidence === null ? null : apicurioError(evidence);
    const isFlattened =
      recogniseFlattened({ topic: this.#topic, typeName: null, fields: [], fieldsOf: () => null, isText: false, headerNames: names }) !==
      null;
    if (isFlattened) {
      this.#flattenedValue ??= new SideDecoder(this.#engine, { ...this.#valueScope, headerNames: names });
    }
    this.#value = isFlattened && this.#flattenedValue !== null ? this.#flattenedValue : this.#plainValue;
    this.#headerNames = names;
  }
}

function apicurioHeaders(headers: RecordHeaders, side: Side): string | null {
  return apicurio.recognise({ side, bytes: noBytes, start: 0, end: 0, headers, maxBytes: 0 });
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
function checkKeyIdentity(key: SideRoute, value: SideRoute, topic: string): void {
  if (key.schemaId === null) {
    return;
  }
  const { namespaceToCheck } = key;
  if (namespaceToCheck === null || debeziumNamespace(value.typeName) === namespaceToCheck) {
    return;
  }
  throw identityError(
    key.schemaId,
    key.typeName,
    `the key of a message whose value is ${value.typeName ?? "of no schema"}, on topic ${topic}`,
  );
}
