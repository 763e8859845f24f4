import { type FastPathMatch, orFastPathMiss } from "../encoding/fast-path.ts";
import type { ColumnHints, PayloadReader, ReadPlan } from "../encoding/reader.ts";
import { ReadersBySelection, selectingReader } from "../encoding/row-selection.ts";
import type { ParsedSchema, SchemaEncoding } from "../encoding/schema-encoding.ts";
import { recordName, type Type, withoutNull } from "../encoding/type.ts";
import { DecodeError } from "../errors.ts";
import type { EncodingName, FramingName } from "../event.ts";
import { type Framing, hasMessages, type MessageChoice, type Payload } from "../framing/framing.ts";
import type { MessageSelector, RegisteredSchema, SchemaId } from "../schema-source.ts";
import { learnedFromSource } from "../stream/learned-columns.ts";
import { wrongAnswer } from "../user-answer.ts";
import { BoundedMap } from "../bounded-map.ts";
import { checkedReader } from "./checked-reader.ts";
import { isSole, noSuchMessage, type Possible, possibleOf, readChosen } from "./chosen-message.ts";
import type { Engine } from "./engine.ts";
import type { SideOpening, SideOpenings } from "./openings.ts";
import { type Failures, type Pending, pendingEncoding } from "./pending.ts";
import { RefusedSchemas } from "./refused-schemas.ts";
import type { SchemaReport } from "./schema-report.ts";
import { belongsToTopic, debeziumNamespace } from "./schema-identity.ts";
import type { SideRoute, SideScope } from "./route.ts";
import type { SideResult } from "./side-result.ts";

/** What is known of a payload's schema before it is read. */
export interface NamedSchema {
  readonly framing: Framing;
  readonly id: SchemaId;
  /** The schema itself, if the message or a hint carries it. */
  readonly schema?: RegisteredSchema | undefined;
  readonly encoding?: EncodingName | undefined;
  readonly message?: MessageSelector | undefined;
  readonly choices?: readonly MessageChoice[] | undefined;
}

/** How one message of a schema is read. */
interface MessageReader {
  readonly reader: PayloadReader;
  readonly route: SideRoute;
}

/** A parsed schema, with the readers of its messages that were seen so far. */
interface KnownSchema {
  readonly id: SchemaId;
  readonly encoding: SchemaEncoding;
  readonly parsed: ParsedSchema;
  readonly hasRuleSet: boolean;
  /** The length of its texts if the message brought them; 0 if they came from a source, which bounds what it keeps. */
  readonly carriedChars: number;
  /** By the columns that values are read with, then by how framing and payload choose the message. */
  readonly readers: BoundedMap<ColumnHints | null, BoundedMap<string, MessageReader>>;
  /** What reports each message to the listener, under the same keys: a message may be compiled again for other semantics. */
  readonly reports: BoundedMap<string, SchemaReport | null>;
  /** The messages of the schema that the first bytes of payloads may choose. */
  readonly possible: BoundedMap<string, Possible>;
}

/** How a payload says which message of its schema it is. */
interface Chosen {
  readonly framing: Framing;
  /** The framing that writes such choices. Usually `framing` itself. */
  readonly framedBy: FramingName;
  readonly message: MessageSelector | null;
  /** The first bytes of the payload, which choose the message. */
  readonly choice: Buffer;
  /** Whether these bytes can choose no other message. */
  readonly isCertain: boolean;
}

/** How many sets of column semantics one schema keeps readers for: usually one set for each table. */
const maxColumnHints = 16;

const noChoice: Buffer = Buffer.alloc(0);

/** The source is the user's own code. A TypeError, because no record is to blame: none becomes a dead letter. */
function requireSchema(found: unknown): void {
  const { schemaType, schema } = (typeof found === "object" && found !== null ? found : {}) as Partial<RegisteredSchema>;
  if (typeof schemaType !== "string" || typeof schema !== "string") {
    const expected =
      "return { id, schemaType, schema } with texts as schemaType and schema, or undefined if the schema must be loaded first";
    throw wrongAnswer("peek of the schema source", expected, found);
  }
}

/** Reads one side of a topic whose messages name their schema. One reader is compiled for each schema and message. */
export class SchemaReader {
  readonly #engine: Engine;
  readonly #scope: SideScope;
  readonly #openings: SideOpenings;
  readonly #result: SideResult;
  readonly #known: BoundedMap<SchemaId, KnownSchema>;
  readonly #refused: RefusedSchemas = new RefusedSchemas();

  constructor(engine: Engine, scope: SideScope, { openings, result }: { readonly openings: SideOpenings; readonly result: SideResult }) {
    this.#engine = engine;
    this.#scope = scope;
    this.#openings = openings;
    this.#result = result;
    const { maxSchemas, maxSchemaChars } = engine.limits;
    // A sender can give each message a schema of its own, whose readers take several times the memory of its text.
    this.#known = new BoundedMap(maxSchemas, maxSchemaChars, (_id, { carriedChars }) => carriedChars);
  }

  /** Reads one value, or an array of values if the payload does not hold exactly one. Pending if the schema must be loaded first. */
  read(named: NamedSchema, payload: Payload, failed: Failures | null): SideResult {
    const known = this.#known.get(keyOf(named)) ?? this.#understand(named, failed);
    if (known === null) {
      return this.#result;
    }
    const { framing, message } = named;
    const { bytes, start, end, count } = payload;
    if (message === undefined && hasMessages(known.encoding.schemaType)) {
      const choices = named.choices ?? framing.choices?.(bytes, start, end, this.#scope.hinted.isTolerant) ?? [];
      if (choices.length > 0) {
        return this.#readChosen(known, framing, { payload, choices });
      }
    }
    const chosen = { framing, framedBy: framing.name, message: message ?? null, choice: noChoice, isCertain: true };
    const { reader, route } = this.#readerFor(known, chosen);
    return this.#result.one(count === 1 ? reader.read(bytes, start, end) : readSequence(reader, payload), route);
  }

  #readChosen(
    known: KnownSchema,
    framing: Framing,
    { payload, choices }: { readonly payload: Payload; readonly choices: readonly MessageChoice[] },
  ): SideResult {
    const { bytes, start, end } = payload;
    const possible = this.#possible(known, choices);
    if (possible.choices.length === 0) {
      throw noSuchMessage(known.id);
    }
    const isCertain = isSole(possible);
    const fits = ({ message, length }: MessageChoice): boolean => known.parsed.fits?.(message, bytes, start + length, end) === true;
    const value = readChosen(possible, fits, ({ message, length, framing: framedBy = framing.name }) => {
      const chosen = { framing, framedBy, message, choice: bytes.subarray(start, start + length), isCertain };
      const { reader, route } = this.#readerFor(known, chosen);
      const read = reader.read(bytes, start + length, end);
      this.#result.route = route;
      return read;
    });
    return this.#result.one(value, this.#result.route);
  }

  #possible({ parsed, possible }: KnownSchema, choices: readonly MessageChoice[]): Possible {
    const key = JSON.stringify(choices);
    const cached = possible.get(key) ?? possibleOf(parsed, choices, this.#scope.hinted.countsMapEntries);
    possible.set(key, cached);
    return cached;
  }

  /** The schema. Null if something must be loaded first: the result then says what. */
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
    requireSchema(registered);
    const encoding = this.#engine.schemaEncoding(registered.schemaType, announced);
    if (encoding.isLoaded?.() === false) {
      return this.#wait(pendingEncoding(encoding), failed);
    }
    const known: KnownSchema = {
      id,
      encoding,
      parsed: this.#refused.parse(keyOf(named), registered, () => encoding.parse(registered, limits, this.#scope.hinted)),
      hasRuleSet: registered.hasRuleSet === true,
      carriedChars: schema === undefined ? 0 : charsOf(schema),
      readers: new BoundedMap(maxColumnHints),
      reports: new BoundedMap(limits.maxSchemas),
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
    this.#result.wait(pending);
    return null;
  }

  #readerFor(known: KnownSchema, chosen: Chosen): MessageReader {
    const { framedBy, message, choice, isCertain } = chosen;
    const key = `${framedBy} ${message === null ? choice.toString("latin1") : JSON.stringify(message)} ${choice.length} ${isCertain}`;
    const columns = known.encoding.losesSemantics === true ? this.#scope.semantics.columns : null;
    let readers = known.readers.get(columns);
    if (readers === undefined) {
      readers = new BoundedMap(this.#engine.limits.maxSchemas);
      known.readers.set(columns, readers);
    }
    let reader = readers.get(key);
    if (reader === undefined) {
      reader = this.#compile(known, chosen, { columns, key });
      readers.set(key, reader);
    }
    return reader;
  }

  #compile(
    known: KnownSchema,
    chosen: Chosen,
    { columns, key }: { readonly columns: ColumnHints | null; readonly key: string },
  ): MessageReader {
    const { topic, outerEnvelope, trustsSchemas } = this.#scope;
    const type = known.parsed.typeOf(chosen.message);
    if (type === null) {
      throw noSuchMessage(known.id);
    }
    const opening = this.#openings.openingFor({ type });
    const namespace = debeziumNamespace(opening.shape.typeName);
    const isKnown = namespace === null || trustsSchemas || outerEnvelope !== null || belongsToTopic(namespace, topic);
    const { id: schemaId, hasRuleSet } = known;
    const named = {
      framing: chosen.framedBy,
      schemaId,
      hasRuleSet,
      namespaceToCheck: isKnown ? null : namespace,
      losesSemantics: columns !== null,
    };
    const compile = (plan: ReadPlan): PayloadReader =>
      known.parsed.compile(chosen.message, {
        ...this.#engine.compileOptions(plan),
        bareBytes: chosen.framing.writesBareBytes === true,
        ...(columns === null ? {} : { columns: withSource(columns, type, opening) }),
      });
    const { selectable, plan } = opening;
    const bare = selectable === null ? compile(plan) : selectingReader(new ReadersBySelection(selectable, type, plan, compile));
    const reader = checkedReader(bare, { ...named, typeName: opening.shape.typeName, opening, scope: this.#scope });
    const fastPath = this.#fastPathOf(chosen, schemaId, { reader, columns });
    const { nullIsTombstone = false } = known.encoding;
    const { encoding } = reader;
    const report = known.reports.get(key) ?? opening.reportOf({ encoding, schemaId, losesSemantics: columns !== null });
    known.reports.set(key, report);
    return { reader, route: opening.routeOf({ encoding, fastPath, nullIsTombstone }, { ...named, report }) };
  }

  /**
   * The match by the framing's prefix, and by the first bytes of the payload if they choose the message. Without a framing a hint has named
   * the schema, and there is nothing to compare. Null if these bytes do not decide for certain.
   */
  #fastPathOf(
    { framing, framedBy, choice, isCertain }: Chosen,
    schemaId: SchemaId,
    { reader, columns }: Pick<FastPathMatch, "reader" | "columns">,
  ): FastPathMatch | null {
    const mayTell = isCertain && framedBy === framing.name && !this.#scope.hinted.isTolerant;
    const frameBytes = framing === this.#engine.noFraming ? noChoice : (framing.frameBytesOf?.(schemaId, choice) ?? null);
    const prefix = mayTell ? frameBytes : null;
    if (prefix === null) {
      return null;
    }
    // Two readings may be wrong and still recover on the slow path: another choice of the message may fit, and learned semantics may
    // contradict the value. A `DecodeError` of such a reader is therefore a miss.
    const isGuess = choice.length > 1 || (columns !== null && columns !== this.#scope.semantics.hinted);
    const read = orFastPathMiss((bytes, start, end) => reader.read(bytes, start, end));
    return { prefix, columns, reader: isGuess ? { read } : reader };
  }
}

function charsOf({ schema, references = [] }: RegisteredSchema): number {
  return references.reduce((sum, reference) => sum + reference.schema.length, schema.length);
}

/** The key of a schema in the cache. Messages of one schema may be written in two encodings. */
function keyOf({ id, encoding }: NamedSchema): SchemaId {
  return encoding === undefined ? id : `${encoding} ${id}`;
}

/**
 * Column semantics, completed by the database types that the schema carries for its columns. Hinted and learned semantics override them.
 */
function withSource(columns: ColumnHints, type: Type, { row }: SideOpening): ColumnHints {
  const learned = row === null ? null : learnedFromSource(row, connectorOf(type));
  return learned === null || learned.size === 0 ? columns : new Map([...learned, ...columns]);
}

/** The connector, taken from the name of the source block: `io.debezium.connector.mysql.Source`. */
function connectorOf(type: Type): string {
  const record = withoutNull(type);
  const source = record.kind === "record" ? record.fields.find(({ name }) => name === "source") : undefined;
  const name = source === undefined ? null : recordName(source.type);
  return /\bio\.debezium\.connector\.(\w+)\.Source$/.exec(name ?? "")?.[1] ?? "";
}

function readSequence(reader: PayloadReader, { bytes, start, end, count }: Payload): readonly unknown[] {
  if (reader.readSequence === undefined) {
    throw new DecodeError(
      "unsupported-format",
      `expected one ${reader.encoding} value for each message, found several, and values of this encoding cannot be told apart`,
    );
  }
  return reader.readSequence(bytes, start, end, count);
}
