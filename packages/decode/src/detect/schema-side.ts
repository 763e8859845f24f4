import type { ColumnHints } from "../encoding/json/learn.ts";
import { Deferred, type PayloadReader, type ReadPlan } from "../encoding/reader.ts";
import type { ParsedSchema, SchemaEncoding } from "../encoding/schema-encoding.ts";
import { type Type, withoutNull } from "../encoding/type.ts";
import type { SourceHead } from "../envelope/debezium/plan.ts";
import { keyColumnsOf, keyPlan } from "../envelope/debezium/router-key.ts";
import type { EnvelopeFormat } from "../envelope/envelope.ts";
import { none } from "../envelope/none/envelope.ts";
import { isBlock } from "../envelope/source.ts";
import { DecodeError, isDecodeError } from "../errors.ts";
import type { EncodingName } from "../event.ts";
import { confluent, confluentPrefix } from "../framing/confluent/recognise.ts";
import { type Framing, hasMessages, type MessageChoice } from "../framing/framing.ts";
import type { MessageSelector, RegisteredSchema, SchemaId } from "../schema-source.ts";
import { learnedFromSource } from "../stream/learned-columns.ts";
import { type FastPathMatch, type FastPathReader, orFastPathMiss } from "./fast-path-match.ts";
import { BoundedMap } from "./bounded-map.ts";
import { isSole, noSuchMessage, type Possible, possibleOf, readChosen } from "./chosen-message.ts";
import type { Engine } from "./engine.ts";
import { type Failures, type Pending, pendingEncoding, pendingValue } from "./pending.ts";
import { rowTypeOf } from "./row-type.ts";
import { belongsToTable, belongsToTopic, debeziumNamespace, identityError } from "./schema-identity.ts";
import { shapeOfType } from "./shape.ts";
import type { SideRoute, SideScope } from "./side-route.ts";

/** What is known of a payload's schema before it is read. */
export interface NamedSchema {
  readonly framing: Framing;
  readonly id: SchemaId;
  /** The schema itself, where the message or the user carries it. */
  readonly schema?: RegisteredSchema | undefined;
  readonly encoding?: EncodingName | undefined;
  readonly message?: MessageSelector | undefined;
}

interface CompiledRoute extends Omit<SideRoute, "fastPathMatch"> {
  readonly schemaId: SchemaId;
  readonly reader: PayloadReader;
  /** The meanings that it reads columns with; null where the schema states all there are. */
  readonly columns: ColumnHints | null;
}

type SchemaRoute = CompiledRoute & SideRoute;

/** A schema, understood, and how those of its messages that were seen are read. */
interface KnownSchema {
  readonly id: SchemaId;
  readonly encoding: SchemaEncoding;
  readonly parsed: ParsedSchema;
  readonly hasRuleSet: boolean;
  /** By what columns are read with, then by how the framing and the payload choose the message. */
  readonly routes: BoundedMap<ColumnHints | null, BoundedMap<string, SchemaRoute>>;
  /** What the listener was told of: the same keys. */
  readonly reported: BoundedMap<string, true>;
  /** What the first bytes of payloads may choose among its messages. */
  readonly possible: BoundedMap<string, Possible>;
}

/** How many tables of one topic are read with meanings of their own at a time. */
const maxColumnHints = 16;

const noChoice: Buffer = Buffer.alloc(0);
const firstOfTypeName = 0x0a;
const theOnlyMessage: readonly MessageChoice[] = [];

/** Reads one side of a topic whose messages name their schema. One reader is compiled for each schema and message. */
export class SchemaSide {
  /** How the last value was read; null before the first. */
  route: SchemaRoute | null = null;
  /** What `read` returned {@link pendingValue} for. */
  pending: Pending | null = null;
  readonly #engine: Engine;
  readonly #scope: SideScope;
  readonly #known: BoundedMap<SchemaId, KnownSchema>;
  /** The last source head whose table was found to belong to its schema: one object for as long as the table stays. */
  #checkedHead: SourceHead | null = null;

  constructor(engine: Engine, scope: SideScope) {
    this.#engine = engine;
    this.#scope = scope;
    this.#known = new BoundedMap(engine.limits.maxSchemas);
  }

  /** The value of a message behind Confluent's prefix, whose payload is from `start` to `end`; or {@link pendingValue}. */
  readPrefixed(id: number, bytes: Buffer, start: number, end: number, failed: Failures | null): unknown {
    return this.read({ framing: confluent, id }, bytes, start, end, 1, failed);
  }

  /** One value, or an array of them where `count` is not 1; or {@link pendingValue} where something must be loaded first. */
  read(named: NamedSchema, bytes: Buffer, start: number, end: number, count: number, failed: Failures | null): unknown {
    const known = this.#known.get(keyOf(named)) ?? this.#understand(named, failed);
    if (known === null) {
      return pendingValue;
    }
    const { framing, message } = named;
    const choices =
      message === undefined && framing.choices !== undefined && hasMessages(known.encoding.schemaType)
        ? framing.choices(bytes, start, end, this.#scope.hinted.isTolerant)
        : theOnlyMessage;
    if (choices.length === 0) {
      const route = this.#routeFor(known, framing.name, message ?? null, noChoice);
      return count === 1
        ? this.#readBy(this.#found(route, known), bytes, start, end)
        : readAll(this.#found(route, known), bytes, start, end, count);
    }
    return this.#readChosen(known, framing, choices, bytes, start, end);
  }

  #readChosen(known: KnownSchema, framing: Framing, choices: readonly MessageChoice[], bytes: Buffer, start: number, end: number): unknown {
    const possible = this.#possible(known, choices);
    if (possible.choices.length === 0) {
      throw noSuchMessage(known.id);
    }
    const fits = ({ message, length }: MessageChoice): boolean => known.parsed.fits?.(message, bytes, start + length, end) === true;
    return readChosen(possible, fits, ({ message, length, framing: framedBy }) => {
      const choice = bytes.subarray(start, start + length);
      const route = this.#routeFor(known, framedBy ?? framing.name, message, choice, isSole(possible));
      return this.#readBy(this.#found(route, known), bytes, start + length, end);
    });
  }

  #possible({ parsed, possible }: KnownSchema, choices: readonly MessageChoice[]): Possible {
    const key = JSON.stringify(choices);
    const cached = possible.get(key) ?? possibleOf(parsed, choices, this.#scope.hinted.countsMapEntries);
    possible.set(key, cached);
    return cached;
  }

  #found(route: SchemaRoute | null, known: KnownSchema): SchemaRoute {
    if (route === null) {
      throw noSuchMessage(known.id);
    }
    this.route = route;
    return route;
  }

  #readBy(route: SchemaRoute, bytes: Buffer, start: number, end: number): unknown {
    const value = this.#readAs(route, bytes, start, end);
    this.route = route;
    return value;
  }

  #readAs(route: CompiledRoute, bytes: Buffer, start: number, end: number): unknown {
    try {
      const value = route.reader.read(bytes, start, end);
      if (route.namespaceToCheck !== null && this.#scope.side === "value") {
        this.#checkIdentity(value, route, route.namespaceToCheck);
      }
      return value;
    } catch (error) {
      throw explained(error, route);
    }
  }

  /** The schema, or null where something must be loaded first. */
  #understand(named: NamedSchema, failed: Failures | null): KnownSchema | null {
    const { id, schema, encoding: announced } = named;
    const { schemas, limits } = this.#engine;
    if (schema === undefined && schemas === null) {
      throw new DecodeError(
        "schema-source-missing",
        `expected a registry that knows schema id ${id}, found none: pass registry: { url } to createConsumer, or schemas to createDecoder (createRegistry or fromBundle of @cdckit/registry)`,
      );
    }
    const registered = schema ?? schemas?.peek(id);
    if (registered === undefined) {
      return this.#wait({ kind: "schema", id }, failed);
    }
    const encoding = this.#engine.schemaEncoding(registered.schemaType, announced);
    if (encoding.isLoaded?.() === false) {
      return this.#wait(pendingEncoding(encoding), failed);
    }
    const parsed = encoding.parse(registered, limits, this.#scope.hinted);
    const known: KnownSchema = {
      id,
      encoding,
      parsed,
      hasRuleSet: registered.hasRuleSet === true,
      routes: new BoundedMap(maxColumnHints),
      reported: new BoundedMap(limits.maxSchemas),
      possible: new BoundedMap(limits.maxSchemas),
    };
    this.#known.set(keyOf(named), known);
    return known;
  }

  #wait(pending: Pending, failed: Failures | null): null {
    const failure = failed?.get(pending.id);
    if (failure !== undefined) {
      throw failure;
    }
    this.pending = pending;
    return null;
  }

  /** How a message of the schema is read; null where the schema has no such message. */
  #routeFor(
    known: KnownSchema,
    framing: string,
    message: MessageSelector | null,
    choice: Buffer,
    isCertain: boolean = true,
  ): SchemaRoute | null {
    const key = `${framing} ${message === null ? choice.toString("latin1") : JSON.stringify(message)} ${choice.length} ${isCertain}`;
    const columns = known.encoding.name === "protobuf" ? this.#scope.semantics.columns : null;
    let routes = known.routes.get(columns);
    if (routes === undefined) {
      routes = new BoundedMap(this.#engine.limits.maxSchemas);
      known.routes.set(columns, routes);
    }
    const cached = routes.get(key);
    if (cached !== undefined) {
      return cached;
    }
    const type = known.parsed.typeOf(message);
    if (type === null) {
      return null;
    }
    const compiled = this.#compile(known, framing, message, type, columns);
    const route = { ...compiled, fastPathMatch: isCertain ? this.#fastPathMatch(compiled, choice) : null };
    routes.set(key, route);
    this.#report(known, key, route, type);
    return route;
  }

  /** Of a schema that is read with other meanings anew, nothing new is to be told. */
  #report(known: KnownSchema, key: string, { envelopeFormat, shape, encoding }: SchemaRoute, type: Type): void {
    const { topic, side, inside } = this.#scope;
    if (inside !== null || this.#engine.onSchema === null || known.reported.get(key) === true) {
      return;
    }
    known.reported.set(key, true);
    const row = side === "key" ? keyColumnsOf(type) : rowTypeOf(type, envelopeFormat.planFor(shape), envelopeFormat);
    this.#engine.onSchema({ topic, side, schemaId: known.id, encoding, envelope: envelopeFormat.name, type, row });
  }

  #compile(known: KnownSchema, framing: string, message: MessageSelector | null, type: Type, columns: ColumnHints | null): CompiledRoute {
    const { topic, side, inside, trustsSchemas } = this.#scope;
    const shape = shapeOfType(type, this.#scope);
    const envelopeFormat = side === "key" ? none : (inside ?? this.#engine.envelopeFor(shape));
    const plan = side === "key" ? keyPlan : envelopeFormat.planFor(shape);
    const namespace = debeziumNamespace(shape.typeName);
    const isKnown = namespace === null || trustsSchemas || inside !== null || belongsToTopic(namespace, topic);
    const reader = known.parsed.compile(message, {
      ...this.#engine.compileOptions(plan),
      bareBytes: writesBareBytes(framing),
      ...(columns === null ? {} : { columns: withSource(columns, type, plan, envelopeFormat) }),
    });
    return {
      framing,
      encoding: reader.encoding,
      envelope: envelopeFormat.name,
      schemaId: known.id,
      envelopeFormat,
      shape,
      hasRuleSet: known.hasRuleSet,
      type,
      typeName: recordName(type),
      reader,
      columns,
      namespaceToCheck: isKnown ? null : namespace,
    };
  }

  /** Behind Confluent's prefix, and the payload's first bytes that chose the message where the schema has several. */
  #fastPathMatch(route: CompiledRoute, choice: Buffer): FastPathMatch | null {
    const { framing, schemaId, reader, columns, hasRuleSet, namespaceToCheck } = route;
    if (framing !== "confluent" || typeof schemaId !== "number" || this.#scope.hinted.isTolerant || mayNameType(choice)) {
      return null;
    }
    const prefix = Buffer.concat([confluentPrefix(schemaId), choice]);
    const read: FastPathReader["read"] = (bytes, start, end) => this.#readAs(route, bytes, start, end);
    // Another choice may fit, and what was learned may be contradicted.
    const isGuess = columns !== null && columns !== this.#scope.semantics.hinted;
    if (choice.length > 1 || isGuess) {
      return { prefix, columns, reader: { read: orFastPathMiss(read) } };
    }
    return { prefix, columns, reader: hasRuleSet === true || namespaceToCheck !== null ? { read } : reader };
  }

  #checkIdentity(value: unknown, route: CompiledRoute, namespace: string): void {
    const source = isBlock(value) ? value["source"] : undefined;
    if (!(source instanceof Deferred) || source.peeked === this.#checkedHead) {
      return; // without a table in the bytes, the schema is all that there is to go by
    }
    const head = source.peeked as SourceHead;
    if (head.table.name !== "" && !belongsToTable(namespace, head.table)) {
      throw identityError(route.schemaId, route.typeName, `and the message is of another table, on topic ${this.#scope.topic}`);
    }
    this.#checkedHead = head;
  }
}

/** What a schema is known by: messages of one schema may be written in two encodings. */
function keyOf({ id, encoding }: NamedSchema): SchemaId {
  return encoding === undefined ? id : `${encoding} ${id}`;
}

function recordName(type: Type): string | null {
  const record = withoutNull(type);
  return record.kind === "record" ? record.name : null;
}

/** Confluent's serializers leave out the length of a value that is all bytes; what others write has it. */
function writesBareBytes(framing: string): boolean {
  return framing === "confluent" || framing === "confluent-guid";
}

/** What is known of columns, and, of others, what the database's own types say that the schema carries along. */
function withSource(columns: ColumnHints, type: Type, plan: ReadPlan, envelopeFormat: EnvelopeFormat): ColumnHints {
  const row = rowTypeOf(type, plan, envelopeFormat);
  const learned = row === null ? null : learnedFromSource(row, connectorOf(type));
  return learned === null || learned.size === 0 ? columns : new Map([...learned, ...columns]);
}

/** The connector that names the source block after itself: `io.debezium.connector.mysql.Source`. */
function connectorOf(type: Type): string {
  const record = withoutNull(type);
  const source = record.kind === "record" ? record.fields.find(({ name }) => name === "source") : undefined;
  const name = source === undefined ? null : recordName(source.type);
  return /\bio\.debezium\.connector\.(\w+)\.Source$/.exec(name ?? "")?.[1] ?? "";
}

function readAll({ reader, encoding }: SchemaRoute, bytes: Buffer, start: number, end: number, count: number): readonly unknown[] {
  if (reader.readSequence === undefined) {
    throw new DecodeError(
      "unsupported-format",
      `expected one ${encoding} value a message, found several, which it cannot be told apart in`,
    );
  }
  return reader.readSequence(bytes, start, end, count);
}

/** Whether further bytes behind the same ones may make them Apicurio's name of a type. */
function mayNameType(choice: Buffer): boolean {
  return choice.length > 1 && choice[1] === firstOfTypeName;
}

/**
 * Why a schema does not fit: rules that changed the bytes, or, of one that is not the topic's, that it is most likely not the one that the
 * message was written with.
 */
function explained(error: unknown, { schemaId, typeName, namespaceToCheck, hasRuleSet }: CompiledRoute): unknown {
  if (hasRuleSet && isDecodeError(error) && error.code !== "schema-mismatch") {
    return ruleSetError(schemaId, error);
  }
  const isMisfit = isDecodeError(error) && error.code !== "schema-mismatch" && namespaceToCheck !== null;
  return isMisfit
    ? identityError(schemaId, typeName, `which does not fit these bytes (${error.code}) and is not named after the topic`, error)
    : error;
}

function ruleSetError(id: SchemaId, cause: DecodeError): DecodeError {
  return new DecodeError(
    "unsupported-format",
    `expected bytes that schema id ${id} fits, found others (${cause.code}): the registry keeps rules beside that schema by which producers ` +
      "change what they write, encryption above all, and these rules are not undone here. Undo them before decoding",
    { cause },
  );
}
