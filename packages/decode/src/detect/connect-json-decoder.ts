import { checkSchemaCost, hasConnectType, isConnectSchema, parseConnectSchema } from "../encoding/connect-json/schema.ts";
import { closesEarly, hasPrefix, splitConnectJson } from "../encoding/connect-json/split.ts";
import type { CompileBudget } from "../encoding/compile-budget.ts";
import { isJsonObject, parseJson } from "../encoding/json/parse.ts";
import { JsonReader } from "../encoding/json/reader.ts";
import { minMeteredBytes } from "../encoding/json/cost.ts";
import { latin1 } from "../encoding/text-cache.ts";
import { type Type, withoutNull } from "../encoding/type.ts";
import { keyColumnsOf, keyPlan } from "../envelope/debezium/router-key.ts";
import { none } from "../envelope/none/envelope.ts";
import { DecodeError, isDecodeError } from "../errors.ts";
import { type FastPathMatch, orFastPathMiss, fastPathMiss } from "./fast-path-match.ts";
import { BoundedMap } from "./bounded-map.ts";
import type { Engine } from "./engine.ts";
import { rowTypeOf } from "./row-type.ts";
import { shapeOfType } from "./shape.ts";
import type { SideRoute, SideScope } from "./side-route.ts";

interface ConnectRoute extends SideRoute {
  readonly reader: JsonReader;
}

interface PrefixRoute extends ConnectRoute {
  /** Behind `{"schema":` ... `,"payload":`, byte for byte. */
  readonly fastPathMatch: FastPathMatch;
}

/** A connect-json message whose two halves were parsed. */
export interface ConnectMessage {
  readonly schema: Record<string, unknown> | null;
  readonly payload: unknown;
}

/** Returned where a message is not spelled as JsonConverter spells it, or its schema is not a recent one. */
export const notConnect: unique symbol = Symbol("not connect-json");
/** Returned where what stands behind a schema is no payload: the message may still be JSON. */
export const notPayload: unique symbol = Symbol("no payload");

const recentRoutes = 4;
const closingBrace = 0x7d;
const schemaKeyLength = '{"schema":'.length;

/**
 * Reads messages that carry their Connect schema. The schema half is compared with the last ones' bytes, so that only the payload is
 * parsed.
 */
export class ConnectJsonDecoder {
  /** How the last value was read; null before the first. */
  route: SideRoute | null = null;
  readonly #engine: Engine;
  readonly #scope: SideScope;
  readonly #budget: CompileBudget;
  #recent: PrefixRoute[] = [];
  readonly #bySchema: BoundedMap<string, PrefixRoute>;
  /** Schemas of messages that are not spelled as JsonConverter spells them. */
  readonly #respelled: BoundedMap<string, ConnectRoute>;

  constructor(engine: Engine, scope: SideScope, budget: CompileBudget) {
    this.#engine = engine;
    this.#budget = budget;
    this.#scope = scope;
    const { maxSchemas, maxSchemaChars } = engine.limits;
    // A schema of a megabyte becomes ten of readers: what is remembered is bounded by its text, not by its number alone.
    this.#bySchema = new BoundedMap(maxSchemas, maxSchemaChars, (text) => text.length);
    this.#respelled = new BoundedMap(maxSchemas, maxSchemaChars, (text) => text.length);
  }

  /** The value of a message whose schema half is that of a recent one, {@link notConnect} or {@link notPayload}. */
  readRecent(bytes: Buffer, start: number, end: number): unknown {
    for (const route of this.#recent) {
      const { prefix } = route.fastPathMatch;
      if (hasPrefix(bytes, start, end, prefix)) {
        return this.#readPayload(route, bytes, start, start + prefix.length, end);
      }
    }
    return notConnect;
  }

  /** The value of a message spelled as JsonConverter spells it, {@link notConnect} or {@link notPayload}. */
  readUnseen(bytes: Buffer, start: number, end: number): unknown {
    const split = splitConnectJson(bytes, start, end);
    const route = split === null ? null : this.#routeAt(bytes, start, split.schemaEnd, split.payloadStart);
    return split === null || route === null ? notConnect : this.#readPayload(route, bytes, start, split.payloadStart, end);
  }

  /** A message with a schema that spells its two halves in another order, or with white space: its halves, and where it stands. */
  convert(schema: Record<string, unknown>, payload: unknown, bytes: Buffer, start: number, end: number): unknown {
    const text = JSON.stringify(schema, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
    let route = this.#respelled.get(text);
    if (route === undefined) {
      route = this.#compile(schema, text);
      this.#respelled.set(text, route);
    }
    route.reader.checkCost(bytes, start, end);
    this.route = route;
    return route.reader.convert(payload);
  }

  /** The payload half alone. Where it is no payload, the message may still be JSON: a row with a column more, a name that stands twice. */
  #readPayload(route: PrefixRoute, bytes: Buffer, start: number, payloadStart: number, end: number): unknown {
    if (end - start >= minMeteredBytes) {
      if (closesEarly(bytes, payloadStart, end - 1)) {
        return notPayload; // told before a MiB is read in vain
      }
      route.reader.checkCost(bytes, start, end);
    }
    try {
      const value = route.reader.readPart(bytes, payloadStart, end - 1);
      this.route = route;
      return value;
    } catch (error) {
      if (!isDecodeError(error) || error.code !== "trailing-bytes") {
        throw error;
      }
      return notPayload;
    }
  }

  /** The route for a schema text, or null where what stands there is no Connect schema. */
  #routeAt(bytes: Buffer, start: number, schemaEnd: number, payloadStart: number): PrefixRoute | null {
    const schemaStart = start + schemaKeyLength;
    const text = latin1(bytes, schemaStart, schemaEnd);
    let route = this.#bySchema.get(text);
    if (route === undefined) {
      const schema = parseJson(bytes, schemaStart, schemaEnd, this.#engine.parse);
      if (!isConnectSchema(schema) || !hasConnectType(schema)) {
        return null; // the whole message decides: it may be a row with columns of these names
      }
      const compiled = this.#compile(schema, text);
      route = { ...compiled, fastPathMatch: fastPathMatchOf(Buffer.from(bytes.subarray(start, payloadStart)), compiled.reader) };
      this.#bySchema.set(text, route);
    }
    this.#recent = [route, ...this.#recent.filter((other) => other !== route)].slice(0, recentRoutes);
    return route;
  }

  #compile(schema: unknown, text: string): ConnectRoute {
    const { limits } = this.#engine;
    const { maxSchemaChars, maxDepth } = limits;
    checkSchemaLength(text.length, maxSchemaChars);
    checkSchemaCost(schema, text.length, limits, this.#scope.inside !== null);
    const type = parseConnectSchema(schema, "the schema", maxDepth);
    const { side, inside } = this.#scope;
    const shape = shapeOfType(type, this.#scope);
    const envelopeFormat = side === "key" ? none : (inside ?? this.#engine.envelopeFor(shape));
    const plan = side === "key" ? keyPlan : envelopeFormat.planFor(shape);
    if (inside === null) {
      const row = side === "key" ? keyColumnsOf(type) : rowTypeOf(type, plan, envelopeFormat);
      this.#engine.onSchema?.({
        topic: this.#scope.topic,
        side,
        schemaId: null,
        encoding: "connect-json",
        envelope: envelopeFormat.name,
        type,
        row,
      });
    }
    return {
      framing: "none",
      encoding: "connect-json",
      envelope: envelopeFormat.name,
      schemaId: null,
      envelopeFormat,
      fastPathMatch: null,
      shape,
      type,
      typeName: recordName(type),
      namespaceToCheck: null,
      reader: new JsonReader("connect-json", type, { ...this.#engine.compileOptions(plan), compileBudget: this.#budget }),
    };
  }
}

/** What ends in an error takes the slow path: it may be JSON of another kind all the same. So does what must be metered first. */
function fastPathMatchOf(prefix: Buffer, reader: JsonReader): FastPathMatch {
  const read = orFastPathMiss((bytes, start, end) => reader.readPart(bytes, start, end - 1));
  const isUnmetered = (start: number, end: number): boolean => prefix.length + end - start < minMeteredBytes;
  return {
    prefix,
    reader: {
      read: (bytes, start, end) => (isUnmetered(start, end) && bytes[end - 1] === closingBrace ? read(bytes, start, end) : fastPathMiss),
    },
    columns: null,
  };
}

function recordName(type: Type): string | null {
  const record = withoutNull(type);
  return record.kind === "record" ? record.name : null;
}

function checkSchemaLength(length: number, max: number): void {
  if (length > max) {
    throw new DecodeError(
      "limit-exceeded",
      `expected a Connect schema of at most ${max} characters (limits.maxSchemaChars), found ${length}`,
    );
  }
}

/** Exactly the two fields of JsonConverter, and a schema that is one: a user's own columns of those names are no envelope. */
export function isConnectMessage(value: unknown): value is ConnectMessage {
  return isHalved(value) && (value["schema"] === null || (isConnectSchema(value["schema"]) && hasConnectType(value["schema"])));
}

/** Whether a row has just the columns schema and payload. */
export function isHalved(value: unknown): value is Record<string, unknown> {
  return isJsonObject(value) && Object.hasOwn(value, "schema") && Object.hasOwn(value, "payload") && Object.keys(value).length === 2;
}
