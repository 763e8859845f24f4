import { hasConnectType, isConnectSchema, parseConnectSchema } from "../encoding/connect-json/schema.ts";
import { splitConnectJson } from "../encoding/connect-json/split.ts";
import { areManyNames, learnType } from "../encoding/json/learn.ts";
import { isJsonObject, type ParseOptions, parseJson } from "../encoding/json/parse.ts";
import { JsonReader, notQuick } from "../encoding/json/reader.ts";
import { type ReadPlan, readEverything } from "../encoding/reader.ts";
import { latin1 } from "../encoding/text-cache.ts";
import { type Type, withoutNull } from "../encoding/type.ts";
import type { EncodingName } from "../event.ts";
import { none } from "../envelope/none/envelope.ts";
import { DecodeError, isDecodeError } from "../errors.ts";
import { BoundedMap } from "./bounded-map.ts";
import { type Engine, envelopeFor } from "./engine.ts";
import { shapeOfType, shapeOfValue } from "./shape.ts";
import type { SideRoute, SideScope } from "./side-route.ts";

interface ConnectRoute extends SideRoute {
  /** `{"schema":` ... `,"payload":`, byte for byte. */
  readonly prefix: Buffer;
  readonly reader: JsonReader;
}

interface PlainRoute extends SideRoute {
  readonly reader: JsonReader;
}

const recentConnectRoutes = 4;
const recentPlainRoutes = 4;
/** How often a shape of plain JSON must be seen before a reader is generated for it. */
const sightingsBeforeCompiling = 2;
const rememberedShapes = 64;
/** Names of more characters than a table's columns have are data: not worth remembering. */
const longestSignature = 65_536;

/** The names of plain JSON, and how messages that have them are read. */
interface LearnedShape {
  readonly route: PlainRoute;
  sightings: number;
}

/**
 * Reads one side of a topic whose bytes are JSON text. Schemas of connect-json are compared with the last ones' bytes, so that only the
 * payload is parsed; the shapes of plain JSON are learned, so that the next message of that shape is read without parsing it first.
 */
export class JsonSide {
  /** How the last value was read. */
  route: SideRoute;
  readonly #engine: Engine;
  readonly #scope: SideScope;
  /** How messages without a schema are parsed. */
  readonly #plainParse: ParseOptions;
  #connectRoutes: ConnectRoute[] = [];
  readonly #connectBySchema: BoundedMap<string, ConnectRoute>;
  /** Connect schemas of messages that are not spelled as JsonConverter spells them. */
  readonly #respelledConnect: BoundedMap<string, PlainRoute>;
  #plainRoutes: PlainRoute[] = [];
  readonly #shapes: BoundedMap<string, LearnedShape> = new BoundedMap(rememberedShapes);

  constructor(engine: Engine, scope: SideScope) {
    this.#engine = engine;
    this.#scope = scope;
    const { numbers, int64 } = engine.values;
    const { maxSchemas, maxSchemaChars } = engine.limits;
    // A schema of a megabyte becomes ten of readers: what is remembered is bounded by its text, not by its number alone.
    this.#connectBySchema = new BoundedMap(maxSchemas, maxSchemaChars, (text) => text.length);
    this.#respelledConnect = new BoundedMap(maxSchemas, maxSchemaChars, (text) => text.length);
    const asDoubles = numbers === "double" && int64 === "safe" && scope.hints.size === 0;
    this.#plainParse = asDoubles ? { ...engine.parse, asDoubles } : engine.parse;
    this.route = this.#routeFor("json", null, null).route;
  }

  read(bytes: Buffer, start: number, end: number): unknown {
    for (const route of this.#connectRoutes) {
      if (startsWith(bytes, start, end, route.prefix)) {
        return this.#readPayload(route, bytes, start, start + route.prefix.length, end);
      }
    }
    const routes = this.#plainRoutes;
    for (let i = 0; i < routes.length; i++) {
      const route = routes[i] as PlainRoute;
      const value = route.reader.readQuick(bytes, start, end);
      if (value !== notQuick) {
        this.route = route;
        if (i > 0) {
          routes[i] = routes[0] as PlainRoute;
          routes[0] = route; // shapes come in runs: a reader that misses through all of one would give up
        }
        return value;
      }
    }
    return this.#readUnseen(bytes, start, end);
  }

  #readUnseen(bytes: Buffer, start: number, end: number): unknown {
    const split = splitConnectJson(bytes, start, end);
    if (split !== null) {
      const route = this.#connectRoute(bytes, start, split.schemaEnd, split.payloadStart);
      if (route !== null) {
        return this.#readPayload(route, bytes, start, split.payloadStart, end);
      }
    }
    return this.#readWhole(bytes, start, end);
  }

  #readWhole(bytes: Buffer, start: number, end: number): unknown {
    const { parse } = this.#engine;
    const parsed = parseJson(bytes, start, end, this.#plainParse);
    if (!isConnectMessage(parsed)) {
      return this.#readPlain(parsed);
    }
    // A schema may want the text of numbers.
    return this.#readParsedConnect(parse === this.#plainParse ? parsed : (parseJson(bytes, start, end, parse) as ConnectMessage));
  }

  /** The payload half alone. Where it is no payload, the message may still be JSON: a row with a column more, a name that stands twice. */
  #readPayload(route: ConnectRoute, bytes: Buffer, start: number, payloadStart: number, end: number): unknown {
    try {
      const value = route.reader.read(bytes, payloadStart, end - 1);
      this.route = route;
      return value;
    } catch (error) {
      if (!isDecodeError(error) || error.code !== "trailing-bytes") {
        throw error;
      }
      return this.#readWhole(bytes, start, end);
    }
  }

  /** The route for a schema text, or null where what stands there is no Connect schema. */
  #connectRoute(bytes: Buffer, start: number, schemaEnd: number, payloadStart: number): ConnectRoute | null {
    const schemaStart = start + schemaKeyLength;
    const text = latin1(bytes, schemaStart, schemaEnd);
    let route = this.#connectBySchema.get(text);
    if (route === undefined) {
      const schema = parseJson(bytes, schemaStart, schemaEnd, this.#engine.parse);
      if (!isConnectSchema(schema) || !hasConnectType(schema)) {
        return null; // the whole message decides: it may be a row with columns of these names
      }
      const prefix = Buffer.from(bytes.subarray(start, payloadStart));
      route = { ...this.#connectReader(schema, text), prefix };
      this.#connectBySchema.set(text, route);
    }
    this.#connectRoutes = [route, ...this.#connectRoutes.filter((other) => other !== route)].slice(0, recentConnectRoutes);
    return route;
  }

  #connectReader(schema: unknown, text: string): PlainRoute {
    checkSchemaLength(text.length, this.#engine.limits.maxSchemaChars);
    const type = parseConnectSchema(schema, "the schema", this.#engine.limits.maxDepth);
    const { route, plan } = this.#routeFor("connect-json", type, null);
    return { ...route, reader: new JsonReader("connect-json", type, this.#engine.compileOptions(plan)) };
  }

  /** A message that spells its two halves in another order, or with white space. */
  #readParsedConnect(message: ConnectMessage): unknown {
    if (message.schema === null) {
      const value = this.#readPlain(message.payload);
      this.route = { ...this.route, encoding: "connect-json" };
      return value;
    }
    const text = JSON.stringify(message.schema, (_, value: unknown) => (typeof value === "bigint" ? String(value) : value));
    let route = this.#respelledConnect.get(text);
    if (route === undefined) {
      route = this.#connectReader(message.schema, text);
      this.#respelledConnect.set(text, route);
    }
    this.route = route;
    return route.reader.convert(message.payload);
  }

  #readPlain(parsed: unknown): unknown {
    const names = isJsonObject(parsed) ? Object.keys(parsed) : null;
    const signature = signatureOf(parsed, names);
    if (signature === null) {
      const route = this.#learn(parsed, names);
      this.route = route;
      return route.reader.convert(parsed);
    }
    let shape = this.#shapes.get(signature);
    if (shape === undefined) {
      shape = { route: this.#learn(parsed, names), sightings: 0 };
      this.#shapes.set(signature, shape);
    }
    this.route = shape.route;
    shape.sightings++;
    if (shape.sightings >= sightingsBeforeCompiling && !isHalved(parsed)) {
      this.#tryFirst(shape.route);
    }
    return shape.route.reader.convert(parsed);
  }

  #learn(parsed: unknown, names: readonly string[] | null): PlainRoute {
    const { route, plan } = this.#routeFor("json", null, parsed);
    const type: Type = isJsonObject(parsed) && names !== null ? learnType(parsed, names, plan, this.#scope.hints) : { kind: "any" };
    return { ...route, reader: new JsonReader("json", type, this.#engine.compileOptions(plan)) };
  }

  /** A shape that comes again is worth trying before its text is parsed. */
  #tryFirst(route: PlainRoute): void {
    if (!this.#plainRoutes.includes(route)) {
      this.#plainRoutes = [route, ...this.#plainRoutes].slice(0, recentPlainRoutes);
    }
  }

  #routeFor(encoding: EncodingName, type: Type | null, sample: unknown): { route: SideRoute; plan: ReadPlan } {
    const record = type === null ? null : withoutNull(type);
    const typeName = record?.kind === "record" ? record.name : null;
    const shape = type === null ? shapeOfValue(sample, this.#scope) : shapeOfType(type, this.#scope);
    if (this.#scope.side === "key") {
      return {
        route: { framing: "none", encoding, envelope: "none", schemaId: null, opens: none, shape, typeName, namespaceToCheck: null },
        plan: readEverything,
      };
    }
    const opens = envelopeFor(shape);
    return {
      route: { framing: "none", encoding, envelope: opens.name, schemaId: null, opens, shape, typeName, namespaceToCheck: null },
      plan: opens.planFor(shape),
    };
  }
}

const schemaKeyLength = '{"schema":'.length;

function startsWith(bytes: Buffer, start: number, end: number, prefix: Buffer): boolean {
  const length = prefix.length;
  // The prefix leaves the brace that closes the message to be looked at.
  return end - start > length && bytes[end - 1] === 0x7d && bytes.compare(prefix, 0, length, start, start + length) === 0;
}

function checkSchemaLength(length: number, most: number): void {
  if (length > most) {
    throw new DecodeError(
      "limit-exceeded",
      `expected a Connect schema of at most ${most} characters (limits.maxSchemaChars), found ${length}`,
    );
  }
}

interface ConnectMessage {
  readonly schema: Record<string, unknown> | null;
  readonly payload: unknown;
}

/** Exactly the two fields of JsonConverter, and a schema that is one: a user's own columns of those names are no envelope. */
function isConnectMessage(value: unknown): value is ConnectMessage {
  return isHalved(value) && (value["schema"] === null || isConnectSchema(value["schema"]));
}

/**
 * Whether a row has just the columns schema and payload. It is parsed each time: the next message of these names may well be connect-json.
 */
function isHalved(value: unknown): value is Record<string, unknown> {
  return isJsonObject(value) && Object.hasOwn(value, "schema") && Object.hasOwn(value, "payload") && Object.keys(value).length === 2;
}

/** Whether a value, or an object right inside it, has more names than a table has columns. */
function isWide(value: Record<string, unknown>, names: readonly string[]): boolean {
  return areManyNames(names) || names.some((name) => isJsonObject(value[name]) && areManyNames(Object.keys(value[name])));
}

/** The names of a value and of the objects right inside it: what a learned type is made of. Null where they are too many to be columns. */
function signatureOf(value: unknown, names: readonly string[] | null): string | null {
  if (!isJsonObject(value) || names === null) {
    return typeof value === "string" ? "text" : "";
  }
  if (isWide(value, names)) {
    return null;
  }
  const signature = JSON.stringify(names.map((name) => [name, isJsonObject(value[name]) ? Object.keys(value[name]) : 0]));
  return signature.length > longestSignature ? null : signature;
}
